import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { balanceProblem, type CapturedEvent, eventProblem } from '@hansard/events';
import { corpus, isCorpusThere, skipped } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { openCodexRollout } from '../src/index.ts';

interface Raw {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the records of Codex have no types here.
  readonly payload: any;
}

const files = globSync(['codex/*.jsonl', 'agents/codex-*/**/*.jsonl'], { cwd: corpus }).sort();

const rawOf = (file: string): Raw[] =>
  readFileSync(join(corpus, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Raw);

async function read(file: string) {
  const log = await openCodexRollout(join(corpus, file));
  const events: CapturedEvent[] = [];
  for await (const batch of log.read()) events.push(...batch);
  return { log, events, summary: log.summary() };
}

/** The tokens of a thread, counted from its records alone. */
function tokensOf(records: readonly Raw[]): number {
  const stated = records.filter(({ type }) => type === 'token_usage_record');
  const counts = records.flatMap(({ payload }) =>
    payload.type === 'token_count' && payload.info !== null ? [payload.info] : [],
  );
  const pairs = new Map(
    counts.map((info) => [JSON.stringify([info.total_token_usage, info.last_token_usage]), info]),
  );
  const used =
    stated.length > 0
      ? stated.map(({ payload }) => payload.usage)
      : [...pairs.values()].map((info) => info.last_token_usage);
  return used.reduce((sum, usage) => sum + usage.input_tokens + usage.output_tokens, 0);
}

const tokens = (events: readonly CapturedEvent[]) =>
  events
    .filter(({ type }) => type === 'agent:inference')
    .map(({ data }) => data.usage as Record<string, number>)
    .reduce(
      (sum, { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0 }) =>
        sum + inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens,
      0,
    );

describe.skipIf(!isCorpusThere)(`a real rollout${skipped}`, () => {
  it('is there, of each kind of thread', () => expect(files.length).toBeGreaterThanOrEqual(14));

  it.each(files)('is read whole, with nothing unknown: %s', async (file) => {
    const { events, summary } = await read(file);
    expect(balanceProblem(summary.balance)).toBeNull();
    expect(summary.balance.bytes.in).toBe(readFileSync(join(corpus, file)).length);
    expect(summary.counts.unknown_kind ?? 0).toBe(0);
    expect(events.map((event) => eventProblem(event)).filter((problem) => problem !== null)).toEqual([]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it.each(files)('says each text once, and counts each model call once: %s', async (file) => {
    const { events } = await read(file);
    const records = rawOf(file);
    const items = (role: string) =>
      records.filter(({ type, payload }) => type === 'response_item' && payload.role === role);
    const said = events.filter(({ type }) => type === 'agent:text').map(({ data }) => data.text);
    expect(said).toEqual(
      items('assistant').map(({ payload }) =>
        payload.content.map(({ text }: { text: string }) => text).join('\n'),
      ),
    );
    expect(tokens(events)).toBe(tokensOf(records));
    const calls = records.filter(({ payload }) =>
      /^(function|custom_tool|web_search)_call$/.test(payload.type),
    );
    expect(events.filter(({ type }) => type === 'agent:tool_call')).toHaveLength(calls.length);
    const prompts = records.filter(
      ({ payload }) => payload.type === 'user_message' || payload.item?.type === 'UserMessage',
    );
    const heard = events.filter(
      ({ type, data }) => type === 'user:message' && (data.source as { kind: string }).kind !== 'system',
    );
    const between = records.filter(
      ({ type, payload }) => type === 'response_item' && payload.type === 'agent_message',
    );
    expect(heard).toHaveLength(prompts.length + between.length);
  });

  it('has the exit codes that its processes reported, and no other', async () => {
    for (const file of files) {
      const ends = new Map(
        rawOf(file).flatMap(({ payload }) => {
          const end = payload.item ?? payload;
          return typeof end.exit_code === 'number' ? [[end.call_id ?? end.id, end.exit_code] as const] : [];
        }),
      );
      for (const { type, data } of (await read(file)).events) {
        const { exitCode } = (data.metadata ?? {}) as { exitCode?: number };
        if (type !== 'agent:tool_result' || exitCode === undefined) continue;
        // A patch of an older version states its exit code in a structured output.
        expect(ends.get(data.toolCallId) ?? (data.tool === 'apply_patch' ? exitCode : null)).toBe(exitCode);
        expect(data.status).toBe(exitCode === 0 ? 'completed' : 'error');
      }
    }
  });

  it('names its parent and its origin', async () => {
    const facts = new Map<string, unknown>();
    for (const file of files) {
      const { log, events } = await read(file);
      const fork = events.find(({ type }) => type === 'session:fork')?.data;
      facts.set(log.threadId ?? '', { parent: log.parentThreadId, fork });
    }
    const { log: parent } = await read('codex/forked-parent-0.118.jsonl');
    const from = { product: 'codex', sessionId: parent.threadId, dispatchId: parent.dispatchId };
    expect(facts.get('019d7e2f-0041-7310-951c-94020254dfc9')).toEqual({
      parent: parent.threadId,
      fork: { from, kind: 'fork' },
    });
    expect(facts.get('01a21402-d708-7cf3-8ef9-e3ac44b457af')).toMatchObject({
      parent: null,
      fork: { from: { sessionId: '01a21402-d3cd-72a2-b1e0-0ff5c47a5e1b' }, through: 'ordinal:45' },
    });
    expect(facts.get('01a21402-d8c6-7001-a48b-8136e5d120d7')).toMatchObject({
      parent: '01a21402-d836-78f0-ae20-b970fe383e96',
      fork: undefined,
    });
  });
});
