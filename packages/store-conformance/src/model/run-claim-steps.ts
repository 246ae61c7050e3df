import assert from 'node:assert/strict';
import {
  type ClaimState,
  type DispatchClaim,
  type DispatchStoreProvider,
  storeErrors,
} from '@hansard/provider';
import { sameContent } from '../checks/expectations.ts';
import { dispatchId, taskDir } from '../checks/prepared-store.ts';
import type { CaseContext } from '../run/case-context.ts';
import type { Step } from './model-steps.ts';
import { createSharedModelStore, emptyModelData, type ModelClaims } from './model-store.ts';

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

const codeOf = ({ error }: Outcome): string => (storeErrors.is(error) ? error.code : 'none');

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
