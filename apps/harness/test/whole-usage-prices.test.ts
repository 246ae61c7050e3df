import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent } from '@hansard/events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';
import { lines, put, uuid } from './import-files.ts';

const reports = join(import.meta.dirname, 'fixtures/field-reports');

let line: CommandLine;
beforeEach(() => {
  line = commandLine();
});
afterEach(() => line[Symbol.dispose]());

const run = async (...args: string[]) => {
  const answer = await line.hansard(...args);
  expect(answer.code, answer.err).toBe(0);
  return answer;
};

const imported = (report: string) => {
  cpSync(join(reports, report, 'p'), join(line.cwd, 'p'), { recursive: true });
  return run('import', 'p');
};

describe('what the command says of the cost of an imported session', () => {
  it('prices one-hour cache writes at twice the input price (c03b)', async () => {
    await imported('c03b');
    const usage = (await run('usage', '--json')).json() as Record<string, unknown>[];
    expect(usage.map(({ estimatedUsd }) => estimatedUsd)).toEqual([0.6, 0.6]);
    expect(usage[0]).toMatchObject({ cacheWriteTokens: 100_000, cacheWrite1hTokens: 100_000, unpriced: [] });
    expect((await run('show', 'srv-shop/c0310000-1111-4111-8111-111111111111')).out).toContain(
      '100K cache written (100K for 1h)',
    );
  });

  it('prices fast mode, and models as Bedrock, Vertex and OpenRouter name them (c19)', async () => {
    await imported('c19');
    const listed = (await run('ls', '--json')).json() as { title: string; estimatedUsd: number }[];
    const found = listed.map(
      ({ title, estimatedUsd }) => [title.replace(/ \{.*/, ''), estimatedUsd] as const,
    );
    expect(Object.fromEntries(found)).toEqual({
      'p0 claude-opus-4-6': 4.5,
      'p1 claude-opus-4-6': 0.75,
      // A regional endpoint of Bedrock costs a tenth more.
      'p5 us.anthropic.claude-sonnet-4-5-20250929-v1:0': expect.closeTo(0.495, 9),
      'p6 anthropic/claude-sonnet-4.5': expect.closeTo(0.45, 9),
      'p7 claude-sonnet-4-5@20250929': expect.closeTo(0.45, 9),
      'p8 claude-opus-5[1m]': 0.75,
      'p9 claude-opus-5': 0.75,
      'p10 claude-fable-5': 1.5,
      'p11 claude-opus-4-8': 0.75,
      'p12 global.anthropic.claude-opus-4-8-v1': 0.75,
    });
    const keys = ((await run('usage', '--json')).json() as { key: string }[]).map(({ key }) => key);
    expect(keys.filter((key) => key?.startsWith('claude-opus-4-6'))).toEqual([
      'claude-opus-4-6 (fast)',
      'claude-opus-4-6',
    ]);
  });
});

const answer = (number: number, model: string, usage: object) => ({
  type: 'assistant',
  message: {
    id: `msg_${number}`,
    role: 'assistant',
    model,
    stop_reason: 'end_turn',
    content: [{ type: 'text', text: `Answer ${number}` }],
    usage: { input_tokens: 200_000, output_tokens: 0, ...usage },
  },
  uuid: uuid(number),
  parentUuid: number === 1 ? null : uuid(number - 1),
  isSidechain: false,
  cwd: '/home/ann/house',
  sessionId: 'session-1',
  timestamp: `2026-11-01T00:00:0${number}.000Z`,
});

describe('a part of a usage without a price', () => {
  const session = lines(
    answer(1, 'claude-haiku-4-5', {}),
    answer(2, 'claude-haiku-4-5', { speed: 'fast', server_tool_use: { web_search_requests: 1 } }),
    answer(3, 'claude-haiku-4-5', { service_tier: 'priority' }),
  );
  const missing = ['fast mode of claude-haiku-4-5', 'priority tier of claude-haiku-4-5'];

  it('is named with its model, and the sum is a lower bound in every listing', async () => {
    await run('import', put(line, 's.jsonl', session), '--task', 'lab/log');
    for (const args of [
      ['ls'],
      ['ls', 'lab/log'],
      ['tree', 'lab/log'],
      ['show', 'lab/log'],
      ['export', 'lab/log', '--as', 'markdown'],
    ]) {
      const { out } = await run(...args);
      expect(out, args.join(' ')).toContain('\u2248$0.41+');
      for (const part of missing) expect(out, args.join(' ')).toContain(part);
    }
    const [listed] = (await run('ls', '--json')).json();
    expect(listed).toMatchObject({ estimatedUsd: expect.closeTo(0.41, 9), unpriced: missing });
  });

  it('is in the rows and the total of usage, in words and in JSON', async () => {
    await run('import', put(line, 's.jsonl', session), '--task', 'lab/log');
    const rows = (await run('usage', '--json')).json() as Record<string, unknown>[];
    expect(rows.map(({ key, estimatedUsd, unpriced }) => [key, estimatedUsd, unpriced])).toEqual([
      ['claude-haiku-4-5 (fast)', expect.closeTo(0.21, 9), [missing[0]]],
      ['claude-haiku-4-5', 0.2, []],
      ['claude-haiku-4-5 (priority)', 0, [missing[1]]],
      [null, expect.closeTo(0.41, 9), missing],
    ]);
    const { out, err } = await run('usage');
    expect(out).toMatch(/\(fast\).*\$0\.21\+/);
    expect(out).toMatch(/\nall .*\$0\.41\+/);
    expect(out + err).toContain(`no price for ${missing.join(', ')}.`);
  });
});

/** What the event of the call keeps of the usage beside its typed fields. */
async function keptUsage(): Promise<unknown> {
  const events = (await run('show', 'lab/log/latest', '--raw', '--json')).json() as CapturedEvent[];
  const call = events.find(({ type }) => type === 'agent:inference');
  return (call?.data.details as { usage?: unknown } | undefined)?.usage;
}

describe('a usage with hostile values', () => {
  it.each([
    [
      'a negative split',
      {
        cache_creation_input_tokens: 10,
        cache_creation: { ephemeral_5m_input_tokens: -5, ephemeral_1h_input_tokens: 10 },
      },
    ],
    [
      'a split above the sum',
      {
        cache_creation_input_tokens: 10,
        cache_creation: { ephemeral_5m_input_tokens: 9, ephemeral_1h_input_tokens: 9 },
      },
    ],
    ['negative searches', { server_tool_use: { web_search_requests: -1e6 } }],
    ['negative cache reads', { cache_read_input_tokens: -1 }],
    ['an absurd number', { cache_read_input_tokens: 1e300 }],
    ['half a token', { output_tokens_details: { thinking_tokens: 0.5 } }],
  ])('gives a diagnostic, and a sum that is not negative: %s', async (_, usage) => {
    const log = lines(answer(1, 'claude-haiku-4-5', usage));
    const { out, err } = await run('import', put(line, 's.jsonl', log), '--task', 'lab/log');
    expect(out + err).toContain('usage_unreadable 1');
    const [row] = (await run('usage', '--json')).json() as Record<string, number>[];
    expect(row?.modelCalls).toBe(1);
    for (const [name, figure] of Object.entries(row ?? {}))
      if (typeof figure === 'number') expect(figure, name).toBeGreaterThanOrEqual(0);
    // What the event has no field for stays with it.
    const key = Object.keys(usage).at(-1) ?? '';
    expect(await keptUsage()).toEqual({ [key]: (usage as Record<string, unknown>)[key] });
  });

  it('keeps keys that nobody knows, and no diagnostic for them', async () => {
    const log = lines(
      answer(1, 'claude-haiku-4-5', { poems: 3, cache_creation: { ephemeral_week_input_tokens: 4 } }),
    );
    const { out, err } = await run('import', put(line, 's.jsonl', log), '--task', 'lab/log');
    expect(out + err).not.toContain('usage_unreadable');
    expect(await keptUsage()).toEqual({ poems: 3, cache_creation: { ephemeral_week_input_tokens: 4 } });
  });
});
