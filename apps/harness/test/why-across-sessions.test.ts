import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

let line: CommandLine;
beforeAll(async () => {
  line = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  const from = (dispatchId: string) => ({ kind: 'agent', dispatchId }) as const;
  for (const [dispatchId, role, events] of [
    [
      'LEAD',
      'lead',
      [
        newEvent('user:message', { text: 'Find the leak.', source: { kind: 'user' } }, { id: 'l0' }),
        newEvent('user:message', { text: 'It drips.', source: from('WORK') }, { id: 'l1', cause: 'w1' }),
        newEvent('user:message', { text: 'Me too.', source: from('GONE') }, { id: 'l2', cause: 'g7' }),
      ],
    ],
    [
      'WORK',
      'plumber',
      [
        newEvent('user:message', { text: 'Be a plumber.', source: from('LEAD') }, { id: 'w0' }),
        newEvent(
          'agent:message_sent',
          { text: 'It drips.', to: { dispatchId: 'LEAD' } },
          { id: 'w1', cause: 'w0' },
        ),
      ],
    ],
  ] as const) {
    const dispatch = await store.beginDispatch('lab/tasks/leak', { role, dispatchId, fidelity: 'full' });
    await dispatch.append([...events]);
    await dispatch.end({ status: 'completed' });
  }
  await store.close();
});
afterAll(() => line[Symbol.dispose]());

describe('hansard why', () => {
  it('continues in the session that sent a message, and says which event it came from', async () => {
    const { code, out, err } = await line.hansard('why', 'LEAD', 'l1');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('← cause w1 (in the session WORK)');
    const [, there = ''] = out.split('\nIn plumber lab/leak/WORK:\n');
    expect(there).toMatch(/0 .*Be a plumber\.\n +← from the session LEAD, whose event is not recorded\n/);
    expect(there).toMatch(/1 .*It drips\./);
    const rows = (await line.hansard('why', 'LEAD', 'l1', '--json')).json() as { id: string }[];
    expect(rows).toMatchObject([
      { dispatchId: 'LEAD', id: 'l1', distance: 0 },
      { dispatchId: 'WORK', id: 'w0', distance: 2 },
      { dispatchId: 'WORK', id: 'w1', distance: 1 },
    ]);
    expect((await line.hansard('why', 'LEAD', 'l1', '--depth', '1')).out).not.toContain('Be a plumber');
  });

  it('says that the store does not have the session that sent a message', async () => {
    const { code, out, err } = await line.hansard('why', 'LEAD', 'l2');
    expect(code).toBe(0);
    expect(out).toContain('← cause g7 (in the session GONE)');
    expect(err).toBe(
      'hansard: The store does not have the session GONE, so the causes of its event g7 are not known.\n',
    );
  });
});
