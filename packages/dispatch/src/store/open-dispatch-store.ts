import {
  addRedactions,
  type CapturedEvent,
  type DispatchEnvelope,
  type DispatchLetter,
  newEvent,
  type TaskRecord,
} from '@hansard/events';
import {
  assertTaskDir,
  type ClaimState,
  contractVersion,
  type DispatchStoreProvider,
  type DispatchVerification,
  describeContractProblem,
  type ListDispatchesOptions,
  type RemainsScope,
  type SearchEventsOptions,
  type SearchHit,
  type StopWatching,
  type StoreCapabilities,
  type StoreRepair,
  storeErrors,
  type TaskListing,
  type WatchScope,
} from '@hansard/provider';
import type { Redactor } from '@hansard/redaction';
import { WriteOrder } from '../async/write-queue.ts';
import { assertCount, assertNotInbox, assertScope, checkFollow, checkListing } from '../check-arguments.ts';
import { checkTask } from '../intake/envelope-intake.ts';
import type { DispatchRedaction } from '../redaction/dispatch-redaction.ts';
import type { Dispatch, NewDispatch, WriterOptions } from './dispatch.ts';
import { OpenStoreContext } from './dispatch-claims.ts';
import type { DispatchEntries, DispatchEntry, TaskFollowItem, TaskFollowOptions } from './dispatch-entry.ts';
import type { DispatchLog } from './dispatch-log.ts';
import type { DispatchRef } from './dispatch-ref.ts';
import type {
  DeleteDispatchOptions,
  DispatchStore,
  LetterState,
  NewLetter,
  ReadAccess,
  StoredLetter,
  WriteAccess,
} from './dispatch-store.ts';
import { follow } from './follow.ts';
import type { FollowItem, FollowOptions } from './follow-item.ts';
import { followTask } from './follow-task.ts';
import { ProviderDispatch, unsupported } from './provider-dispatch.ts';
import type { RetriedProvider } from './retries.ts';
import type { DispatchStoreOptions } from './store-options.ts';
import { StoredDispatch } from './stored-dispatch.ts';
import { type EntrySource, entriesOf } from './stored-entries.ts';

/**
 * Opens a provider as a {@link DispatchStore}, with its checks and followers. Reads and writes nothing by itself.
 * @throws STORE_CONTRACT_VERSION where the provider implements another version of the contract
 */
export function openDispatchStore(
  provider: DispatchStoreProvider,
  options: DispatchStoreOptions = {},
): DispatchStore {
  assertContract(provider);
  return new CheckedStore(provider, options);
}

/** Programs that only record load neither letters nor redactions of a stored log. */
const loadLetters = () => import('./letters.ts');

function assertContract({ contract }: { readonly contract: unknown }): void {
  const problem = describeContractProblem(contract);
  if (problem === null) return;
  throw storeErrors.error('STORE_CONTRACT_VERSION', `The store ${problem}`, {
    details: { contract, expected: contractVersion },
  });
}

/** The reference of a call that names a dispatch by a reference, or by its `taskDir` and `dispatchId`. */
function toReference(first: DispatchRef | string, second: unknown): DispatchRef {
  return typeof first === 'string' ? { taskDir: first, dispatchId: second as string } : first;
}

class CheckedStore implements DispatchStore {
  readonly capabilities: StoreCapabilities;
  readonly #provider: RetriedProvider;
  readonly #context: OpenStoreContext;
  readonly #taskWrites = new WriteOrder();
  readonly #onRead: DispatchStoreOptions['onRead'];
  readonly #entries: EntrySource;
  #closing: Promise<void> | null = null;

  constructor(provider: DispatchStoreProvider, options: DispatchStoreOptions) {
    this.capabilities = provider.capabilities;
    this.#onRead = options.onRead;
    this.#context = new OpenStoreContext(provider, options);
    this.#provider = this.#context.provider;
    this.#entries = { context: this.#context, onRead: this.#onRead };
  }

  async beginDispatch(
    taskDir: string,
    dispatch: NewDispatch,
    options: WriterOptions = {},
  ): Promise<Dispatch> {
    this.#context.assertOpen();
    assertTaskDir(taskDir);
    assertNotInbox(taskDir);
    return this.#context.claims.begin(taskDir, dispatch, options);
  }

  openDispatch(dispatch: DispatchRef, access: WriteAccess): Promise<Dispatch>;
  openDispatch(dispatch: DispatchRef, access?: ReadAccess): Promise<DispatchLog>;
  openDispatch(taskDir: string, dispatchId: string, access: WriteAccess): Promise<Dispatch>;
  openDispatch(taskDir: string, dispatchId: string, access?: ReadAccess): Promise<DispatchLog>;
  async openDispatch(
    first: DispatchRef | string,
    second?: WriteAccess | ReadAccess | string,
    third?: WriteAccess | ReadAccess,
  ): Promise<Dispatch | DispatchLog> {
    this.#context.assertOpen();
    const dispatch = toReference(first, second);
    const access = typeof first === 'string' ? third : (second as WriteAccess | ReadAccess | undefined);
    this.#onRead?.(dispatch);
    if (access?.write === true) {
      assertNotInbox(dispatch.taskDir);
      return this.#context.claims.claim(dispatch, access);
    }
    const stored = new ProviderDispatch(this.#provider, dispatch, access?.skipDamaged);
    return new StoredDispatch(this.#context, stored, await stored.readEnvelope());
  }

  async findDispatch(dispatch: DispatchRef): Promise<DispatchLog | null> {
    const stored = this.#at(dispatch);
    const envelope = await stored.findEnvelope();
    return envelope === null ? null : new StoredDispatch(this.#context, stored, envelope);
  }

  async getDispatchEnvelopes(taskDir: string): Promise<DispatchEnvelope[]> {
    this.#context.assertOpen();
    return this.#provider.getDispatchEnvelopes(taskDir);
  }

  async listDispatches(options: ListDispatchesOptions = {}): Promise<DispatchEntries> {
    this.#context.assertOpen();
    return entriesOf(this.#entries, await this.#provider.listDispatches(checkListing(options)));
  }

  async *dispatches({
    limit,
    ...options
  }: ListDispatchesOptions = {}): AsyncGenerator<DispatchEntry, undefined> {
    let { after } = options;
    for (let left = limit ?? Number.POSITIVE_INFINITY; left > 0; ) {
      const { dispatches, next } = await this.listDispatches({
        ...options,
        ...(after !== undefined && { after }),
        ...(limit !== undefined && { limit: left }),
      });
      yield* dispatches;
      if (next === null) return;
      after = next;
      left -= dispatches.length;
    }
  }

  getDispatchEnvelope(dispatch: DispatchRef): Promise<DispatchEnvelope | null>;
  getDispatchEnvelope(taskDir: string, dispatchId: string): Promise<DispatchEnvelope | null>;
  async getDispatchEnvelope(first: DispatchRef | string, second?: string): Promise<DispatchEnvelope | null> {
    return this.#at(toReference(first, second)).findEnvelope();
  }

  getDispatchEvents(dispatch: DispatchRef): Promise<CapturedEvent[]>;
  getDispatchEvents(taskDir: string, dispatchId: string): Promise<CapturedEvent[]>;
  async getDispatchEvents(first: DispatchRef | string, second?: string): Promise<CapturedEvent[]> {
    return this.#at(toReference(first, second)).readAll();
  }

  getRecentEvents(dispatch: DispatchRef, count: number): Promise<CapturedEvent[]>;
  getRecentEvents(taskDir: string, dispatchId: string, count: number): Promise<CapturedEvent[]>;
  async getRecentEvents(
    first: DispatchRef | string,
    second: string | number,
    third?: number,
  ): Promise<CapturedEvent[]> {
    const stored = this.#at(toReference(first, second));
    const count = (typeof first === 'string' ? third : second) as number;
    assertCount('count', count, 0);
    return stored.readRecent(count);
  }

  follow(dispatch: DispatchRef, options?: FollowOptions): AsyncIterable<FollowItem>;
  follow(
    task: { readonly taskDir: string; readonly dispatchId?: undefined },
    options?: TaskFollowOptions,
  ): AsyncIterable<TaskFollowItem>;
  follow(
    { taskDir, dispatchId }: { readonly taskDir: string; readonly dispatchId?: string | undefined },
    options: FollowOptions | TaskFollowOptions = {},
  ): AsyncIterable<FollowItem | TaskFollowItem> {
    checkFollow(options);
    if (dispatchId !== undefined)
      return follow(this.#context, this.#at({ taskDir, dispatchId }), options as FollowOptions);
    this.#context.assertOpen();
    assertTaskDir(taskDir);
    return followTask(this.#entries, taskDir, options as TaskFollowOptions);
  }

  async putTask(taskDir: string, task: TaskRecord): Promise<void> {
    this.#context.assertOpen();
    const { redaction } = this.#context;
    await redaction?.ready();
    const record = redaction?.task(redaction.checked(task, checkTask)) ?? checkTask(task);
    await this.#taskWrites.run(taskDir, () => this.#provider.putTask(taskDir, record));
  }

  async findTask(taskDir: string): Promise<TaskRecord | null> {
    this.#context.assertOpen();
    return this.#provider.findTask(taskDir);
  }

  async listTasks(): Promise<TaskListing[]> {
    this.#context.assertOpen();
    return this.#provider.listTasks();
  }

  async searchEvents(query: string, options: SearchEventsOptions = {}): Promise<SearchHit[]> {
    this.#context.assertOpen();
    assertScope(options);
    if (options.limit !== undefined) assertCount('limit', options.limit, 1);
    const provider = this.#provider;
    if (!provider.capabilities.search || provider.searchEvents === undefined)
      throw unsupported('search', 'read the events and filter them, or use a store with search');
    return provider.searchEvents(query, options);
  }

  async watch(scope: WatchScope, onChange: () => void): Promise<StopWatching> {
    this.#context.assertOpen();
    assertScope(scope);
    const provider = this.#provider;
    if (!provider.capabilities.watch || provider.watch === undefined)
      throw unsupported(
        'watch',
        'list the dispatches again from time to time, or use a store that can watch',
      );
    return provider.watch(scope, onChange);
  }

  async sendLetter(dispatch: DispatchRef, letter: NewLetter): Promise<DispatchLetter> {
    this.#context.assertOpen();
    const { writeLetter } = await loadLetters();
    return writeLetter(this.#context, dispatch, letter);
  }

  async *readLetters(of: RemainsScope = {}): AsyncGenerator<StoredLetter, undefined> {
    this.#context.assertOpen();
    assertScope(of);
    const { readLetters } = await loadLetters();
    yield* readLetters(this.#context, of);
  }

  async findLetter(dispatch: DispatchRef, letter: DispatchLetter, after?: number): Promise<LetterState> {
    const stored = this.#at(dispatch);
    const { takenOf } = await loadLetters();
    // Before the log: an owner that ends has taken what it takes.
    const { status, pending = [] } = await stored.readEnvelope();
    if ((await takenOf(stored, [letter], after)).size > 0) return 'taken';
    const { answer } = letter;
    const waits =
      answer === undefined ? status === 'running' : pending.some(({ callId }) => callId === answer.callId);
    return waits ? 'waiting' : 'refused';
  }

  async deleteDispatch(dispatch: DispatchRef, { exclude }: DeleteDispatchOptions = {}): Promise<void> {
    this.#context.assertOpen();
    const { deleteWithLetters } = await loadLetters();
    await this.#context.claims.without(dispatch, 'its deletion', async (stored) => {
      const exclusions = await import('./exclusions.ts');
      if (this.capabilities.deleteDispatch && (exclude ?? (await exclusions.mayBeImported(stored))))
        await exclusions.exclude(this.#context, stored.dispatchId);
      await deleteWithLetters(this.#context, stored);
    });
    this.#context.notifiers.notify(dispatch);
  }

  async findClaim(dispatch: DispatchRef): Promise<ClaimState | null> {
    const stored = this.#at(dispatch);
    if (this.capabilities.writers === 'dispatch') return stored.findClaim();
    await stored.readEnvelope();
    return this.#context.claims.stateOf(dispatch);
  }

  async findClaims(taskDir: string, dispatchIds: readonly string[]): Promise<(ClaimState | null)[]> {
    this.#context.assertOpen();
    if (this.capabilities.writers !== 'dispatch')
      return dispatchIds.map((dispatchId) => this.#context.claims.stateOf({ taskDir, dispatchId }));
    const provider = this.#provider;
    if (provider.findClaims === undefined) throw unsupported('writers', 'use a store with `findClaims`');
    return provider.findClaims(taskDir, dispatchIds);
  }

  async breakClaim(dispatch: DispatchRef): Promise<void> {
    await this.#context.claims.without(dispatch, 'a user who breaks the claim', (stored) =>
      stored.breakClaim(),
    );
  }

  async verifyDispatch(dispatch: DispatchRef): Promise<DispatchVerification> {
    return this.#at(dispatch).verify();
  }

  async acceptLoss(dispatch: DispatchRef): Promise<DispatchVerification> {
    this.#context.assertOpen();
    assertNotInbox(dispatch.taskDir);
    const found = await this.#context.claims.without(dispatch, 'a repair', async (stored) => {
      await this.#context.redaction?.ready();
      const { damages, wholeEvents } = await stored.verify();
      const lostEvents = damages.some((damage) => damage.lostEvents === null)
        ? null
        : damages.reduce((sum, damage) => sum + (damage.lostEvents ?? 0), 0);
      const problem = 'stored events were damaged, and a user accepted their loss';
      const data = { problem, wholeEvents, lostEvents, damages: damages.map((damage) => ({ ...damage })) };
      return stored.acceptLoss(this.#context.intake.take(newEvent('system:notice', data)));
    });
    this.#context.notifiers.notify(dispatch);
    return found;
  }

  async redactDispatch(dispatch: DispatchRef, redactor: Redactor): Promise<DispatchRedaction> {
    this.#context.assertOpen();
    assertNotInbox(dispatch.taskDir);
    const { redactLetters, redactStored } = await import('../redaction/redact-stored.ts');
    const { readLetters } = await loadLetters();
    const redaction = await this.#context.claims.without(dispatch, 'a redaction', async (stored) => {
      await this.#context.redaction?.ready();
      const own = await redactStored(stored, redactor, this.#context.intake);
      const letters = readLetters(this.#context, stored);
      const { counts, remains, ...changed } = await redactLetters(this.#context, stored, letters, redactor);
      const sums = { ...own.counts };
      addRedactions(sums, counts);
      return { ...own, ...changed, counts: sums, remains: [...new Set([...own.remains, ...remains])] };
    });
    if (redaction.events > 0 || redaction.hasEnvelope) this.#context.notifiers.notify(dispatch);
    return redaction;
  }

  async removeRemains(): Promise<readonly string[] | null> {
    this.#context.assertOpen();
    return (await this.#provider.removeRemains?.()) ?? null;
  }

  async findRemains(scope: RemainsScope = {}): Promise<readonly string[]> {
    this.#context.assertOpen();
    return (await this.#provider.findRemains?.(scope)) ?? [];
  }

  async adoptDispatches(taskDir: string, dispatchId?: string): Promise<readonly string[]> {
    this.#context.assertOpen();
    assertNotInbox(taskDir);
    const adopted = (await this.#provider.adoptDispatches?.(taskDir, dispatchId)) ?? [];
    for (const id of adopted) this.#context.notifiers.notify({ taskDir, dispatchId: id });
    return adopted;
  }

  async getRepairs(): Promise<StoreRepair[]> {
    this.#context.assertOpen();
    return this.#provider.getRepairs?.() ?? [];
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#context.close();
    await this.#taskWrites.settled();
    await this.#provider.close();
  }

  /** @throws STORE_CLOSED */
  #at(dispatch: DispatchRef): ProviderDispatch {
    this.#context.assertOpen();
    this.#onRead?.(dispatch);
    return new ProviderDispatch(this.#provider, dispatch);
  }
}
