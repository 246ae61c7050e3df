import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openClaudeTranscript } from '@hansard/claude';
import { openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope, Usage } from '@hansard/events';
import { recordLog } from '@hansard/import';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';
import { lines, put, uuid } from './import-files.ts';
import { envelopesOf, eventsOf } from './read-back.ts';

const corpus = process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../shared/fixtures');
const growing = ['growing-1', 'growing-2'].map((name) => join(corpus, 'claude-transcripts', `${name}.jsonl`));

const record = (number: number, type: string, message: object) => ({
  type,
  message,
  uuid: uuid(number),
  parentUuid: number === 1 ? null : uuid(number - 1),
  isSidechain: false,
  cwd: '/home/ann/house',
  sessionId: 'session-1',
  timestamp: new Date(Date.parse('2026-03-01T09:30:00.000Z') + number * 1_000).toISOString(),
});

const question = (number: number) => record(number, 'user', { role: 'user', content: `Question ${number}` });

const answer = (number: number) =>
  record(number, 'assistant', {
    id: `msg_${number}`,
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: `Answer ${number}` }],
    usage: { input_tokens: 100 * number, output_tokens: number },
  });

/** Questions and answers in turn, ending with a question or an answer. */
const transcript = (records: number) =>
  lines(...Array.from({ length: records }, (_, at) => (at % 2 === 0 ? question(at + 1) : answer(at + 1))));

const rowsOf = (stream: string) =>
  readFileSync(demoStream(stream), 'utf8')
    .split('\n')
    .filter((row) => row !== '');

const upTo = (rows: readonly string[], count: number) =>
  rows
    .slice(0, count)
    .map((row) => `${row}\n`)
    .join('');

function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, at) => ordersOf(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

const figures = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;

function expectNotLess(after: DispatchEnvelope, before: DispatchEnvelope): void {
  for (const figure of figures)
    expect(after.usage?.[figure] ?? 0, figure).toBeGreaterThanOrEqual(before.usage?.[figure] ?? 0);
  expect(after.cost ?? 0).toBeGreaterThanOrEqual(before.cost ?? 0);
}

/** Imports copies of a log one after the other, and expects the envelope to be that of the longest alone in the end. */
async function expectSameInAnyOrder(copies: readonly string[], longest: string): Promise<void> {
  using alone = commandLine();
  await alone.hansard('import', put(alone, 'log.jsonl', longest), '--task', 'lab/log');
  const [wanted] = await envelopesOf(alone, 'lab/log');
  for (const order of ordersOf(copies)) {
    using line = commandLine();
    let before: DispatchEnvelope | undefined;
    for (const copy of order) {
      const { code, err } = await line.hansard('import', put(line, 'log.jsonl', copy), '--task', 'lab/log');
      expect(code, err).toBe(0);
      const [envelope, ...others] = await envelopesOf(line, 'lab/log');
      if (envelope === undefined) throw new Error('Nothing was imported.');
      expect(others).toEqual([]);
      if (before !== undefined) expectNotLess(envelope, before);
      before = envelope;
    }
    // The times of the files differ.
    expect({ ...before, source: null }).toEqual({ ...wanted, source: null });
  }
}

describe('an older copy of a log that is imported after a newer one', () => {
  it('makes no total of a transcript smaller, in whatever order the copies come', async () => {
    await expectSameInAnyOrder([transcript(2), transcript(5), transcript(8)], transcript(8));
  });

  it.skipIf(!growing.every(existsSync))('makes no total of a real transcript smaller', async () => {
    const copies = growing.map((path) => readFileSync(path, 'utf8'));
    await expectSameInAnyOrder(copies, copies[1] ?? '');
  });

  it('makes no total of a recorded stream smaller, and does not take back how it ended', async () => {
    const rows = rowsOf('subagent');
    const whole = upTo(rows, rows.length);
    const firstEnd = rows.findIndex((row) => JSON.parse(row).type === 'result');
    const copies = [upTo(rows, firstEnd), upTo(rows, firstEnd + 1), whole];
    await expectSameInAnyOrder(copies, whole);
  });
});

/** The totals that a log states last, and the calls after them. */
function statedIn(events: readonly CapturedEvent[]) {
  const last = events.findLastIndex(({ type }) => type === 'session:complete');
  const parts = events.filter(({ type }, at) => at === last || (at > last && type === 'agent:inference'));
  const usages = parts.flatMap(({ data }) => (data.usage === undefined ? [] : [data.usage as Usage]));
  const costs = parts.flatMap(({ data }) => (typeof data.costUsd === 'number' ? [data.costUsd] : []));
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  return {
    cost: costs.length === 0 ? null : sum(costs),
    input: sum(usages.map(({ inputTokens }) => inputTokens)),
    output: sum(usages.map(({ outputTokens }) => outputTokens)),
  };
}

function statedBy(envelope: DispatchEnvelope | null | undefined) {
  const { inputTokens = 0, outputTokens = 0 } = envelope?.usage ?? {};
  return { cost: envelope?.cost ?? null, input: inputTokens, output: outputTokens };
}

async function importedAndRun(line: CommandLine, path: string) {
  await line.hansard('import', path, '--task', 'lab/imported');
  await line.hansard('run', path, '--task', 'lab/run', '--quiet');
  const [imported] = await envelopesOf(line, 'lab/imported');
  const [run] = await envelopesOf(line, 'lab/run');
  return { imported, run, events: await eventsOf(line, 'lab/imported') };
}

describe('the totals of a recorded stream', () => {
  it.each(['subagent', 'hook-deny', 'tools-and-thinking'])(
    'are the same imported and run, and what its log states: %s',
    async (name) => {
      using line = commandLine();
      const { imported, run, events } = await importedAndRun(line, demoStream(name));
      expect(imported?.usage).toMatchObject({ turns: expect.any(Number), durationMs: expect.any(Number) });
      expect([run?.cost, run?.usage]).toEqual([imported?.cost, imported?.usage]);
      expect(statedBy(imported)).toEqual(statedIn(events));
    },
  );

  it('that was cut off before its last total have the tokens of that total, as every call was made by then', async () => {
    using line = commandLine();
    const rows = rowsOf('subagent');
    const lastEnd = rows.findLastIndex((row) => JSON.parse(row).type === 'result');
    const whole = await importedAndRun(line, demoStream('subagent'));
    using other = commandLine();
    const cut = put(other, 'cut.jsonl', upTo(rows, lastEnd));
    const { imported, run, events } = await importedAndRun(other, cut);
    // A call of a sub-agent was under way at the first total, which includes it.
    expect(events.filter(({ type }) => type === 'session:complete')).toHaveLength(1);
    const { inputTokens, outputTokens } = whole.run?.usage ?? {};
    expect(run?.usage).toMatchObject({ inputTokens, outputTokens });
    expect([run?.cost, run?.usage]).toEqual([imported?.cost, imported?.usage]);
  });
});

it('an import that was interrupted has the totals of what it recorded', async () => {
  using line = commandLine();
  const log = await openClaudeTranscript(put(line, 's.jsonl', transcript(1_000)));
  const store = openDispatchStore(createMemoryStore());
  const stop = new AbortController();
  await recordLog(store, 'lab/tasks/log', log, { signal: stop.signal, onProgress: () => stop.abort() });
  const events = await store.getDispatchEvents('lab/tasks/log', log.dispatchId);
  const envelope = await store.getDispatchEnvelope('lab/tasks/log', log.dispatchId);
  expect(envelope?.status).toBe('aborted');
  expect(statedIn(events).input).toBeGreaterThan(0);
  expect(statedBy(envelope)).toEqual(statedIn(events));
});
