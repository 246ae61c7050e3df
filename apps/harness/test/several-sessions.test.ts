import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { appendEvents, createDispatch, updateDispatch } from '@hansard/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

const taskDir = 'lab/tasks/talk';
const day = '2026-03-01T09:00:';

function timed(second: number, event: NewEvent): NewEvent {
  return { ...event, timestamp: `${day}${String(second).padStart(2, '0')}.000Z` };
}

function message(second: number, agentId: string, text: string, kind: 'user' | 'external'): NewEvent {
  return timed(second, newEvent('user:message', { text, source: { kind } }, { agentId }));
}

/** Ann and Ben in the morning, another Ann in the evening, at the same time. */
const logs: Readonly<Record<string, readonly NewEvent[]>> = {
  'D-MORNING': [
    timed(1, newEvent('agent:created', { name: 'Ann' }, { agentId: 'agent_001' })),
    timed(1, newEvent('agent:created', { name: 'Ben' }, { agentId: 'agent_002' })),
    message(2, 'agent_001', 'Tell Ben.', 'user'),
    timed(5, newEvent('agent:text', { text: 'Morning, Ben.' }, { agentId: 'agent_001', id: 'said' })),
    timed(6, {
      ...newEvent('user:message', { text: 'Morning, Ben.', source: { kind: 'agent', agentId: 'agent_001' } }),
      agentId: 'agent_002',
      substance: 'said',
    }),
  ],
  'D-EVENING': [
    timed(1, newEvent('agent:created', { name: 'Ann' }, { agentId: 'agent_001' })),
    message(3, 'agent_001', 'The bell rings.', 'external'),
    timed(4, newEvent('agent:text', { text: 'Evening already?' }, { agentId: 'agent_001' })),
  ],
};

let line: CommandLine;
beforeEach(async () => {
  line = commandLine();
  await using store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  for (const [dispatchId, events] of Object.entries(logs)) {
    const role = dispatchId === 'D-MORNING' ? 'early' : 'late';
    await createDispatch(store, taskDir, { role, dispatchId, startedAt: `${day}00.000Z`, fidelity: 'full' });
    await appendEvents(store, taskDir, dispatchId, events);
    await updateDispatch(store, taskDir, dispatchId, { status: 'completed' });
  }
});
afterEach(() => line[Symbol.dispose]());

interface Row {
  readonly dispatchId: string;
  readonly text: string;
}

const said = async (...args: string[]) =>
  ((await line.hansard(...args, '--json')).json() as Row[]).map(
    ({ dispatchId, text }) => `${dispatchId} ${text}`,
  );

describe('of a task with two sessions', () => {
  it('dialog prints what was said in both, by time, below the names of the sessions', async () => {
    expect(await said('dialog', 'lab/talk')).toEqual([
      'D-MORNING Tell Ben.',
      'D-EVENING The bell rings.',
      'D-EVENING Evening already?',
      'D-MORNING Morning, Ben.',
    ]);
    const { out, code, err } = await line.hansard('dialog', 'lab/talk');
    expect([code, err]).toEqual([0, '']);
    expect(out.match(/^\S+ \S+$/gm)).toEqual([
      expect.stringMatching(/^early .*MORNING$/),
      expect.stringMatching(/^late .*EVENING$/),
      expect.stringMatching(/^early .*MORNING$/),
    ]);
  });

  it('perspective prints several agents, and does not join two of one name', async () => {
    expect(await said('perspective', 'lab/talk', '--agent', 'ann', '--agent', 'ben')).toEqual([
      'D-MORNING Tell Ben.',
      'D-EVENING The bell rings.',
      'D-EVENING Evening already?',
      'D-MORNING Morning, Ben.',
      'D-MORNING Morning, Ben.',
    ]);
    const { out } = await line.hansard('perspective', 'lab/talk', '--agent', 'ann');
    expect(out.match(/^Ann, .*$/gm)?.map((head) => head.split(' ')[1])).toEqual(['early', 'late', 'early']);
    const { out: one } = await line.hansard(
      'perspective',
      'lab/talk/MORNING',
      '--agent',
      'ann',
      '--agent',
      'ben',
    );
    expect(one.match(/^(?:Ann|Ben), early/gm)).toEqual(['Ann, early', 'Ben, early']);
  });

  it('heard prints a table for each, or what the agents of a name knew', async () => {
    const { out } = await line.hansard('heard', 'lab/talk');
    expect(out.match(/^at .*$/gm)).toHaveLength(2);
    expect(out).toMatch(/late \S*EVENING\nat +said by +text +Ann\n/);
    expect(await said('heard', 'lab/talk', '--agent', 'ann')).toEqual([
      'D-MORNING Tell Ben.',
      'D-EVENING The bell rings.',
    ]);
    expect((await line.hansard('heard', 'lab/talk', '2')).err).toContain('lab/talk has 2 sessions');
  });

  it('filters select sessions by role, and sayings and deliveries by source', async () => {
    expect(await said('dialog', 'lab/talk', '--source', 'external')).toEqual(['D-EVENING The bell rings.']);
    expect(await said('dialog', 'lab/talk', '--source', 'agent')).toEqual(['D-MORNING Morning, Ben.']);
    expect(await said('perspective', 'lab/talk', '--agent', 'ann', '--source', 'user')).toEqual([
      'D-MORNING Tell Ben.',
    ]);
    expect((await line.hansard('dialog', 'lab/talk', '--role', 'late')).out).toMatch(
      /^ +1 {2}external: The bell/,
    );
    const { code, err } = await line.hansard('dialog', 'lab/talk', '--role', 'cook');
    expect([code, err]).toEqual([1, expect.stringContaining('Its roles: late, early.')]);
  });

  it('an agent that none has is an error with the agents of both, and one of the other is left out', async () => {
    const { code, err } = await line.hansard('perspective', 'lab/talk', '--agent', 'zoe');
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/Ann \(agent_001\) in late .*Ann \(agent_001\) in early/),
    ]);
    expect(await said('dialog', 'lab/talk', '--agent', 'ben')).toEqual(['D-MORNING Morning, Ben.']);
  });

  it.each([
    ['dialog', []],
    ['perspective', ['--agent', 'ann']],
    ['heard', []],
  ])('%s prints the whole session beside a damaged one, and exits with 3', async (command, options) => {
    writeFileSync(join(line.cwd, '.projects', taskDir, 'dispatches/D-MORNING.json'), '{"no": "log"}\n');
    const { code, out, err } = await line.hansard(command, 'lab/talk', ...options);
    expect([code, out]).toEqual([3, expect.stringContaining('The bell rings.')]);
    expect(err).toContain(`1 of 2 sessions of lab/talk can't be read`);
  });

  it('a narrative says which session lacks contents', async () => {
    await using store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
    await createDispatch(store, taskDir, { role: 'third', dispatchId: 'D-THIRD', fidelity: 'narrative' });
    const { code, err } = await line.hansard('dialog', 'lab/talk');
    expect([code, err]).toEqual([
      0,
      expect.stringMatching(/^hansard: third \S*THIRD: recorded as a narrative/m),
    ]);
  });
});
