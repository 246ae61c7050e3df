import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { columnsOf } from '@hansard/views';
import { expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

/** Two days, two tasks, two models, a crash, and a tool that fails. */
async function recorded(): Promise<CommandLine> {
  const line = commandLine();
  await using store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  const plan = [
    ['a/tasks/one', '2026-03-01', 'opus', 100, 0.5, 'completed'],
    ['a/tasks/two', '2026-03-02', 'haiku', 300, null, 'crashed'],
    ['b/tasks/one', '2026-03-02', 'opus', 50, 0.25, 'completed'],
  ] as const;
  for (const [taskDir, day, model, inputTokens, cost, status] of plan) {
    const startedAt = `${day}T09:00:00.000Z`;
    const dispatch = await store.beginDispatch(taskDir, { role: 'worker', model, startedAt });
    const usage = { inputTokens, outputTokens: 10 };
    await dispatch.append([
      newEvent('agent:tool_call', { toolCallId: 't', tool: 'Bash', metadata: {} }),
      newEvent('agent:tool_result', { toolCallId: 't', tool: 'Bash', metadata: {}, status: 'error' }),
      newEvent('agent:inference', { model, usage }),
    ]);
    const models = [{ model, calls: 1, ...usage }];
    await dispatch.end({ status, cost, usage, models });
  }
  return line;
}

const keysBy = async (line: CommandLine, ...args: string[]) =>
  ((await line.hansard('usage', '--json', ...args)).json() as Record<string, unknown>[]).map((row) => [
    row.key,
    row.dispatches,
    row.calls,
    row.failures,
    row.inputTokens,
    row.costUsd,
  ]);

it('usage sums up by each key, the most used first, and ends with the total', async () => {
  using line = await recorded();
  const total = (failures: number | null) => [null, 3, 3, failures, 450, 0.75];
  expect(await keysBy(line)).toEqual([
    ['haiku', 1, 1, null, 300, null],
    ['opus', 2, 2, null, 150, 0.75],
    total(null),
  ]);
  expect(await keysBy(line, '--by', 'day')).toEqual([
    ['2026-03-01', 1, 1, 0, 100, 0.5],
    ['2026-03-02', 2, 2, 1, 350, 0.25],
    total(1),
  ]);
  expect((await keysBy(line, '--by', 'project')).map(([key]) => key)).toEqual(['a', 'b', null]);
  expect((await keysBy(line, '--by', 'task')).map(([key]) => key)).toEqual(['a/two', 'a/one', 'b/one', null]);
  expect(await keysBy(line, '--by', 'tool')).toEqual([
    ['Bash', 3, 3, 3, null, null],
    [null, 3, 3, 3, null, null],
  ]);
  expect(await keysBy(line, '--by', 'agent')).toEqual([
    ['worker', 3, 3, null, 450, null],
    [null, 3, 3, null, 450, null],
  ]);
});

it('usage counts a task, and the dispatches of a time', async () => {
  using line = await recorded();
  expect(await keysBy(line, 'b/one')).toEqual([
    ['opus', 1, 1, null, 50, 0.25],
    [null, 1, 1, null, 50, 0.25],
  ]);
  expect((await keysBy(line, '--since', '2026-03-02')).at(-1)).toEqual([null, 2, 2, null, 350, 0.25]);
  expect((await keysBy(line, '--until', '2026-03-01')).at(-1)).toEqual([null, 1, 1, null, 100, 0.5]);
  expect(await line.hansard('usage', '--since', '15:04')).toMatchObject({
    code: 2,
    err: expect.stringContaining('is not a time with a date'),
  });
});

it('usage fits the terminal, and leaves out the columns of which nothing is known', async () => {
  using line = await recorded();
  for (const columns of [60, 80, 140]) {
    const { out } = await line.start(['usage'], { signal: new AbortController().signal, columns });
    for (const text of out.split('\n')) expect(columnsOf(text)).toBeLessThanOrEqual(columns);
    expect(out).not.toContain('cache read');
    expect(out).toMatch(/^haiku .* 300 /m);
  }
  const { out, err } = await line.hansard('usage', '--limit', '1');
  expect(out).toMatch(/^all +3 +3 .*\$0\.75/m);
  expect([out.includes('opus'), err]).toEqual([false, expect.stringContaining('--limit 2 prints all')]);
});
