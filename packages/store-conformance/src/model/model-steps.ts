import assert from 'node:assert/strict';
import {
  type CapturedEvent,
  type ClaimState,
  type DispatchClaim,
  type DispatchEnvelope,
  type DispatchStoreProvider,
  type EnvelopeUpdates,
  type StoreCapabilities,
  storeErrors,
} from '@hansard/provider';
import { sameContent } from '../checks/expectations.ts';
import { dispatchId, taskDir } from '../checks/prepared-store.ts';
import { sampleEnvelope, sampleTask, valueEvent } from '../checks/sample-data.ts';
import type { CaseContext } from '../run/case-context.ts';
import { createSharedModelStore, emptyModelData, type ModelClaims } from './model-store.ts';
import type { Random } from './random.ts';

const codeOf = ({ error }: Outcome): string => (storeErrors.is(error) ? error.code : 'none');

/** One step of the model case: a method with its arguments, or opening the store again. */
export interface Step {
  readonly method: string;
  readonly args: readonly unknown[];
}

const tasks = ['lab/tasks/one', 'lab/tasks/one/inner', 'lab/tasks/zwei drei'] as const;
const dispatches = ['D1', 'D2', 'd-3'] as const;
const times = [
  null,
  ...['2026-03-01T09:00:00.000Z', '2026-03-01T09:00:00.001Z', '2026-03-02T00:00:00.000Z'],
] as const;
const texts = ['', 'plain', 'é🎈\u2028\0', 'a\ud800', '"]}\n', 'x'.repeat(5_000)] as const;
/** Few ids, so that retries and conflicts are common. */
const eventIds = 60;

const stepMakers: ReadonlyArray<readonly [weight: number, make: (random: Random) => Step]> = [
  [10, (random) => ({ method: 'createDispatch', args: [random.pick(tasks), anyEnvelope(random)] })],
  [16, (random) => ({ method: 'claimDispatch', args: anyPlace(random) })],
  [2, (random) => ({ method: 'releaseDispatch', args: anyPlace(random) })],
  [8, (random) => ({ method: 'updateDispatch', args: [...anyPlace(random), anyUpdates(random)] })],
  [30, (random) => ({ method: 'appendEvent', args: [...anyPlace(random), anyEvent(random)] })],
  [15, (random) => ({ method: 'appendEvents', args: [...anyPlace(random), anyBatch(random)] })],
  [4, (random) => ({ method: 'getDispatchEnvelopes', args: [random.pick(tasks)] })],
  [4, (random) => ({ method: 'getDispatchEnvelope', args: anyPlace(random) })],
  [4, (random) => ({ method: 'getDispatchEvents', args: anyPlace(random) })],
  [8, (random) => ({ method: 'getRecentEvents', args: [...anyPlace(random), random.below(40)] })],
  [14, (random) => ({ method: 'readEvents', args: [...anyPlace(random), anyPage(random)] })],
  [8, (random) => ({ method: 'readEvents', args: [...anyPlace(random), { last: random.below(40) }] })],
  [
    4,
    (random) => ({
      method: 'putTask',
      args: [random.pick(tasks), sampleTask(random.pick(texts) || 'empty')],
    }),
  ],
  [3, (random) => ({ method: 'findTask', args: [random.pick(tasks)] })],
  [3, () => ({ method: 'listTasks', args: [] })],
];
const reopenStep: (typeof stepMakers)[number] = [2, () => ({ method: 'reopen', args: [] })];
const deleteStep: (typeof stepMakers)[number] = [
  2,
  (random) => ({ method: 'deleteDispatch', args: anyPlace(random) }),
];

/** Random steps that a store with these capabilities supports. */
export function createStepSource(random: Random, capabilities: StoreCapabilities): () => Step {
  const makers = [
    ...stepMakers,
    ...(capabilities.durability === 'memory' ? [] : [reopenStep]),
    ...(capabilities.deleteDispatch ? [deleteStep] : []),
  ];
  const total = makers.reduce((sum, [weight]) => sum + weight, 0);
  return () => {
    let rest = random.below(total);
    const chosen = makers.find(([weight]) => {
      rest -= weight;
      return rest < 0;
    });
    return (chosen ?? reopenStep)[1](random);
  };
}

/** Every step that reads, to compare the whole content. */
export function allReads(): readonly Step[] {
  return [
    { method: 'listTasks', args: [] },
    ...tasks.flatMap((task) => [
      { method: 'findTask', args: [task] },
      { method: 'getDispatchEnvelopes', args: [task] },
      ...dispatches.map((dispatch) => ({ method: 'getDispatchEvents', args: [task, dispatch] })),
    ]),
  ];
}

function anyPlace(random: Random): readonly [string, string] {
  return [random.pick(tasks), random.pick(dispatches)];
}

function anyEnvelope(random: Random): DispatchEnvelope {
  return sampleEnvelope(random.pick(dispatches), {
    startedAt: random.pick(times),
    role: random.pick(texts) || 'worker',
    status: random.pick(['running', 'running', 'completed']),
  });
}

function anyUpdates(random: Random): EnvelopeUpdates {
  return {
    ...(random.below(2) === 0 ? { status: random.pick(['running', 'completed', 'crashed']) } : {}),
    ...(random.below(3) === 0 ? { startedAt: random.pick(times) } : {}),
    ...(random.below(4) === 0 ? { title: random.pick(texts) || null } : {}),
    ...(random.below(2) === 0 ? { structuredResult: random.pick([null, { text: random.pick(texts) }]) } : {}),
    ...(random.below(3) === 0 ? { cost: random.pick([null, random.below(100) / 8]) } : {}),
  };
}

/** The content depends on the id, so an event with a used id is mostly a retry and sometimes a conflict. */
function anyEvent(random: Random): CapturedEvent {
  const number = random.below(eventIds);
  const conflicting = random.below(12) === 0;
  const text = texts[number % texts.length] ?? '';
  return valueEvent(`event-${number}`, { number, text, ...(conflicting ? { changed: true } : {}) });
}

function anyBatch(random: Random): readonly CapturedEvent[] {
  return Array.from({ length: random.below(6) }, () => anyEvent(random));
}

function anyPage(random: Random): { readonly after?: number; readonly limit?: number } {
  return {
    ...(random.below(4) === 0 ? {} : { after: random.below(25) - 1 }),
    ...(random.below(4) === 0 ? {} : { limit: 1 + random.below(10) }),
  };
}

/** The openings of a row: the store of the case, and others of the same data. */
export type OpeningName = 'A' | 'B' | 'C';

/** A call of one opening; `open`, `close` and `reopen` are steps, too. An opening is opened at its first step. */
export interface ClaimStep extends Step {
  readonly opening: OpeningName;
  /** Left out if the store has no such method. */
  readonly isOptional?: boolean;
}

interface Opening {
  readonly store: DispatchStoreProvider;
  readonly model: DispatchStoreProvider;
}

/**
 * Runs each step on an opening of the store and on the same opening of the model, and fails at the first one whose outcomes differ.
 * At the end every opening that is open reads everything. `namesOwner`: a refusal because of another opening must name its process.
 */
export async function runClaimSteps(
  context: CaseContext,
  steps: readonly ClaimStep[],
  namesOwner = false,
): Promise<void> {
  const data = emptyModelData();
  const claims: ModelClaims = new Map();
  const openings = new Map<OpeningName, Opening>();
  const outcomes = new Outcomes(namesOwner);
  const open = (store: DispatchStoreProvider): Opening => ({
    store,
    model: createSharedModelStore(data, claims),
  });
  for (const [index, step] of steps.entries()) {
    const { opening: name, method } = step;
    const present = openings.get(name) ?? open(name === 'A' ? context.store : await context.openBeside());
    openings.set(name, present);
    if (method === 'close') {
      await present.store.close();
      await present.model.close();
      openings.delete(name);
    } else if (method === 'reopen') {
      await present.model.close();
      openings.set(name, open(await context.reopen()));
    } else if (method !== 'open' && !(step.isOptional && !(method in present.store))) {
      await outcomes.compare(present, step, `${method} of opening ${name}, step ${index + 1},`);
    }
  }
  for (const [name, opening] of openings)
    for (const read of readsOf(name))
      await outcomes.compare(opening, read, `${read.method} of opening ${name} at the end`);
}

/** Every way to read the dispatch of most rows, and the lists of its task. */
export function readsOf(opening: OpeningName): readonly ClaimStep[] {
  const step = (method: string, ...args: readonly unknown[]) => ({ opening, method, args });
  return [
    step('getDispatchEvents', taskDir, dispatchId),
    step('getRecentEvents', taskDir, dispatchId, 50),
    step('readEvents', taskDir, dispatchId, { limit: 50 }),
    step('getDispatchEnvelope', taskDir, dispatchId),
    step('getDispatchEnvelopes', taskDir),
    step('listTasks'),
  ];
}

/** Compares outcomes of a store and of the model. Epochs are numbers of the store, in the order of those of the model. */
class Outcomes {
  readonly #namesOwner: boolean;
  /** The epochs of the store by those of the model, of each dispatch. */
  readonly #epochs = new Map<string, Map<number, number>>();

  constructor(namesOwner: boolean) {
    this.#namesOwner = namesOwner;
  }

  async compare({ store, model }: Opening, { method, args }: ClaimStep, what: string): Promise<void> {
    const [actual, expected] = [await outcomeOf(store, method, args), await outcomeOf(model, method, args)];
    const key = args.slice(0, 2).join('\n');
    if ('error' in actual || 'error' in expected) {
      sameContent({ error: codeOf(actual) }, { error: codeOf(expected) }, what);
      const isOthers = storeErrors.is(expected.error, 'STORE_LOCKED') && 'owner' in expected.error.details;
      if (this.#namesOwner && isOthers) namesThisProcess(actual.error, what);
    } else if (method === 'claimDispatch') {
      const [claim, modelClaim] = [actual.answer as DispatchClaim, expected.answer as DispatchClaim];
      sameContent(claim.envelope, modelClaim.envelope, `the envelope of ${what}`);
      this.#compareEpochs(key, claim.epoch, modelClaim.epoch, what);
    } else if (/^findClaims?$/.test(method)) {
      sameContent(claimsWithoutOwner(actual.answer, what), claimsWithoutOwner(expected.answer, null), what);
    } else if (/^(get|find|read|list|update|append)/.test(method)) {
      sameContent(actual.answer, expected.answer, what);
    }
    if (method === 'deleteDispatch') this.#epochs.delete(key);
  }

  #compareEpochs(key: string, epoch: number, ofModel: number, what: string): void {
    const known = this.#epochs.get(key) ?? new Map<number, number>();
    this.#epochs.set(key, known);
    assert.ok(
      Number.isSafeInteger(epoch) && epoch >= 1,
      `the epoch of ${what} is ${epoch}, expected a whole number from 1`,
    );
    const same = known.get(ofModel);
    if (same !== undefined) assert.equal(epoch, same, `the epoch of ${what}, a repeated claim,`);
    else {
      const greatest = Math.max(0, ...known.values());
      assert.ok(epoch > greatest, `the epoch of ${what} is ${epoch} after ${greatest}`);
    }
    known.set(ofModel, epoch);
  }
}

interface Outcome {
  readonly answer?: unknown;
  readonly error?: unknown;
}

async function outcomeOf(
  store: DispatchStoreProvider,
  method: string,
  args: readonly unknown[],
): Promise<Outcome> {
  const methods = store as unknown as Record<string, ((...args: readonly unknown[]) => unknown) | undefined>;
  const call = methods[method];
  assert.equal(typeof call, 'function', `the capabilities claim ${method}, but the store has no such method`);
  try {
    return { answer: await call?.apply(store, structuredClone(args) as unknown[]) };
  } catch (error) {
    if (storeErrors.is(error)) return { error };
    throw error;
  }
}

function namesThisProcess(error: unknown, what: string): void {
  if (!storeErrors.is(error)) return;
  const { owner } = error.details as { readonly owner?: unknown };
  const pid = String(process.pid);
  assert.ok(
    error.message.includes(pid),
    `the message of ${what} “${error.message}”, does not name the owner`,
  );
  assert.ok(
    String(owner).includes(pid),
    `details.owner of ${what} is ${String(owner)}, without the process id`,
  );
}

/** Claims without the words for their owners. `what`: those of a store, in which each owner must name this process. */
function claimsWithoutOwner(answer: unknown, what: string | null): unknown[] {
  return [answer].flat().map((claim) => {
    if (claim === null) return null;
    const { owner = '', ...rest } = claim as Partial<ClaimState>;
    if (what !== null)
      assert.ok(
        owner.includes(String(process.pid)),
        `the owner in ${what} is “${owner}”, without the process id`,
      );
    return rest;
  });
}
