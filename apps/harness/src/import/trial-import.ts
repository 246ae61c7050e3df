import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Harness, listAll } from '@hansard/compose';
import {
  CopiesAmong,
  type DispatchRef,
  type DispatchStore,
  excludedTask,
  openDispatchStore,
} from '@hansard/dispatch';
import {
  addSpending,
  formatCount,
  formatSpending,
  nothingSpent,
  type Spending,
  spendingOf,
} from '@hansard/facts';
import type { ImportReport, UnchangedLog } from '@hansard/import';
import { importLine } from './import-answer.ts';

/** What an import would do with one session. */
interface TrialResult {
  readonly state: 'new' | 'grown' | 'unchanged' | 'excluded';
  /** How many events would be new in the store. */
  readonly added: number;
  readonly spending: Spending;
}

type Imported = ImportReport | UnchangedLog;

/** An import into a store in a temporary folder, beside the store that it would record in. */
export async function openTrial({ store }: Harness): Promise<Trial> {
  const { openJsonFileStore } = await import('@hansard/store-jsonfile');
  const folder = await mkdtemp(join(tmpdir(), 'hansard-dry-run-'));
  return new Trial(openDispatchStore(openJsonFileStore({ root: folder })), store, folder);
}

export class Trial {
  readonly store: DispatchStore;
  readonly #real: DispatchStore;
  readonly #folder: string;
  /** By task and dispatch: a session can have several files. */
  readonly #results = new Map<string, TrialResult & { readonly count: number }>();

  constructor(store: DispatchStore, real: DispatchStore, folder: string) {
    this.store = store;
    this.#real = real;
    this.#folder = folder;
  }

  async row(imported: Imported): Promise<object> {
    const { state, added, spending } = await this.#take(imported);
    const { costUsd, estimatedUsd } = spending;
    return { dryRun: true, state, added, costUsd, estimatedUsd };
  }

  async line(imported: Imported): Promise<string> {
    const { state, added, spending } = await this.#take(imported);
    const cost = formatSpending(spending);
    const line = importLine(imported).replace(/, events: .*/, '');
    return `${state}: ${line}, events: ${added} new${cost === null ? '' : `, cost: ${cost}`}`;
  }

  /** What the whole import would do. A call that is copied from another one of the sessions counts once. */
  async notes(): Promise<string[]> {
    const results = [...this.#results.values()];
    const entries = await listAll(this.store, {});
    const copies = new CopiesAmong(entries);
    const spent: Spending[] = [];
    for (const entry of entries) {
      if ('error' in entry) continue;
      if (this.#results.get(`${entry.taskDir} ${entry.dispatchId}`)?.state !== 'new') continue;
      spent.push(spendingOf((await copies.without(entry))?.envelope ?? entry.envelope));
    }
    const cost = formatSpending(spent.reduce(addSpending, nothingSpent));
    const others = otherStates.flatMap(([name, words]) => {
      const count = results.filter(({ state }) => state === name).length;
      return count === 0 ? [] : [`, ${count} ${words}`];
    });
    const ofCost = cost === null ? '' : `, which cost ${cost}`;
    return [
      `hansard: nothing was recorded (--dry-run): ${formatCount(spent.length, 'new session')}${ofCost}${others.join('')}.`,
    ];
  }

  async close(): Promise<void> {
    await this.store.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Compares one session with the store. */
  async #take({ taskDir, dispatchId }: Imported): Promise<TrialResult> {
    const ref = { taskDir, dispatchId };
    const key = `${taskDir} ${dispatchId}`;
    const trial = await this.store.openDispatch(ref);
    const count = await trial.count();
    const spending = spendingOf(trial.envelope);
    const known = this.#results.get(key);
    // Several files of one session: what the store has, and what the files before would add.
    const stored = await (await this.#real.findDispatch(ref))?.count();
    const before = known === undefined ? stored : Math.max(known.count, stored ?? 0);
    const added = Math.max(0, count - (before ?? 0));
    const state: TrialResult['state'] =
      before === undefined ? await this.#stateOfNew(ref) : added > 0 ? 'grown' : 'unchanged';
    const result = { state, added: state === 'excluded' ? 0 : added, spending };
    this.#results.set(key, {
      ...result,
      state: stateOfAll(known?.state, state),
      count: Math.max(count, before ?? 0),
    });
    return result;
  }

  async #stateOfNew({ dispatchId }: DispatchRef): Promise<'new' | 'excluded'> {
    const exclusion = { taskDir: excludedTask, dispatchId };
    return (await this.#real.findDispatch(exclusion)) === null ? 'new' : 'excluded';
  }
}

const otherStates = [
  ['grown', 'grown'],
  ['unchanged', 'unchanged'],
  ['excluded', 'deleted before and left out'],
] as const;

/** The state of a session after one more of its files. */
function stateOfAll(
  before: TrialResult['state'] | undefined,
  state: TrialResult['state'],
): TrialResult['state'] {
  return before === undefined || before === 'unchanged' ? state : before;
}
