import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { PriceTable } from '@hansard/facts';
import { readPriceFile, standardPrices } from '@hansard/import';
import { randomFrom } from '@hansard/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCcusage } from '../../../../scripts/engines/ccusage.ts';
import { type BothCounts, blocksWithBoth, type CountedUsage, countWithBoth } from './both-counts.ts';

const corpus = process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../../shared/fixtures');
const cli = findCcusage() ?? '';
const isThere = cli !== '' && existsSync(corpus);
const skipped = isThere ? '' : ' (skipped: no ccusage in scripts/engines, or no corpus)';
const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

/** Logs that end in a call without its end: `ccusage` counts it at once, an import once the call is over. */
const open = ['c49', 'c50', 'with-subagents'];

const sources = globSync(
  [
    'claude-transcripts/*.jsonl',
    'claude-transcripts/with-subagents',
    'claude-transcripts/continued',
    'claude-tree/*/p',
    'field-reports/*/p',
  ],
  { cwd: corpus },
).sort();
const isOneOf = (names: readonly string[], path: string) =>
  path.split('/').some((part) => names.includes(part));

type Tokens = Pick<CountedUsage, 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;

const tokensOf = (cells: ReadonlyMap<string, CountedUsage>) =>
  Object.fromEntries(
    [...cells].map(
      ([key, { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }]): [string, Tokens] => [
        key,
        { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens },
      ],
    ),
  );

const centsOf = (cells: ReadonlyMap<string, CountedUsage>) =>
  Object.fromEntries([...cells].map(([key, { usd }]) => [key, Math.round(usd * 100)]));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hansard-ccusage-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A prompt and an answer of a model. */
function answerAt(sessionId: string, number: number, timestamp: string, usage: object): string {
  const uuid = (at: number) => `${sessionId}000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
  const common = { isSidechain: false, cwd: '/house', sessionId, version: '2.1.260', timestamp };
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model: 'claude-opus-4-8' };
  const content = [{ type: 'text', text: 'Yes.' }];
  return [
    {
      ...common,
      type: 'user',
      uuid: uuid(2 * number),
      parentUuid: null,
      message: { role: 'user', content: 'Go.' },
    },
    {
      ...{ ...common, type: 'assistant', uuid: uuid(2 * number + 1), parentUuid: uuid(2 * number) },
      ...{ requestId: `req_${number}`, message: { ...message, content, stop_reason: 'end_turn', usage } },
    },
  ]
    .map((record) => `${JSON.stringify(record)}\n`)
    .join('');
}

let written = 0;

/** Writes answers of a model, each after a prompt, and counts them with both. */
function count(
  calls: readonly { day: string; model: string; usage: object }[],
  prices?: PriceTable,
): Promise<BothCounts> {
  written += 1;
  const path = join(folder, `${written}.jsonl`);
  const records = calls.flatMap(({ day, model, usage }, at) => {
    const common = { isSidechain: false, cwd: '/house', sessionId: `s${written}`, version: '2.1.260' };
    const time = `${day}T${String(Math.floor(at / 60) % 24).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`;
    const uuid = (number: number) =>
      `${String(written).padStart(8, '0')}-0000-4000-8000-${String(number).padStart(12, '0')}`;
    return [
      {
        ...common,
        type: 'user',
        uuid: uuid(2 * at),
        parentUuid: null,
        timestamp: `${time}:01.000Z`,
        message: { role: 'user', content: 'Go.' },
      },
      {
        ...common,
        type: 'assistant',
        uuid: uuid(2 * at + 1),
        parentUuid: uuid(2 * at),
        timestamp: `${time}:02.000Z`,
        requestId: `req_${written}_${at}`,
        message: {
          id: `msg_${written}_${at}`,
          type: 'message',
          role: 'assistant',
          model,
          content: [{ type: 'text', text: 'Yes.' }],
          stop_reason: 'end_turn',
          usage,
        },
      },
    ];
  });
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return countWithBoth(cli, path, prices);
}

const probe = 100_000;
const nothing = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};
const writes = (fiveMinutes: number, hour: number) => ({
  cache_creation_input_tokens: fiveMinutes + hour,
  cache_creation: { ephemeral_5m_input_tokens: fiveMinutes, ephemeral_1h_input_tokens: hour },
});
/** A call that uses one kind of token, by the name of its price in a price file. */
const kinds = {
  input: { input_tokens: probe },
  output: { output_tokens: probe },
  cacheRead: { cache_read_input_tokens: probe },
  cacheWrite: writes(probe, 0),
  cacheWrite1h: writes(0, probe),
} as const;

/** The price table of `ccusage` for these models, found out with a call of each kind on a day of its own. */
async function tableOfCcusage(models: readonly string[]): Promise<PriceTable> {
  const names = [...Object.keys(kinds), 'fast'] as (keyof typeof kinds | 'fast')[];
  const dayOf = (at: number) => `2026-08-${String(at + 1).padStart(2, '0')}`;
  const calls = models.flatMap((model) =>
    names.map((name, at) => ({
      day: dayOf(at),
      model,
      usage: { ...nothing, ...(name === 'fast' ? { ...kinds.input, speed: 'fast' } : kinds[name]) },
    })),
  );
  const { theirs } = await count(calls);
  const usdOf = (name: (typeof names)[number], model: string) =>
    theirs.get(`${dayOf(names.indexOf(name))} ${model}${name === 'fast' ? '-fast' : ''}`)?.usd ?? 0;
  const entries = models.map((model) => {
    const prices = Object.keys(kinds).map((kind) => [
      kind,
      usdOf(kind as keyof typeof kinds, model) * (1_000_000 / probe),
    ]);
    const input = usdOf('input', model);
    return [
      model,
      { ...Object.fromEntries(prices), speeds: input === 0 ? {} : { fast: usdOf('fast', model) / input } },
    ];
  });
  const path = join(folder, 'prices.json');
  const file = {
    name: 'ccusage',
    version: '20.0.24',
    date: '2026-11-01',
    models: Object.fromEntries(entries),
  };
  writeFileSync(path, JSON.stringify(file));
  return readPriceFile(path);
}

describe.skipIf(!isThere)(`usage as ccusage counts it${skipped} (HANSARD_SEED=${seed})`, () => {
  const compared = sources.filter((path) => !isOneOf(open, path));

  it('has transcripts to compare', () => expect(compared.length).toBeGreaterThan(30));

  it('has equal tokens in every cell of day and model, and equal cents with one price table', async () => {
    const modelsOf = new Map<string, string[]>();
    for (const path of compared) {
      const { ours, theirs } = await countWithBoth(cli, join(corpus, path));
      expect(tokensOf(ours), path).toEqual(tokensOf(theirs));
      modelsOf.set(path, [...new Set([...ours.values()].map(({ model }) => model.replace(/-fast$/, '')))]);
    }
    const table = await tableOfCcusage([...new Set([...modelsOf.values()].flat())]);
    for (const path of compared.filter((one) => modelsOf.get(one)?.length !== 0)) {
      const { ours, theirs } = await countWithBoth(cli, join(corpus, path), table);
      expect(centsOf(ours), path).toEqual(centsOf(theirs));
    }
  }, 300_000);

  it('has equal cents with its own price table on the same transcripts', async () => {
    for (const path of compared) {
      const { ours, theirs } = await countWithBoth(cli, join(corpus, path), standardPrices);
      expect(centsOf(ours), path).toEqual(centsOf(theirs));
    }
  }, 300_000);

  it('never counts more than ccusage where the last call is open', async () => {
    for (const path of sources.filter((one) => isOneOf(open, one))) {
      const { ours, theirs } = await countWithBoth(cli, join(corpus, path));
      const all = (cells: ReadonlyMap<string, CountedUsage>) =>
        [...cells.values()].reduce(
          (sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens,
          0,
        );
      expect(all(ours), relative(corpus, path)).toBeLessThanOrEqual(all(theirs));
    }
  });

  it('has equal tokens in each five-hour block, in generated sessions and in the corpus', async () => {
    const random = randomFrom(seed);
    const config = join(folder, 'blocks/config');
    mkdirSync(join(config, 'projects/house'), { recursive: true });
    let at = Date.UTC(2026, 7, 1, 3, 59);
    const answers = Array.from({ length: 300 }, (_, number) => {
      // Often some minutes, at times just around five hours, and at times more than a day.
      const hours = random() < 0.1 ? 4.9 + random() * 0.2 : random() < 0.05 ? 30 * random() : random() * 0.4;
      at += Math.floor(hours * 3_600_000);
      const usage = { ...nothing, input_tokens: number + 1, output_tokens: 7, cache_read_input_tokens: 11 };
      return answerAt(`s${number % 7}`, number, new Date(at).toISOString(), usage);
    });
    for (let session = 0; session < 7; session += 1)
      writeFileSync(
        join(config, `projects/house/s${session}.jsonl`),
        answers.filter((_, number) => number % 7 === session).join(''),
      );
    const generated = await blocksWithBoth(cli, config);
    expect(Object.keys(generated.theirs).length).toBeGreaterThan(20);
    expect(generated.ours, `HANSARD_SEED=${seed}`).toEqual(generated.theirs);
    rmSync(join(config, 'projects'), { recursive: true });
    for (const path of compared.filter(
      (one) => one.startsWith('claude-transcripts/') && one.endsWith('.jsonl'),
    ))
      cpSync(join(corpus, path), join(config, 'projects', path));
    const recorded = await blocksWithBoth(cli, config);
    expect(recorded.ours).toEqual(recorded.theirs);
  });

  it('has equal tokens and cents in generated sessions', async () => {
    const random = randomFrom(seed);
    const below = (most: number) => Math.floor(random() * most);
    const models = ['claude-opus-4-8', 'claude-sonnet-4-5-20250929', 'claude-haiku-4-5-20251001'];
    const table = await tableOfCcusage(models);
    for (const prices of [table, standardPrices]) {
      const calls = Array.from({ length: 120 }, () => {
        const model = models[below(3)] ?? '';
        const usage = {
          input_tokens: below(30_000),
          output_tokens: below(9_000),
          cache_read_input_tokens: below(60_000),
          ...writes(below(20_000), below(20_000)),
          ...(model === 'claude-opus-4-8' && random() < 0.3 ? { speed: 'fast' } : {}),
        };
        return { day: `2026-08-${String(1 + below(5)).padStart(2, '0')}`, model, usage };
      });
      const { ours, theirs } = await count(calls, prices);
      expect(tokensOf(ours)).toEqual(tokensOf(theirs));
      expect(centsOf(ours)).toEqual(centsOf(theirs));
    }
  });

  it.each([
    ['web searches, which it does not price', { server_tool_use: { web_search_requests: 300 } }, 350],
    ['a batch, which it prices in full', { service_tier: 'batch' }, 25],
    ['inference in the US, which it prices as usual', { inference_geo: 'us' }, 55],
  ])('differs with its own price table by %s', async (_, terms, cents) => {
    const usage = { ...nothing, input_tokens: 100_000, ...terms };
    const { ours, theirs } = await count(
      [{ day: '2026-08-01', model: 'claude-opus-4-8', usage }],
      standardPrices,
    );
    expect(tokensOf(ours)).toEqual(tokensOf(theirs));
    expect(Object.values(centsOf(ours))).toEqual([cents]);
    expect(Object.values(centsOf(theirs))).toEqual([50]);
  });
});
