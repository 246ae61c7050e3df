import { copiedEvents, openDispatchStore, usageOf } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { expect, it } from 'vitest';
import { importAll, LogFolder, lines } from './logs.ts';

const start = Date.parse('2026-03-01T20:00:00.000Z');
const seed = Number(process.env.HANSARD_SEED ?? Date.now() % 1_000_000);
const trees = Number(process.env.HANSARD_CODEX_TREES ?? 60);

interface Written {
  readonly type: string;
  readonly payload: Record<string, unknown>;
}

interface Thread {
  readonly id: string;
  readonly isNew: boolean;
  /** Each turn with the total usage after it. */
  readonly turns: { readonly records: Written[]; readonly total: number }[];
  readonly head: Written[];
  readonly forkOf: string | null;
  readonly parent: string | null;
}

/** Writes a tree of threads as Codex does, and keeps the truth: what each call used, and where each thread comes from. */
class Tree {
  readonly threads: Thread[] = [];
  calls = 0;
  tokens = 0;
  #number = 0;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
    this.#grow({ head: [], forkOf: null, parent: null, isNew: this.#chance(0.5) }, 0);
    for (let child = this.#below(4); child > 0; child -= 1) this.#addChild(this.#pick(this.threads));
  }

  #below = (end: number) => Math.floor(this.#random() * end);
  #chance = (share: number) => this.#random() < share;
  #pick = <T>(items: readonly T[]) => items[this.#below(items.length)] as T;

  #next(): number {
    this.#number += 1;
    return this.#number;
  }

  /** A fork with a copied head, a fork that refers to its origin, or a sub-agent, with a head or none. */
  #addChild(origin: Thread): void {
    const parent = this.#chance(0.5) ? origin.id : null;
    if (this.#chance(0.2)) {
      this.#grow({ head: [], forkOf: null, parent: origin.id, isNew: origin.isNew }, 0);
      return;
    }
    const through = 1 + this.#below(origin.turns.length);
    const total = origin.turns[through - 1]?.total ?? 0;
    if (origin.isNew) {
      this.#grow({ head: [], forkOf: origin.id, parent, isNew: true }, total);
      return;
    }
    // A sub-agent can have the last turns only.
    const from = this.#chance(0.3) ? this.#below(through) : 0;
    const copied = origin.turns.slice(from, through).flatMap(({ records }) => records);
    const isLeftOut = ({ payload }: Written) => payload.type === 'exec_command_end';
    const meta = { type: 'session_meta', payload: { id: origin.id, cwd: '/srv/house' } };
    const before = from === 0 ? origin.head : [];
    const head = [meta, ...before, ...copied].filter((record) => !isLeftOut(record));
    this.#grow({ head, forkOf: origin.id, parent, isNew: false }, total);
  }

  #grow(facts: Omit<Thread, 'id' | 'turns'>, before: number): void {
    const thread: Thread = { id: `t-${this.#next()}`, turns: [], ...facts };
    let total = before;
    for (let turn = 1 + this.#below(3); turn > 0; turn -= 1) {
      const records: Written[] = [];
      total = this.#writeTurn(records, total, thread.isNew);
      thread.turns.push({ records, total });
    }
    this.threads.push(thread);
  }

  #writeTurn(records: Written[], before: number, isNew: boolean): number {
    const write = (type: string, payload: Record<string, unknown>) => records.push({ type, payload });
    const turn_id = `turn-${this.#next()}`;
    let total = before;
    write('event_msg', { type: 'task_started', turn_id });
    write('turn_context', { turn_id, cwd: '/srv/house', model: this.#pick(['gpt-5.4', 'gpt-5.5']) });
    const content = [{ type: 'input_text', text: this.#pick(['continue', 'go on']) }];
    write('response_item', { type: 'message', role: 'user', content });
    write('event_msg', { type: 'user_message', message: content[0]?.text });
    for (let call = 1 + this.#below(3); call > 0; call -= 1) {
      if (this.#chance(0.7)) write('response_item', { type: 'reasoning', summary: [] });
      const call_id = `call_${this.#next()}`;
      write('response_item', {
        type: 'function_call',
        name: 'exec_command',
        arguments: '{"cmd":"ls"}',
        call_id,
      });
      const isLate = this.#chance(0.5);
      if (!isLate) total = this.#count(write, total, isNew);
      write('event_msg', { type: 'exec_command_end', call_id, exit_code: 0 });
      write('response_item', { type: 'function_call_output', call_id, output: 'a' });
      if (isLate) total = this.#count(write, total, isNew);
    }
    write('event_msg', { type: 'task_complete', turn_id });
    return total;
  }

  #count(
    write: (type: string, payload: Record<string, unknown>) => void,
    before: number,
    isNew: boolean,
  ): number {
    // A pair of total and last usage names a call, so each call has another one.
    const input_tokens = 100 + this.#next();
    const usage = (input: number) => ({ input_tokens: input, cached_input_tokens: 0, output_tokens: 1 });
    // After a compaction, totals go down once.
    const total = (this.#chance(0.1) ? 0 : before) + input_tokens;
    this.calls += 1;
    this.tokens += input_tokens + 1;
    if (isNew)
      write('token_usage_record', { response_id: `resp_${this.#next()}`, usage: usage(input_tokens) });
    const info = { total_token_usage: usage(total), last_token_usage: usage(input_tokens) };
    for (let times = 1 + this.#below(2); times > 0; times -= 1)
      write('event_msg', { type: 'token_count', info });
    return total;
  }

  contentOf({ id, isNew, turns, head, forkOf, parent }: Thread): string {
    const source = parent === null ? 'cli' : { subagent: { thread_spawn: { parent_thread_id: parent } } };
    const history_base = { thread_id: forkOf, end_ordinal_exclusive: 3 };
    const fork = forkOf === null ? {} : { forked_from_id: forkOf, ...(isNew ? { history_base } : {}) };
    const meta = { type: 'session_meta', payload: { id, cwd: '/srv/house', source, ...fork } };
    const own = turns.flatMap(({ records }) => records);
    const timestamp = (at: number) => new Date(start + at * 60_000).toISOString();
    const withTime = (record: Written, at: number) => ({ timestamp: timestamp(at), ...record });
    return lines(withTime(meta, 0), ...head.map((one) => withTime(one, 0)), ...own.map(withTime));
  }
}

it(
  `each model call counts once in any tree of Codex threads, and each thread names its origin (seed ${seed})`,
  async () => {
    for (let number = 0; number < trees; number += 1) {
      const random = randomFrom(seed + number);
      const tree = new Tree(random);
      using folder = new LogFolder();
      await using store = openDispatchStore(createMemoryStore());
      const files = tree.threads.map((thread) =>
        folder.put(`rollout-${thread.id}.jsonl`, tree.contentOf(thread)),
      );
      for (const file of files.sort(() => random() - 0.5))
        await importAll(store, [file], { task: 'lab/tasks/codex' });
      const envelopes = await store.getDispatchEnvelopes('lab/tasks/codex');
      const idOf = new Map(envelopes.map(({ dispatchId, source }) => [source?.files[0]?.name, dispatchId]));
      const { total } = await usageOf(store, { by: ['model'] });
      const counted = [number, total.modelCalls, (total.inputTokens ?? 0) + (total.outputTokens ?? 0)];
      expect(counted).toEqual([number, tree.calls, tree.tokens]);
      for (const thread of tree.threads) {
        const envelope = envelopes.find(
          ({ dispatchId }) => dispatchId === idOf.get(`rollout-${thread.id}.jsonl`),
        );
        const named = (id: string | null) => (id === null ? undefined : idOf.get(`rollout-${id}.jsonl`));
        expect([
          thread.id,
          envelope?.forkedFrom?.from.dispatchId,
          envelope?.parentDispatchId ?? undefined,
        ]).toEqual([thread.id, named(thread.forkOf), named(thread.parent)]);
      }
    }
  },
  60_000 + 200 * trees,
);

it('the name of a thread is the title of its session, otherwise its first prompt', async () => {
  const timestamp = '2026-03-01T20:00:00.000Z';
  const record = (type: string, payload: object) => ({ timestamp, type, payload });
  const content = (text: string) => [{ type: 'input_text', text }];
  const prompt = (text: string) => [
    record('response_item', { type: 'message', role: 'user', content: content(text) }),
    record('event_msg', { type: 'user_message', message: text }),
  ];
  const injected = { type: 'message', role: 'user', content: content('<environment_context>') };
  const records = [
    record('session_meta', { id: 't-1', cwd: '/srv/house' }),
    record('response_item', injected),
    ...prompt('Mend the roof'),
  ];
  const named = record('event_msg', { type: 'thread_name_updated', thread_name: 'Roof' });
  using folder = new LogFolder();
  await using store = openDispatchStore(createMemoryStore());
  const titles: unknown[] = [];
  for (const all of [records, [...records, named]]) {
    await importAll(store, [folder.put('rollout-t-1.jsonl', lines(...all))], { task: 'lab/tasks/codex' });
    titles.push((await store.getDispatchEnvelopes('lab/tasks/codex'))[0]?.title);
  }
  expect(titles).toEqual(['Mend the roof', 'Roof']);
});

it('the prompts and results in a copied head are copies, except after the last answer that both have', async () => {
  const record = (at: number) => (one: Written) => ({
    timestamp: new Date(start + at).toISOString(),
    ...one,
  });
  const prompt = (text: string): Written[] => [
    {
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    },
    { type: 'event_msg', payload: { type: 'user_message', message: text } },
  ];
  const answer = (text: string): Written => ({
    type: 'response_item',
    payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
  });
  const meta = (id: string, more: object = {}): Written => ({
    type: 'session_meta',
    payload: { id, cwd: '/srv/house', ...more },
  });
  const call = { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: 'c1' };
  const head: Written[] = [
    { type: 'turn_context', payload: { turn_id: 'turn-1', model: 'gpt-5.4' } },
    ...prompt('continue'),
    { type: 'response_item', payload: call },
    { type: 'response_item', payload: { type: 'function_call_output', call_id: 'c1', output: 'a' } },
    answer('Done.'),
    ...prompt('continue'),
  ];
  // Of the twins, Codex copies none.
  const copied = head.filter(({ type }) => type !== 'event_msg');
  using folder = new LogFolder();
  await using store = openDispatchStore(createMemoryStore());
  const fork = [meta('t-2', { forked_from_id: 't-1' }), meta('t-1'), ...copied, answer('Mine.')];
  for (const [name, records] of [
    ['t-1', [meta('t-1'), ...head, answer('Ours.')]],
    ['t-2', fork],
  ] as const)
    await importAll(store, [folder.put(`rollout-${name}.jsonl`, lines(...records.map(record(0))))], {
      task: 'lab/tasks/codex',
    });
  const envelopes = await store.getDispatchEnvelopes('lab/tasks/codex');
  const [envelope] = envelopes.filter(({ forkedFrom }) => forkedFrom !== null);
  if (envelope === undefined) throw new Error('no fork');
  const ref = { taskDir: 'lab/tasks/codex', dispatchId: envelope.dispatchId };
  const copies = await copiedEvents(store, ref, envelope);
  // The lines of the fork: its prompt, its call, the output and the answer.
  expect([...(copies?.keys() ?? [])].sort()).toEqual(['line-4', 'line-5', 'line-6', 'line-7']);
});
