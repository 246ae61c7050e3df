import { openDispatchStore } from '@hansard/dispatch';
import { importLogs } from '@hansard/import';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { commandLine } from '../command-line.ts';
import { lines, put, uuid } from '../import-files.ts';
import { expectAgreement } from './expect-agreement.ts';
import { logsOf, spentBy } from './spending-oracle.ts';

const taskDir = 'lab/tasks/log';
const seed = Number(process.env.HANSARD_SEED ?? 12);
const rounds = 6;

type Random = () => number;

const whole = (random: Random, most: number) => Math.floor(random() * most);

function record(number: number, message: object, more: object = {}) {
  return {
    type: 'assistant',
    message,
    uuid: uuid(number),
    parentUuid: number === 1 ? null : uuid(number - 1),
    isSidechain: false,
    session_id: 'session-1',
    sessionId: 'session-1',
    cwd: '/home/ann/house',
    timestamp: new Date(Date.UTC(2026, 2, 1, 9, 30, number)).toISOString(),
    ...more,
  };
}

function answer(random: Random, number: number, more: object = {}) {
  const usage = {
    input_tokens: whole(random, 900),
    output_tokens: whole(random, 900),
    ...(random() < 0.5 ? { cache_read_input_tokens: whole(random, 900) } : {}),
    ...(random() < 0.5 ? { cache_creation_input_tokens: whole(random, 900) } : {}),
  };
  const content = [{ type: 'text', text: `Answer ${number}` }];
  const model = random() < 0.5 ? 'claude-large' : 'claude-small';
  const message = { id: `msg_${number}`, role: 'assistant', model, content, usage, stop_reason: 'end_turn' };
  return record(number, message, more);
}

const prompt = (number: number, content: string) =>
  record(number, { role: 'user', content }, { type: 'user' });

/** A transcript: questions and answers in turn, and then its end. */
function transcript(random: Random, end: (number: number) => readonly object[]): string {
  const turns = 1 + whole(random, 6);
  const talk = Array.from({ length: turns }, (_, at) => [
    prompt(at * 2 + 1, `Question ${at}`),
    answer(random, at * 2 + 2),
  ]);
  return lines(...talk.flat(), ...end(turns * 2 + 1));
}

/** The figures of a process so far, which its results state. */
const result = (random: Random, number: number, more: object) => {
  const model = () => ({
    inputTokens: whole(random, 9_000),
    outputTokens: whole(random, 9_000),
    cacheReadInputTokens: whole(random, 9_000),
    cacheCreationInputTokens: whole(random, 9_000),
    costUSD: (1 + whole(random, 64)) / 64,
  });
  const modelUsage = { 'claude-large': model(), 'claude-for-titles': model() };
  const cost = modelUsage['claude-large'].costUSD + modelUsage['claude-for-titles'].costUSD;
  return {
    type: 'result',
    subtype: 'success',
    is_error: false,
    uuid: uuid(number),
    session_id: 'session-1',
    timestamp: new Date(Date.UTC(2026, 2, 1, 9, 30, number)).toISOString(),
    duration_ms: 100,
    num_turns: 2,
    result: 'Done.',
    total_cost_usd: cost,
    usage: { input_tokens: 1, output_tokens: 1 },
    modelUsage,
    ...more,
  };
};

/** Records of a stream do not have these fields. */
function asInStream(one: object): object {
  const { sessionId: _, parentUuid: __, isSidechain: ___, ...rest } = one as Record<string, unknown>;
  return rest;
}

/** A stream: messages of the agent and of a sub-agent, and then its end. */
function stream(random: Random, end: (number: number) => readonly object[]): string {
  const init = {
    type: 'system',
    subtype: 'init',
    session_id: 'session-1',
    model: 'claude-large',
    uuid: uuid(1),
  };
  const use = { type: 'tool_use', id: 't1', name: 'Agent', input: { subagent_type: 'tester' } };
  const message = { id: 'msg_0', role: 'assistant', model: 'claude-large', content: [use] };
  const inside = { parent_tool_use_id: 't1', agent_id: 'a1' };
  const count = 1 + whole(random, 6);
  const talk = Array.from({ length: count }, (_, at) => answer(random, at + 3, random() < 0.4 ? inside : {}));
  return lines(...[init, record(2, message), ...talk, ...end(count + 3)].map(asInStream));
}

const interrupted = '[Request interrupted by user]';

const logs: readonly [name: string, status: string, make: (random: Random) => string][] = [
  ['a transcript that was completed', 'completed', (random) => transcript(random, () => [])],
  [
    'a transcript of a session that runs',
    'running',
    (random) => transcript(random, (at) => [prompt(at, 'And?')]),
  ],
  [
    'a transcript that was aborted',
    'aborted',
    (random) => transcript(random, (at) => [prompt(at, interrupted)]),
  ],
  [
    'a transcript that crashed',
    'crashed',
    (random) => transcript(random, (at) => [answer(random, at, { isApiErrorMessage: true })]),
  ],
  ['a stream that was completed', 'completed', (random) => stream(random, (at) => [result(random, at, {})])],
  [
    'a stream of two turns',
    'completed',
    (random) =>
      stream(random, (at) => [
        result(random, at, {}),
        answer(random, at + 1),
        result(random, at + 2, { total_cost_usd: 4 }),
      ]),
  ],
  [
    'a stream that failed',
    'crashed',
    (random) => stream(random, (at) => [result(random, at, { subtype: 'error_during_execution' })]),
  ],
  [
    'a stream that was aborted',
    'aborted',
    (random) => stream(random, (at) => [result(random, at, { subtype: 'error_max_turns' })]),
  ],
  ['a stream of a run that goes on', 'running', (random) => stream(random, () => [])],
  [
    'a stream that goes on after a turn',
    'completed',
    (random) => stream(random, (at) => [result(random, at, {}), answer(random, at + 1)]),
  ],
];

/** The logs are of another day: one without an end still runs. */
const quietAfterMs = Number.POSITIVE_INFINITY;

describe('what an imported session spent, by the envelope, the tree, the view and the trace', () => {
  it.each(logs)('is what the events add up to: %s', async (_, status, make) => {
    using line = commandLine();
    const random = randomFrom(seed);
    for (let round = 0; round < rounds; round += 1) {
      const store = openDispatchStore(createMemoryStore());
      const path = put(line, `s${round}.jsonl`, make(random));
      for await (const item of importLogs(store, [path], { task: taskDir, prices: false, quietAfterMs }))
        expect(item.kind).toBe('imported');
      const where = `HANSARD_SEED=${seed}, round ${round}`;
      const [log, ...others] = await logsOf(store, taskDir);
      expect(others).toEqual([]);
      expect(log?.envelope.status, where).toBe(status);
      expect(log?.envelope.usage?.inputTokens, where).toBeGreaterThanOrEqual(1);
      await expectAgreement(store, taskDir, where);
    }
  });

  it('is what the stream states of each model', async () => {
    using line = commandLine();
    const random = randomFrom(seed);
    const store = openDispatchStore(createMemoryStore());
    let stated: ReturnType<typeof result> | undefined;
    const text = stream(random, (at) => {
      stated = result(random, at, {});
      return [stated];
    });
    for await (const item of importLogs(store, [put(line, 's.jsonl', text)], { task: taskDir }))
      expect(item.kind).toBe('imported');
    const [log] = await logsOf(store, taskDir);
    if (log === undefined || stated === undefined) throw new Error('Nothing was imported.');
    const { cost, models } = spentBy(log.envelope);
    expect(cost).toBe(stated.total_cost_usd);
    for (const [model, figures] of Object.entries(stated.modelUsage)) {
      const { inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens, costUSD } = figures;
      const tokens = [inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens];
      expect(models[model]?.slice(1)).toEqual([tokens, costUSD]);
    }
  });

  it('is what the recorded events add up to after the import was interrupted', async () => {
    using line = commandLine();
    const random = randomFrom(seed);
    const store = openDispatchStore(createMemoryStore());
    const many = Array.from({ length: 800 }, (_, at) => answer(random, at + 1));
    const stop = new AbortController();
    const options = {
      task: taskDir,
      prices: false,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    } as const;
    for await (const _ of importLogs(store, [put(line, 's.jsonl', lines(...many))], options));
    const [log] = await logsOf(store, taskDir);
    expect(log?.envelope.status).toBe('aborted');
    const calls = log?.events.filter(({ type }) => type === 'agent:inference').length ?? 0;
    expect(calls).toBeGreaterThan(0);
    expect(calls).toBeLessThan(many.length);
    await expectAgreement(store, taskDir, `HANSARD_SEED=${seed}`);
  });
});
