import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createCommunicationHub,
  type Dispatch,
  type DispatchStore,
  openDispatchStore,
  runDispatch,
} from '@hansard/dispatch';
import { BalanceSheet, type CapturedEvent, type NewEvent } from '@hansard/events';
import { importLogs } from '@hansard/import';
import type { DispatchStoreProvider, LogImporterProvider } from '@hansard/provider';
import { openSession } from '@hansard/session';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const taskDir = 'lab/tasks/one-code-path';
const type = 'test:step';

const steps: readonly CapturedEvent[] = ['read', 'think', 'write'].map((step, index) => ({
  id: `step-${index}`,
  timestamp: '2026-03-01T09:00:00.000Z',
  type,
  data: { step, detail: { index, words: [step] } },
}));

/** The stations of one event, each with the `data` objects that it received. */
interface Passage {
  /** What the dispatch object was given. */
  readonly given: unknown[];
  /** What the schema of the event checked. */
  readonly checked: unknown[];
  /** What the provider stored. */
  readonly stored: unknown[];
  /** What the communication provider received. */
  readonly published: unknown[];
}

/** A real store whose stations report each event that passes. */
class CountedStore {
  readonly store: DispatchStore;
  readonly hub = createCommunicationHub([
    { contract: 1, eventRecorded: ({ event }) => this.#note('published', event.type, event.data) },
  ]);
  readonly #passages = new Map<unknown, Passage>();

  constructor() {
    const check = (data: unknown) => {
      this.#note('checked', type, data);
      return true;
    };
    const schemas = { [type]: z.custom<Record<string, unknown>>(check) };
    const store = openDispatchStore(this.#counting(createMemoryStore()), { schemas });
    this.store = replacing(store, {
      beginDispatch: async (task, dispatch, options) => {
        const begun = await store.beginDispatch(task, dispatch, { ...options, communication: this.hub });
        return this.#noticing(begun);
      },
    });
  }

  /** Per event: how often it was checked, stored and published, and how many copies of its data were made. */
  async counts() {
    await this.hub.start();
    await this.hub.close();
    return steps.map(({ data }) => {
      const { given, checked, stored, published } = this.#passage(data.step);
      const objects = new Set([data, ...given, ...checked, ...stored, ...published]);
      return {
        step: data.step,
        checks: checked.length,
        writes: stored.length,
        publications: published.length,
        copies: objects.size - 1,
      };
    });
  }

  #counting(provider: DispatchStoreProvider): DispatchStoreProvider {
    return replacing(provider, {
      appendEvent: (task, id, event) => {
        this.#note('stored', event.type, event.data);
        return provider.appendEvent(task, id, event);
      },
      appendEvents: (task, id, events) => {
        for (const event of events) this.#note('stored', event.type, event.data);
        return provider.appendEvents(task, id, events);
      },
    });
  }

  #noticing(dispatch: Dispatch): Dispatch {
    const note = (input: NewEvent | readonly NewEvent[]) => {
      for (const event of [input].flat() as NewEvent[]) this.#note('given', event.type, event.data);
    };
    return replacing(dispatch, {
      append: ((input: NewEvent & readonly NewEvent[]) => {
        note(input);
        return dispatch.append(input);
      }) as Dispatch['append'],
      accept: (events) => {
        note(events);
        return dispatch.accept(events);
      },
    });
  }

  #note(station: keyof Passage, eventType: string, data: unknown): void {
    if (eventType === type) this.#passage((data as { step: unknown }).step)[station].push(data);
  }

  #passage(step: unknown): Passage {
    const passage = this.#passages.get(step) ?? { given: [], checked: [], stored: [], published: [] };
    this.#passages.set(step, passage);
    return passage;
  }
}

/** The same object, with some members replaced. */
function replacing<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(_target, key) {
      if (Object.hasOwn(members, key)) return Reflect.get(members, key);
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** The ways in which events are recorded. */
const paths: Record<string, (store: DispatchStore) => Promise<unknown>> = {
  async run(store) {
    const agent = {
      contract: 1 as const,
      async *run() {
        for (const event of steps) yield { kind: 'event', event } as const;
      },
    };
    await runDispatch({ store, taskDir, role: 'worker', agent, fidelity: 'full' });
  },

  async session(store) {
    const model = { contract: 1 as const, generate: () => Promise.reject(new Error('not called')) };
    const session = await openSession({ store, taskDir, model });
    await session.append(steps);
    await session.close();
  },

  async import(store) {
    const importer: LogImporterProvider = {
      contract: 1,
      id: 'steps',
      title: 'a log of steps',
      detect: () => true,
      open: ({ files }) => [
        {
          format: 'steps',
          files,
          dispatchId: '01JZX5N0000000000000000000',
          startedAt: 0,
          async *read() {
            yield steps;
          },
          summary: () => ({
            records: steps.length,
            events: steps.length,
            status: 'completed',
            completedAt: 1,
            diagnostics: [],
            counts: {},
            balance: new BalanceSheet().balance,
          }),
        },
      ],
    };
    const folder = mkdtempSync(join(tmpdir(), 'one-code-path-'));
    const path = join(folder, 'steps.log');
    writeFileSync(path, 'steps\n');
    for await (const item of importLogs(store, [path], { task: taskDir, importers: [importer] }))
      expect(item).toMatchObject({ kind: 'imported', added: steps.length });
    rmSync(folder, { recursive: true });
  },
};

const once = steps.map(({ data }) => ({
  step: data.step,
  checks: 1,
  writes: 1,
  publications: 1,
  copies: 1,
}));

describe('the same events', () => {
  it.each(Object.keys(paths))('are checked, copied, stored and published once by: %s', async (name) => {
    const counted = new CountedStore();
    await paths[name]?.(counted.store);
    expect(await counted.counts()).toEqual(once);
  });

  it('are counted twice if a path checks or copies them before it appends them', async () => {
    const twice = new CountedStore();
    const checking = await twice.store.beginDispatch(taskDir, { role: 'worker', fidelity: 'full' });
    checking.check(steps);
    await checking.append(steps);
    expect(await twice.counts()).toEqual(once.map((counts) => ({ ...counts, checks: 2, copies: 2 })));

    const copied = new CountedStore();
    const copying = await copied.store.beginDispatch(taskDir, { role: 'worker', fidelity: 'full' });
    await copying.append(structuredClone(steps));
    expect(await copied.counts()).toEqual(once.map((counts) => ({ ...counts, copies: 2 })));
  });
});
