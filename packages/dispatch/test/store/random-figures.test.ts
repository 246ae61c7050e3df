import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Dispatch, openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope, NewEvent } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import { createMemoryStore, type MemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { expect, it } from 'vitest';
import { task, write } from '../support/route-models.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const logs = 400;

interface Figures {
  readonly cost: number | null;
  readonly input: number | null;
  readonly turns: number | null;
  readonly calls: Readonly<Record<string, number>>;
}

type Data = Readonly<Record<string, never>> & {
  readonly costUsd?: number;
  readonly usage?: { readonly inputTokens: number; readonly turns?: number };
  readonly turns?: number;
  readonly model: string;
};

/** What a log states, computed from the whole log: each figure from its last statement and the calls after that. */
class Oracle {
  readonly #log: readonly CapturedEvent[];

  constructor(log: readonly CapturedEvent[]) {
    this.#log = log.filter(({ id, type }) => type !== 'agent:inference' || !id.includes(':rewritten-'));
  }

  get figures(): Figures {
    const calls: Record<string, number> = {};
    for (const { type, data } of this.#log)
      if (type === 'agent:inference') calls[`${data.model}`] = (calls[`${data.model}`] ?? 0) + 1;
    const input = this.#sum((data) => data.usage?.inputTokens);
    return {
      cost: this.#sum((data) => data.costUsd),
      input,
      turns: input === null ? null : this.#turns,
      calls,
    };
  }

  #data(index: number): Data {
    return this.#log[index]?.data as Data;
  }

  #sum(figure: (data: Data) => number | undefined): number | null {
    const stated = this.#log.findLastIndex(
      ({ type, data }) => type === 'session:complete' && figure(data as Data) !== undefined,
    );
    const added = this.#callsAfter(stated).map((index) => figure(this.#data(index)));
    const parts = [stated < 0 ? undefined : figure(this.#data(stated)), ...added].filter(
      (one) => one !== undefined,
    );
    return parts.length === 0 ? null : parts.reduce((sum, one) => sum + one, 0);
  }

  get #turns(): number | null {
    const last = this.#log.findLastIndex(({ type }) => type === 'session:complete');
    if (last < 0 || this.#callsAfter(last).length > 0) return null;
    const { turns, usage } = this.#data(last);
    return turns ?? usage?.turns ?? null;
  }

  /** The calls after a statement that the statement cannot have counted. */
  #callsAfter(statement: number): number[] {
    const open = new Set<string>();
    const agents = new Set(this.#log.map(({ agentId }) => agentId));
    for (const agent of agents) {
      const before = this.#log
        .slice(0, Math.max(0, statement))
        .filter(({ agentId, type, messageId }) =>
          agentId !== agent || type === 'session:complete'
            ? false
            : type === 'agent:inference' || messageId !== undefined,
        );
      const last = before.at(-1);
      if (last?.type !== 'agent:inference' && last?.messageId !== undefined) open.add(last.messageId);
    }
    return [...this.#log.keys()].filter((index) => {
      const { type, messageId } = this.#log[index] as CapturedEvent;
      if (index <= statement || type !== 'agent:inference') return false;
      return messageId === undefined || !open.delete(messageId);
    });
  }
}

/** One dispatch that a program writes, leaves, opens again and ends, over a store that answers late. */
class Play {
  readonly provider: MemoryStore = createMemoryStore();
  readonly #random: () => number;
  readonly #pending: Promise<unknown>[] = [];
  #count = 0;
  ends = 0;

  constructor(own: number) {
    this.#random = randomFrom(own);
  }

  async run(): Promise<void> {
    let store = this.#open();
    let dispatch = await store.beginDispatch(task, { role: 'worker', fidelity: 'full' });
    for (let part = 0; part < 4; part += 1) {
      await this.#write(dispatch);
      const how = this.#pick(['end', 'end', 'dispose', 'crash', 'release'] as const);
      if (how === 'end') await this.#compare(await dispatch.end({ status: 'completed' }));
      else if (how === 'release') await dispatch.release();
      else if (how === 'dispose') {
        const wasRunning = dispatch.envelope.status === 'running';
        await dispatch[Symbol.asyncDispose]();
        if (wasRunning && part === 0) await this.#compare(dispatch.envelope);
      } else dispatch.abandon();
      await Promise.allSettled(this.#pending.splice(0));
      this.provider.releaseDispatch(task, dispatch.dispatchId);
      if (this.#chance(0.3)) this.#writeElsewhere(dispatch.dispatchId);
      if (this.#chance(0.1)) this.#forgetFold(dispatch.dispatchId);
      store = this.#open();
      dispatch = await store.openDispatch(dispatch, write);
      if (this.#chance(0.3)) for await (const _ of dispatch.events()) if (this.#chance(0.1)) break;
      if (this.#chance(0.3)) await dispatch.update({ status: 'running', completedAt: null });
    }
    await this.#write(dispatch);
    await this.#compare(await dispatch.end({ status: 'completed' }));
  }

  async #write(dispatch: Dispatch): Promise<void> {
    const steps = Math.floor(this.#random() * 6);
    for (let step = 0; step < steps; step += 1) {
      const stored = this.provider.getDispatchEvents(task, dispatch.dispatchId);
      const events = Array.from({ length: this.#pick([1, 1, 2, 5]) }, () =>
        stored.length > 0 && this.#chance(0.35) ? this.#pick(stored) : this.#event(stored),
      );
      const [first] = events as [NewEvent];
      const append: Promise<unknown> = events.length === 1 ? dispatch.append(first) : dispatch.append(events);
      if (this.#chance(0.5)) await append.catch(() => {});
      else this.#pending.push(append.catch(() => {}));
    }
  }

  /** A program that keeps no figures. */
  #writeElsewhere(dispatchId: string): void {
    this.provider.claimDispatch(task, dispatchId);
    const stored = this.provider.getDispatchEvents(task, dispatchId);
    this.provider.appendEvents(task, dispatchId, [this.#event(stored)]);
    this.provider.releaseDispatch(task, dispatchId);
  }

  #forgetFold(dispatchId: string): void {
    this.provider.claimDispatch(task, dispatchId);
    this.provider.updateDispatch(task, dispatchId, { folded: null });
    this.provider.releaseDispatch(task, dispatchId);
  }

  #event(stored: readonly CapturedEvent[]): CapturedEvent {
    this.#count += 1;
    const call = stored.find(({ type }) => type === 'agent:inference');
    const isCopy = call !== undefined && this.#chance(0.1);
    const agentId = this.#pick(['a', 'b', undefined]);
    const messageId = this.#pick(['m1', 'm2', 'm3', 'm4', undefined]);
    const links = { ...(agentId && { agentId }), ...(messageId && { messageId }) };
    const id = isCopy
      ? `${call.id}:rewritten-${this.#count}`
      : `${this.#chance(0.5) ? 'e' : 'z'}${this.#count}`;
    const kind = isCopy
      ? 'agent:inference'
      : this.#pick(['agent:text', 'agent:inference', 'agent:inference', 'session:complete'] as const);
    const base = { id, type: kind, timestamp: '2026-03-01T09:00:00.000Z', ...links } as const;
    if (kind === 'agent:text') return { ...base, data: { text: 'x' } };
    const figures = {
      ...(this.#chance(0.6) && { costUsd: Math.floor(this.#random() * 64) / 64 }),
      ...(this.#chance(0.4) && { turns: Math.floor(this.#random() * 9) }),
    };
    const usage = { inputTokens: Math.floor(this.#random() * 50), outputTokens: 1 };
    if (kind === 'session:complete')
      return { ...base, data: { status: 'completed', ...figures, ...(this.#chance(0.5) && { usage }) } };
    const { turns: _, ...costs } = figures as { turns?: number };
    return { ...base, data: { model: this.#pick(['m', 'n']), usage, ...costs } };
  }

  /** A store that answers in the same turn, or some turns later. */
  #open() {
    const { provider } = this;
    const late = (name: 'appendEvent' | 'appendEvents' | 'readEvents' | 'updateDispatch') => {
      const call = provider[name].bind(provider) as (...given: unknown[]) => unknown;
      return (...given: unknown[]): unknown => {
        if (this.#chance(0.5)) return call(...given);
        const turns = Math.floor(this.#random() * 3);
        const wait = async () => {
          for (let turn = 0; turn < turns; turn += 1) await nextTurn();
          return call(...given);
        };
        return wait();
      };
    };
    const changes = {
      appendEvent: late('appendEvent'),
      appendEvents: late('appendEvents'),
      readEvents: late('readEvents'),
      updateDispatch: late('updateDispatch'),
    } as unknown as Partial<DispatchStoreProvider>;
    const slow = new Proxy<DispatchStoreProvider>(provider, {
      get(target, key) {
        if (Object.hasOwn(changes, key)) return Reflect.get(changes, key);
        const member: unknown = Reflect.get(target, key, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    return openDispatchStore(slow);
  }

  async #compare({ dispatchId, cost, usage, models }: DispatchEnvelope): Promise<void> {
    const calls = Object.fromEntries((models ?? []).map((used) => [used.model, used.calls]));
    const told = { cost, input: usage?.inputTokens ?? null, turns: usage?.turns ?? null, calls };
    expect(told).toEqual(new Oracle(this.provider.getDispatchEvents(task, dispatchId)).figures);
    this.ends += 1;
  }

  #chance(of: number): boolean {
    return this.#random() < of;
  }

  #pick<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random() * of.length)] as T;
  }
}

it(`has in its envelope what its log states, however a dispatch of ${logs} is written and left (HANSARD_SEED=${seed})`, async () => {
  let ends = 0;
  for (let log = 0; log < logs; log += 1) {
    const play = new Play(seed + log);
    await play.run().catch((error: unknown) => {
      throw new Error(`log ${seed + log}: ${error}`, { cause: error });
    });
    ends += play.ends;
  }
  expect(ends).toBeGreaterThan(logs * 2);
});
