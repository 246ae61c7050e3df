import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { appendEvents, createDispatch, updateDispatch } from '@hansard/testing';
import { columnsOf } from '@hansard/views';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

const esc = String.fromCharCode(27);
const task = 'lab/night';
const { signal } = new AbortController();
let cli: CommandLine;
let dispatchId: string;

beforeAll(async () => {
  cli = commandLine();
  await using store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
  const dispatch = await createDispatch(store, 'lab/tasks/night', { role: 'dev', fidelity: 'full' });
  dispatchId = dispatch.dispatchId;
  const call = { toolCallId: 't1', tool: 'Edit', target: 'a.ts', metadata: {} };
  await appendEvents(store, 'lab/tasks/night', dispatchId, [
    newEvent('agent:tool_call', {
      ...call,
      input: { file_path: 'a.ts', old_string: 'at 15', new_string: 'at 3' },
    }),
    newEvent('agent:tool_result', { ...call, status: 'completed', output: 'line\n'.repeat(30) }),
    newEvent('session:status', { status: 'requesting' }),
    newEvent('agent:text', { text: 'Nights are cheaper. '.repeat(20) }),
    newEvent('session:complete', { status: 'completed', result: 'Moved.' }),
  ]);
  await updateDispatch(store, 'lab/tasks/night', dispatchId, { status: 'completed' });
});

afterAll(() => cli?.[Symbol.dispose]());

describe('hansard show', () => {
  it('prints each call with its input and result, folds noise, and says how to see all', async () => {
    const { out, err, code } = await cli.hansard('show', task);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^dev\n {2}session {3}/);
    expect(out).toMatch(/ 0 {2}[\d:]+ {2}call {2}Edit a\.ts\n +- at 15\n +\+ at 3\n +→ line\n/);
    expect(out).toContain('… 10 more lines; --full shows all');
    expect(out).toContain('▸ 1 harness record: status');
    expect(out).not.toContain(esc);
    const { out: full } = await cli.hansard('show', `${task}/${dispatchId}`, '--full');
    expect(full.match(/^ +(?:→ )?line$/gm)).toHaveLength(30);
    expect(full).not.toContain('more lines');
  });

  it.each([40, 80, 140])('fits a terminal of %d columns', async (columns) => {
    const { out } = await cli.start(['show', task], { signal, columns, env: { NO_COLOR: '1' } });
    const rows = out.slice(out.indexOf('\n\n'));
    for (const line of rows.split('\n')) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
    expect(rows.match(/cheaper/g)).toHaveLength(20);
  });

  it('has colours on a terminal, and neither with NO_COLOR nor on a dumb one', async () => {
    const onTerminal = async (env: Record<string, string>) =>
      (await cli.start(['show', task], { signal, columns: 80, env })).out;
    expect(await onTerminal({})).toContain(`${esc}[31m- at 15${esc}[39m`);
    expect(await onTerminal({ NO_COLOR: '1' })).not.toContain(esc);
    expect(await onTerminal({ TERM: 'dumb' })).not.toContain(esc);
  });

  it('gives programs the dispatch and its rows, whole', async () => {
    const { json } = await cli.hansard('show', task, '--json');
    const [head, ...rows] = json();
    expect(head).toMatchObject({
      kind: 'dispatch',
      dispatchId,
      envelope: { role: 'dev', status: 'completed' },
    });
    expect(rows).toMatchObject([
      {
        dispatchId,
        position: 0,
        kind: 'call',
        events: [0, 1],
        status: 'completed',
        content: [
          {
            kind: 'diff',
            lines: [
              { kind: 'removed', text: 'at 15' },
              { kind: 'added', text: 'at 3' },
            ],
          },
        ],
        call: { tool: 'Edit', outcome: [{ kind: 'text', text: 'line\n'.repeat(30) }] },
      },
      { position: 2, kind: 'noise', folded: [{ position: 2, type: 'session:status' }] },
      { position: 3, kind: 'said' },
      { position: 4, kind: 'event', word: 'complete' },
    ]);
  });
});
