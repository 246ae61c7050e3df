import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, type JsonObject, newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { appendEvents, createDispatch } from '@hansard/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

const task = 'lab/filters';
const taskDir = 'lab/tasks/filters';

let line: CommandLine;
let events: readonly CapturedEvent[] = [];

const at = (minute: number) => `2026-03-01T10:${String(minute).padStart(2, '0')}:30.000Z`;

/** Two agents, one of which calls a tool that fails, in minutes 0 to 6. */
function makeEvents(): CapturedEvent[] {
  const jill = { agentId: 'agent-jill-1' };
  const call = { toolCallId: 't1', tool: 'Bash', target: 'make routes', metadata: {} };
  const all: readonly [CapturedEvent['type'], JsonObject, { agentId?: string }][] = [
    ['user:message', { text: 'Plan the ROUTES.', source: { kind: 'user' } }, {}],
    ['agent:created', { name: 'jill' }, jill],
    ['agent:text', { text: 'Jill begins.' }, jill],
    ['agent:tool_call', { ...call, input: { command: 'make routes' } }, jill],
    ['agent:tool_result', { ...call, status: 'error', error: 'exit code 2' }, jill],
    ['agent:text', { text: 'It failed.' }, {}],
    ['harness:error', { message: 'Out of tea' }, {}],
  ];
  return all.map(([type, data, links], minute) => {
    return { id: `event-${minute}`, type, timestamp: at(minute), ...links, data };
  });
}

beforeAll(async () => {
  line = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  events = makeEvents();
  const startedAt = at(0);
  await createDispatch(store, taskDir, { dispatchId: 'D1', role: 'analyst', startedAt });
  await appendEvents(store, taskDir, 'D1', events);
  await createDispatch(store, taskDir, { dispatchId: 'D2', role: 'cook', startedAt: at(30) });
  await appendEvents(store, taskDir, 'D2', [
    { ...newEvent('agent:text', { text: 'Soup.' }), timestamp: at(31) },
  ]);
  await store.close();
});
afterAll(() => line[Symbol.dispose]());

/** The positions that each criterion selects. */
const selections: readonly (readonly [args: readonly string[], positions: readonly number[]])[] = [
  [
    ['--agent', 'jill'],
    [1, 2, 3, 4],
  ],
  [
    ['--agent', 'jill-1'],
    [1, 2, 3, 4],
  ],
  [
    ['--agent', 'analyst'],
    [0, 5, 6],
  ],
  [
    ['--type', 'agent:text,harness:*'],
    [2, 5, 6],
  ],
  [
    ['--tool', 'bash'],
    [3, 4],
  ],
  [['--source', 'external,user'], [0]],
  [['--failed'], [4, 6]],
  [
    ['--text', 'routes'],
    [0, 3, 4],
  ],
  [
    ['--text', '/^Jill|tea$/'],
    [2, 6],
  ],
  [
    ['--since', '10:04'],
    [4, 5, 6],
  ],
  [
    ['--until', '2026-03-01T10:01'],
    [0, 1],
  ],
  [['--since', '10:02', '--until', '@10:05', '--agent', 'jill', '--failed'], [4]],
];

describe('a filter', () => {
  it.each(selections)(
    '%j selects the same events in events, tail, replay and timeline',
    async (args, positions) => {
      const ids = positions.map((position) => events[position]?.id);
      for (const command of [
        ['show', `${task}/D1`, '--raw'],
        ['show', `${task}/D1`, '--raw'],
        ['show', `${task}/D1`, '--speed', 'max'],
      ]) {
        const answer = await line.hansard(...command, ...args, '--json');
        expect([command[0], answer.code]).toEqual([command[0], 0]);
        expect((answer.json() as CapturedEvent[]).map(({ id }) => id)).toEqual(ids);
      }
      const { out } = await line.hansard('show', `${task}/D1`, '--raw', ...args);
      expect(
        out
          .trimEnd()
          .split('\n')
          .map((one) => Number(one.slice(0, 4))),
      ).toEqual(positions);
      const timeline = (await line.hansard('show', task, '--raw', ...args, '--json')).json();
      const inFirst = (timeline as { dispatchId: string; position: number }[]).filter(
        ({ dispatchId }) => dispatchId === 'D1',
      );
      expect(inFirst.map(({ position }) => position)).toEqual(positions);
    },
  );

  it('names the sources of messages for a word that is none of them', async () => {
    const { code, err } = await line.hansard('show', `${task}/D1`, '--raw', '--source', 'webhook');
    expect(code).toBe(2);
    expect(err).toContain('The sources are: user, agent, system, external.');
  });

  it('selects whole rows in show: the call that failed is shown with its result', async () => {
    const { out, code } = await line.hansard('show', `${task}/D1`, '--failed', '--text', 'exit code');
    expect(code).toBe(0);
    expect(out).toMatch(/3 {2}10:03:30 {2}.*call/);
    expect(out).toContain('make routes');
    expect(out).not.toContain('Jill begins.');
    expect(out).not.toContain('Out of tea');
  });

  it('finds an agent in each dispatch that has it', async () => {
    const all = (await line.hansard('show', task, '--agent', 'cook', '--json')).json() as JsonObject[];
    expect(all.filter(({ kind }) => kind !== 'dispatch')).toMatchObject([{ dispatchId: 'D2', position: 0 }]);
    const { out } = await line.hansard('show', task, '--raw', '--agent', 'cook');
    expect(out.trimEnd().split('\n').slice(1)).toHaveLength(1);
  });

  it('selects utterances in heard', async () => {
    const texts = async (...args: string[]) =>
      (
        (await line.hansard('heard', `${task}/D1`, ...args, '--json')).json() as {
          text: string;
        }[]
      ).map(({ text }) => text);
    expect(await texts()).toEqual(['Plan the ROUTES.', 'Jill begins.', 'It failed.']);
    expect(await texts('--agent', 'jill')).toEqual(['exit code 2']);
    expect(await texts('--text', '/routes/i')).toEqual(['Plan the ROUTES.']);
    expect(await texts('--since', '10:05')).toEqual(['It failed.']);
  });

  it('takes the last events that pass, and says when none does', async () => {
    const last = await line.hansard('show', `${task}/D1`, '--raw', '-n', '1', '--agent', 'jill', '--json');
    expect((last.json() as CapturedEvent[]).map(({ id }) => id)).toEqual([events[4]?.id]);
    const none = await line.hansard('show', `${task}/D1`, '--raw', '--failed', '--tool', 'Read');
    expect([none.code, none.out]).toEqual([0, '']);
    expect(none.err).toContain('D1 has no event that passes --tool Read --failed.');
  });

  it('follows a dispatch for the events that pass', async () => {
    const stop = new AbortController();
    const args = ['show', `${task}/D1`, '0', '-f', '--raw', '--failed', '--json'];
    let seen = 0;
    const answer = await line.start(args, {
      signal: stop.signal,
      onOutput: (text) => {
        seen += text.split('\n').length - 1;
        if (seen === 2) stop.abort();
      },
    });
    expect((answer.json() as CapturedEvent[]).map(({ id }) => id)).toEqual([events[4]?.id, events[6]?.id]);
  });

  it.each([
    [
      ['--agent', 'nobody'],
      1,
      /There is no agent "nobody"\.\n.*The agents are: analyst, jill \(agent-jill-1\)\./,
    ],
    [['--text', '/(/'], 2, /--text "\/\(\/" can't be searched: .*\.\n.*RE2/],
    [['--since', 'noon'], 2, /--since "noon" is not a time\.\n.*15:04/],
  ])('%j is refused in words', async (args, code, message) => {
    for (const command of [
      ['show', `${task}/D1`, '--raw'],
      ['show', `${task}/D1`, '--raw'],
      ['show', `${task}/D1`],
    ]) {
      const answer = await line.hansard(...command, ...args);
      expect([answer.code, answer.err]).toEqual([code, expect.stringMatching(message)]);
    }
  });
});
