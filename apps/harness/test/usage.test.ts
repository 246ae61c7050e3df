import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { systemClock } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { columnsOf } from '@hansard/views';
import { expect, it } from 'vitest';
import { type CommandLine, commandFromSource, commandLine } from './command-line.ts';

/** Two days, two tasks, two models, a crash, and a tool that fails. */
async function recorded(): Promise<CommandLine> {
  const line = commandLine();
  let time = '';
  const clock = { ...systemClock, now: () => Date.parse(time) };
  await using store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }), { clock });
  const plan = [
    ['a/tasks/one', '2026-03-01', 'opus', 100, 0.5, 'completed'],
    ['a/tasks/two', '2026-03-02', 'haiku', 300, null, 'crashed'],
    ['b/tasks/one', '2026-03-02', 'opus', 50, 0.25, 'completed'],
  ] as const;
  for (const [taskDir, day, model, inputTokens, cost, status] of plan) {
    time = `${day}T09:00:00.000Z`;
    const dispatch = await store.beginDispatch(taskDir, { role: 'worker', model });
    const usage = { inputTokens, outputTokens: 10 };
    await dispatch.append([
      newEvent('agent:tool_call', { toolCallId: 't', tool: 'Bash', metadata: {} }, { messageId: 'm' }),
      newEvent('agent:tool_result', { toolCallId: 't', tool: 'Bash', metadata: {}, status: 'error' }),
      newEvent('agent:inference', { model, usage }, { messageId: 'm' }),
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
    row.modelCalls,
    row.toolCalls,
    row.failedToolCalls,
    row.inputTokens,
    row.costUsd,
  ]);

it('usage sums up by each key, the most used first, and ends with the total', async () => {
  using line = await recorded();
  const total = [null, 3, 3, 3, 3, 450, 0.75];
  expect(await keysBy(line)).toEqual([
    ['haiku', 1, 1, 1, 1, 300, null],
    ['opus', 2, 2, 2, 2, 150, 0.75],
    total,
  ]);
  expect(await keysBy(line, '--by', 'day')).toEqual([
    ['2026-03-01', 1, 1, 1, 1, 100, 0.5],
    ['2026-03-02', 2, 2, 2, 2, 350, 0.25],
    total,
  ]);
  expect((await keysBy(line, '--by', 'project')).map(([key]) => key)).toEqual(['a', 'b', null]);
  expect((await keysBy(line, '--by', 'task')).map(([key]) => key)).toEqual(['a/two', 'a/one', 'b/one', null]);
  expect(await keysBy(line, '--by', 'tool')).toEqual([
    ['Bash', 3, null, 3, 3, null, null],
    [null, 3, null, 3, 3, null, null],
  ]);
  expect(await keysBy(line, '--by', 'agent')).toEqual([
    ['worker', 3, 3, 3, 3, 450, null],
    [null, 3, 3, 3, 3, 450, null],
  ]);
});

it('usage sums up by two keys, weeks, months and blocks', async () => {
  using line = await recorded();
  expect(await keysBy(line, '--by', 'day,model')).toEqual([
    [['2026-03-01', 'opus'], 1, 1, 1, 1, 100, 0.5],
    [['2026-03-02', 'haiku'], 1, 1, 1, 1, 300, null],
    [['2026-03-02', 'opus'], 1, 1, 1, 1, 50, 0.25],
    [null, 3, 3, 3, 3, 450, 0.75],
  ]);
  expect((await keysBy(line, '--by', 'week')).map(([key]) => key)).toEqual([
    '2026-02-23',
    '2026-03-02',
    null,
  ]);
  expect(await keysBy(line, '--by', 'month')).toEqual([
    ['2026-03', 3, 3, 3, 3, 450, 0.75],
    [null, 3, 3, 3, 3, 450, 0.75],
  ]);
  expect((await keysBy(line, '--by', 'block')).map(([key]) => key)).toEqual([
    '2026-03-01T09:00:00.000Z',
    '2026-03-02T09:00:00.000Z',
    null,
  ]);
  const bySession = await keysBy(line, '--by', 'session');
  expect(bySession.map(([key, calls]) => [String(key).replace(/[0-9A-Z]{26}$/, 'ID'), calls])).toEqual([
    ['a/two/ID', 1],
    ['a/one/ID', 1],
    ['b/one/ID', 1],
    ['null', 3],
  ]);
  expect((await line.hansard('usage', '--by', 'session')).out).toMatch(/^session .*\n[0-9A-Z]{8} \S/);
  expect((await keysBy(line, '--by', 'tool,model')).map(([key]) => key)).toEqual([
    ['Bash', 'opus'],
    ['Bash', 'haiku'],
    null,
  ]);
  for (const wrong of ['year', 'day,day', 'day,model,task', ''])
    expect(await line.hansard('usage', '--by', wrong)).toMatchObject({
      code: 2,
      err: expect.stringContaining('Give one key, or two'),
    });
});

it('usage counts a task, and the calls of a time', async () => {
  using line = await recorded();
  expect(await keysBy(line, 'b/one')).toEqual([
    ['opus', 1, 1, 1, 1, 50, 0.25],
    [null, 1, 1, 1, 1, 50, 0.25],
  ]);
  expect((await keysBy(line, '--since', '2026-03-02')).at(-1)).toEqual([null, 2, 2, 2, 2, 350, 0.25]);
  expect((await keysBy(line, '--until', '2026-03-01')).at(-1)).toEqual([null, 1, 1, 1, 1, 100, 0.5]);
  expect((await keysBy(line, '--since', '1d', '--by', 'tool')).map(([, count]) => count)).toEqual([0]);
  expect((await keysBy(line, '--until', '1d', '--by', 'agent')).map(([, count]) => count)).toEqual([3, 3]);
  expect(await line.hansard('usage', '--since', '15:04')).toMatchObject({
    code: 2,
    err: expect.stringContaining('is not a time with a date'),
  });
  const { err } = await line.hansard('usage', '--since', '2026-03-02T09:05', '--until', '2026-03-02T09:20');
  expect(err).toContain('in quarters of an hour, from 2026-03-02 09:00 on, before 2026-03-02 09:15');
});

it('usage fits the terminal, and leaves out the columns of which nothing is known', async () => {
  using line = await recorded();
  for (const by of ['model', 'day,model', 'block', 'task'])
    for (const columns of [60, 80, 140]) {
      const args = ['usage', '--by', by];
      const { out } = await line.start(args, { signal: new AbortController().signal, columns });
      for (const text of out.split('\n')) expect(columnsOf(text)).toBeLessThanOrEqual(columns);
      expect(out).not.toContain('cache read');
      const counts =
        columns === 140 ? /model calls +failed +tool calls +tool errors/ : /calls +failed +tools +errors/;
      expect(out).toMatch(counts);
    }
  const { out, err } = await line.hansard('usage', '--limit', '1');
  expect(out).toMatch(/^all +3 +3 .*\$0\.75/m);
  expect([out.includes('opus'), err]).toEqual([false, expect.stringContaining('--limit 2 prints all')]);
});

/** A session of three calls, at 23:30, an hour later on the next day, and two days later. */
const daysFixture = fileURLToPath(new URL('./fixtures/three-days', import.meta.url));

it('usage counts each call of an imported session on its own day, in the zone of the machine or UTC', () => {
  using line = commandLine();
  cpSync(daysFixture, join(line.cwd, 'sessions'), { recursive: true });
  const run = (zone: string, ...args: string[]) =>
    execFileSync(process.execPath, [...commandFromSource, ...args], {
      cwd: line.cwd,
      env: { PATH: process.env.PATH, HOME: line.cwd, TZ: zone },
      encoding: 'utf8',
      timeout: 240_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  run('UTC', 'import', 'sessions');
  const byDay = (zone: string, ...args: string[]) => {
    const rows = run(zone, 'usage', '--by', 'day', '--json', ...args)
      .trim()
      .split('\n');
    const parsed = rows.map((row) => JSON.parse(row)) as Record<string, unknown>[];
    // The platform can have another spelling of a zone: Katmandu.
    const stated = args.includes('--utc') ? /^UTC$/ : new RegExp(`^${zone.replace('th', 'th?')}$`);
    for (const row of parsed) expect(row.zone).toMatch(stated);
    return Object.fromEntries(parsed.slice(0, -1).map(({ key, inputTokens }) => [key, inputTokens]));
  };
  const inUtc = { '2026-11-20': 100, '2026-11-21': 1_000, '2026-11-23': 10_000 };
  expect(byDay('UTC')).toEqual(inUtc);
  expect(byDay('Asia/Kathmandu', '--utc')).toEqual(inUtc);
  expect(byDay('Asia/Kathmandu')).toEqual({ '2026-11-21': 1_100, '2026-11-23': 10_000 });
  expect(byDay('Pacific/Marquesas')).toEqual({ '2026-11-20': 1_100, '2026-11-22': 10_000 });
  expect(byDay('Asia/Kathmandu', '--until', '2026-11-21')).toEqual({ '2026-11-21': 1_100 });
  expect(byDay('Asia/Kathmandu', '--since', '2026-11-21', '--utc')).toEqual({
    '2026-11-21': 1_000,
    '2026-11-23': 10_000,
  });
});

it('usage --statusline prints one line, keeps it for a minute, and leaves a newer one to another process', async () => {
  using line = await recorded();
  const at = Date.parse('2026-03-02T10:30:00.000Z');
  const env = { HOME: join(line.cwd, 'home') };
  const signal = new AbortController().signal;
  const statusline = async (now: number, ...more: string[]) =>
    (await line.start(['usage', '--statusline', '--utc', ...more], { signal, env, now: () => now })).out;
  const made = await statusline(at);
  expect(made).toBe(
    'today $0.25 370 tokens · block $0.25 370 tokens, 3h 30m left · month $0.75 480 tokens\n',
  );
  const [kept = ''] = globSync(join(line.cwd, 'home/.cache/hansard/statusline-*.json'));
  const content = readFileSync(kept, 'utf8');
  writeFileSync(kept, content.replaceAll('0.25', '0.99'));
  expect(await statusline(at + 59_000)).toBe(made.replaceAll('0.25', '0.99').replace('3h 30m', '3h 30m'));
  writeFileSync(`${kept}.busy`, '');
  expect(await statusline(at + 660_000)).toContain('3h 19m left · month $0.75 480 tokens · 11m old');
  expect(await statusline(at + 660_000, '--refresh')).toContain('today $0.25 370 tokens');
  expect(await statusline(at + 86_400_000)).toBe('today nothing · month $0.75 480 tokens\n');
});

it('usage --statusline begins with the model and the session that Claude Code names on standard input, in the store of its folder', async () => {
  using line = commandLine();
  using elsewhere = commandLine();
  cpSync(daysFixture, join(line.cwd, 'sessions'), { recursive: true });
  await line.hansard('import', 'sessions');
  const [path = ''] = globSync(join(line.cwd, 'sessions/**/*.jsonl'));
  const given = {
    session_id: basename(path, '.jsonl'),
    cwd: '/nowhere',
    workspace: { current_dir: line.cwd },
    model: { id: 'claude-opus-5', display_name: 'Opus 5\u001b[31m' },
    cost: { total_cost_usd: 1.234 },
  };
  const statusline = async (input: string) => {
    const stdin = Readable.from([input.slice(0, 20), input.slice(20)].filter((part) => part !== ''));
    const options = { signal: new AbortController().signal, env: { HOME: join(line.cwd, 'home') }, stdin };
    return (await elsewhere.start(['usage', '--statusline', '--utc'], options)).out;
  };
  const printed = await statusline(JSON.stringify(given));
  expect(printed).toMatch(/^Opus 5[^·]* · session \$1\.23 22\.2K tokens · today nothing · month /);
  expect(printed).not.toContain('\u001b');
  const { cost: _, ...withoutCost } = given;
  expect(await statusline(JSON.stringify({ ...withoutCost, model: null }))).toMatch(
    /^session .*22\.2K tokens · today/,
  );
  expect(await statusline(JSON.stringify({ ...given, session_id: 'another' }))).toMatch(
    / · session \$1\.23 · today/,
  );
  for (const other of ['', 'no JSON', '[]', 'null', '{"cost":7,"model":[],"workspace":null}'])
    expect(await statusline(other), other).toMatch(/^today nothing · month nothing/);
});
