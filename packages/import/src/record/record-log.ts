import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  type Dispatch,
  type DispatchRef,
  type DispatchStore,
  excludedTask,
  type NewDispatch,
} from '@hansard/dispatch';
import {
  type CapturedEvent,
  type DispatchEnvelope,
  type DispatchSource,
  definedOnly,
  type Fidelity,
  type HansardError,
  type OpenCall,
  redactionsOf,
  toTimestamp,
} from '@hansard/events';
import { factsOf, isRewritten, type PriceTable } from '@hansard/facts';
import {
  type LogRest,
  type LogSummary,
  type OpenLog,
  type ReadOpenLogOptions,
  storeErrors,
} from '@hansard/provider';
import type { GitCheckpoints } from '../find/git-checkpoints.ts';
import { importErrors } from '../import-errors.ts';
import {
  defaultQuietAfterMs,
  endIfQuiet,
  endOf,
  leave,
  type QuietClock,
  type QuietEnd,
  sourceOf,
  withBalance,
  withTooLarge,
} from './end-of-log.ts';
import { entryTypes, LostRows } from './lost-rows.ts';

export interface RecordLogOptions {
  /** Absent: that of an existing dispatch, or else `full`. */
  readonly fidelity?: Fidelity | undefined;
  /** Ends the import after a batch. The dispatch is then `aborted`, until another import completes it. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((bytes: number) => void) | undefined;
  /** Reads the log even if its files are as the last complete import left them. */
  readonly reread?: boolean | undefined;
  /** Absent: `standardPrices`. `false`: no estimates. */
  readonly prices?: PriceTable | false | undefined;
  /** After how many milliseconds without a record a log without an end has ended. Absent: an hour. */
  readonly quietAfterMs?: number | undefined;
  /** Milliseconds since 1970. Absent: the system clock. */
  readonly now?: (() => number) | undefined;
  /** Records the log even if its dispatch was deleted and excluded. It is then excluded no longer. */
  readonly again?: boolean | undefined;
  /** The id of the run of an import, which a new dispatch keeps. */
  readonly run?: string | undefined;
  /** The machine on which the files lie. Absent: the envelope names none, or keeps what it names. */
  readonly machine?: string | undefined;
  /** The sessions of a Git repository, if the files were written from it. */
  readonly checkpoints?: GitCheckpoints | undefined;
}

/** A log whose files have not changed since the last complete import. Nothing was read. */
export interface UnchangedRecord {
  readonly kind: 'unchanged';
  /** How this import ended the dispatch, because its log is quiet. Null: it did not. */
  readonly quietEnd: QuietEnd | null;
}

export interface RecordedLog {
  readonly kind: 'recorded';
  readonly summary: LogSummary;
  /** How many events are new in the store. */
  readonly added: number;
  /** Events whose ids have other content in the store, by their ids in the log: the first 20. They were added under other ids. */
  readonly rewritten: readonly string[];
  readonly rewrittenCount: number;
  /** How many events have other content in the store because they were redacted there. They stay as they are. */
  readonly redactedCount: number;
  /** How many events the store has of the dispatch that the log does not have; null after an interruption, when that is not known. */
  readonly notInLog: number | null;
  readonly isInterrupted: boolean;
  /** Whether the last import was continued: then the diagnostics are those of what is new in the log. */
  readonly isContinued: boolean;
}

const mostNamed = 20;

export const importWriter = { owner: 'an import', isMapped: true } as const;

/** The role of a dispatch whose log names none. */
export const importedRole = 'imported';

/**
 * Records an opened log in its dispatch. Existing events stay as they are, so a log that has grown is brought up to date.
 * Nothing is read if its files have not changed since the last complete import. Ends a dispatch without an end whose log is quiet.
 * @throws IMPORT_FIDELITY_FIXED, errors of the store and of the reader
 */
export async function recordLog(
  store: DispatchStore,
  taskDir: string,
  log: OpenLog,
  {
    fidelity,
    signal = new AbortController().signal,
    onProgress,
    prices,
    reread = false,
    quietAfterMs = defaultQuietAfterMs,
    now = Date.now,
    again = false,
    run,
    machine,
    checkpoints,
  }: RecordLogOptions = {},
): Promise<
  | RecordedLog
  | UnchangedRecord
  | {
      readonly kind: 'excluded';
    }
> {
  const ref = { taskDir, dispatchId: log.dispatchId };
  const existing = (await store.findDispatch(ref))?.envelope ?? null;
  const kept = fidelity ?? existing?.fidelity ?? 'full';
  if (existing !== null && existing.fidelity !== kept) throw otherFidelity(log, existing.fidelity);
  const files = sourceFiles(log.files);
  const clock = { now, quietAfterMs };
  const { parentDispatchId } = log;
  if (existing?.parentDispatchId === null && parentDispatchId !== undefined)
    await nameParent(store, ref, parentDispatchId);
  const place = placeOf(log, machine, checkpoints, existing);
  const isOwn = place.checkpoints === undefined || existing?.source?.repository !== undefined;
  if (existing !== null && (!isOwn || (!reread && areSameFiles(existing.source?.files ?? [], files)))) {
    if (!isPlacedAt(existing.source, place)) await notePlace(store, ref, place);
    return { kind: 'unchanged', quietEnd: await endIfQuiet(store, taskDir, existing, clock, importWriter) };
  }
  if (existing === null && !(await mayRecord(store, log.dispatchId, again))) return { kind: 'excluded' };
  const table = await tableOf(prices);
  const writerOptions = { ...importWriter, prices: table };
  await using dispatch =
    existing === null
      ? await store.beginDispatch(taskDir, newDispatch(log, kept, { ...place, run }), writerOptions)
      : await store.openDispatch(ref, { write: true, ...writerOptions });
  if (existing !== null && !isPlacedAt(existing.source, place)) await placeIn(dispatch, place);
  const before = existing === null ? 0 : await dispatch.count();
  const recording = { dispatch, log, files, existing, before, table, signal, clock };
  const readOptions = { fidelity: kept, signal, ...definedOnly({ onProgress }) };
  const rest = reread ? null : await recordRest(recording, readOptions);
  return rest ?? (await recordWhole(recording, readOptions));
}

/** Names the parent of a dispatch that was imported before its parent was known. */
async function nameParent(store: DispatchStore, ref: DispatchRef, parentDispatchId: string): Promise<void> {
  await using dispatch = await store.openDispatch(ref, { write: true, ...importWriter });
  await dispatch.update({ parentDispatchId });
  await dispatch.release();
}

type Place = Pick<DispatchSource, 'machine' | 'path' | 'checkpoints' | 'repository'>;

function placeOf(
  { files: [path = ''] }: OpenLog,
  machine: string | undefined,
  checkpoints: GitCheckpoints | undefined,
  existing: DispatchEnvelope | null,
): Place {
  const linked = checkpoints?.files.get(path)?.map(({ id, commits }) => ({ id, commits: [...commits] }));
  if (linked === undefined || checkpoints === undefined)
    return machine === undefined ? {} : { machine, path };
  const { repository } = checkpoints;
  return { checkpoints: linked, ...(existing === null ? { repository } : {}) };
}

/** Whether an envelope has the place of a log, if that is known, and does not say that the log is gone from it. */
function isPlacedAt(source: DispatchSource | null, { machine, path, checkpoints }: Place): boolean {
  if (checkpoints !== undefined) return isDeepStrictEqual(source?.checkpoints, checkpoints);
  if (machine === undefined) return true;
  return source?.machine === machine && source.path === path && source.gone === undefined;
}

async function notePlace(store: DispatchStore, ref: DispatchRef, place: Place): Promise<void> {
  await using dispatch = await store.openDispatch(ref, { write: true, ...importWriter });
  await placeIn(dispatch, place);
  await dispatch.release();
}

async function placeIn(dispatch: Dispatch, place: Place): Promise<void> {
  const { source } = dispatch.envelope;
  if (source === null) return;
  const { gone, ...facts } = source;
  const kept = place.machine === undefined ? definedOnly({ gone }) : {};
  await dispatch.update({ source: { ...facts, ...kept, ...place } });
}

/** Whether a log without a dispatch may have one: it is not excluded, or is `again` no longer. */
async function mayRecord(store: DispatchStore, dispatchId: string, again: boolean): Promise<boolean> {
  const exclusion = { taskDir: excludedTask, dispatchId };
  if ((await store.findDispatch(exclusion)) === null) return true;
  if (again) await store.deleteDispatch(exclusion);
  return again;
}

interface Recording {
  readonly dispatch: Dispatch;
  readonly log: OpenLog;
  readonly files: DispatchSource['files'];
  readonly existing: DispatchEnvelope | null;
  /** How many events the dispatch had. */
  readonly before: number;
  readonly table: PriceTable | null;
  readonly signal: AbortSignal;
  readonly clock: QuietClock;
}

/**
 * Records what the log has since its last complete import. Null if the log has to be read as a whole; what was recorded until
 * then is the same in the whole log.
 */
async function recordRest(
  { dispatch, log, files, existing, before, table, signal, clock }: Recording,
  options: ReadOpenLogOptions,
): Promise<RecordedLog | null> {
  const rest = existing === null ? null : await restOf(log, existing);
  if (existing === null || rest === null || rest.summary().events !== before) return null;
  if (!(await appendRest(dispatch, rest, options))) return null;
  const summary = withBalance(withTooLarge(rest.summary(), await dispatch.fold()));
  const isInterrupted = signal.aborted;
  const source = await sourceOf(log, isInterrupted ? [] : files, dispatch, summary);
  const openCalls = openCallsOf(summary, table);
  const end = { ...endOf(log, summary, existing), source, openCalls };
  await leave(dispatch, isInterrupted ? 'aborted' : summary.status, end, clock);
  const added = (await dispatch.count()) - before;
  const notInLog = isInterrupted ? null : 0;
  return {
    kind: 'recorded',
    summary,
    added,
    rewritten: [],
    rewrittenCount: 0,
    redactedCount: 0,
    notInLog,
    isInterrupted,
    isContinued: true,
  };
}

/** Records every event of the log that the store does not have. */
async function recordWhole(
  { dispatch, log, files, existing, before, table, signal, clock }: Recording,
  options: ReadOpenLogOptions,
): Promise<RecordedLog> {
  const rewritten = new Set<string>();
  const redacted = new RedactedEvents(dispatch);
  let rewrittenCount = 0;
  let appended = 0;
  const versions = log.isMutable === true ? await ItemVersions.of(dispatch) : null;
  const lost = versions === null ? await LostRows.of(dispatch, log.files[0], files, existing) : null;
  const append = (events: readonly CapturedEvent[]) =>
    appendEvents(dispatch, log, events, redacted, (id) => {
      rewrittenCount += 1;
      if (rewritten.size < mostNamed) rewritten.add(id);
    });
  try {
    for await (const events of log.read(options)) {
      if (signal.aborted) break;
      await (versions === null ? append(lost?.take(events) ?? events) : versions.append(events));
      appended += events.length;
    }
    if (lost !== null && !signal.aborted) await append(lost.end());
  } catch (error) {
    await dispatch.end({
      ...endOf(log, log.summary(), existing),
      source: await sourceOf(log, [], dispatch),
      openCalls: await openCallsBeside(dispatch, log.summary(), table, existing),
      status: 'aborted',
      ended: null,
    });
    throw error;
  }
  let summary = withBalance(log.summary());
  summary = (versions ?? lost)?.reportIn(summary) ?? summary;
  const isInterrupted = signal.aborted;
  // The events of a log have ids of their own, so the events of a new dispatch need no count.
  const added = existing === null ? appended : (await dispatch.count()) - before;
  const notInLog = isInterrupted ? null : await countOthers(dispatch, before + added, summary.events);
  // If the store has all of the log and more, the end of the log is not that of the dispatch.
  const isNew = existing === null || added > rewrittenCount;
  if (isNew || (!isInterrupted && notInLog === 0)) {
    const source = await sourceOf(log, isInterrupted ? [] : files, dispatch, summary);
    const openCalls =
      existing === null || notInLog === 0
        ? openCallsOf(summary, table)
        : await openCallsBeside(dispatch, summary, table, existing);
    const end = { ...endOf(log, summary, existing), source, openCalls };
    summary = withTooLarge(summary, await dispatch.fold());
    await leave(dispatch, isInterrupted ? 'aborted' : summary.status, end, clock);
  }
  return {
    kind: 'recorded',
    summary,
    added,
    rewritten: [...rewritten],
    rewrittenCount,
    redactedCount: redacted.kept,
    notInLog,
    isInterrupted,
    isContinued: false,
  };
}

/** The standard table is loaded when it is needed first. */
export async function tableOf(prices: PriceTable | false | undefined): Promise<PriceTable | null> {
  if (prices === false) return null;
  return prices ?? (await import('../prices/standard-prices.ts')).standardPrices;
}

function newDispatch(
  { dispatchId, parentDispatchId, role = importedRole, startedAt, cwd, format }: OpenLog,
  fidelity: Fidelity,
  source: Place & { readonly run: string | undefined },
): NewDispatch {
  return {
    dispatchId,
    role,
    startedAt: startedAt === null ? null : toTimestamp(startedAt),
    fidelity,
    source: { format, files: [], ...definedOnly(source) },
    ...definedOnly({ cwd, parentDispatchId }),
  };
}

/** How many of the stored events the log does not have. Every event of the log is stored, some also under another id. */
async function countOthers(dispatch: Dispatch, stored: number, ofLog: number): Promise<number> {
  return stored <= ofLog ? 0 : Math.max(0, stored - ofLog - (await countRewritten(dispatch)));
}

function otherFidelity({ files, dispatchId }: OpenLog, fidelity: Fidelity): HansardError {
  const [file] = files;
  return importErrors.error(
    'IMPORT_FIDELITY_FIXED',
    `${file} was imported as ${dispatchId} with the fidelity ${fidelity}, which a dispatch keeps.`,
    { details: { file, dispatchId, fidelity } },
  );
}

type SourceFiles = DispatchSource['files'];

/** The files of a log as they are now. Called before they are read, so that what grows meanwhile is seen by the next import. */
function sourceFiles(paths: readonly string[]): SourceFiles {
  return paths.map((path) => {
    const { size, mtimeMs } = statSync(path);
    return { name: basename(path), bytes: size, modifiedAt: mtimeMs };
  });
}

/** Whether these are the files that the last complete import read, in size and time. */
function areSameFiles(one: SourceFiles, other: SourceFiles): boolean {
  return (
    one.length === other.length &&
    one.every(({ name, bytes, modifiedAt }, at) => {
      const file = other[at];
      return name === file?.name && bytes === file.bytes && modifiedAt === file.modifiedAt;
    })
  );
}

/** What a log has since its last complete import. Null where it cannot be continued. */
async function restOf(log: OpenLog, { source }: DispatchEnvelope): Promise<LogRest | null> {
  if (source?.kept === undefined || log.continueAfter === undefined) return null;
  return (await log.continueAfter(source.kept)) ?? null;
}

/**
 * Appends the rest of a log. False if the log has to be read as a whole: the rest refers to something before it, or an event
 * of it is already stored.
 */
async function appendRest(dispatch: Dispatch, rest: LogRest, options: ReadOpenLogOptions): Promise<boolean> {
  try {
    for await (const events of rest.read(options)) {
      if (options.signal?.aborted) return true;
      await dispatch.append(events);
    }
  } catch (error) {
    if (storeErrors.is(error, 'STORE_EVENT_CONFLICT')) return false;
    throw error;
  }
  if (options.signal?.aborted) return true;
  return !rest.isLost() && (await dispatch.count()) === rest.summary().events;
}

/** The open calls of a log, with estimates from a table. Null: it has none. */
function openCallsOf({ openCalls = [] }: LogSummary, table: PriceTable | null): OpenCall[] | null {
  return listed(openCalls.flatMap((event) => openCallOf(event, table)));
}

/**
 * The open calls of a dispatch after an import of a copy that lacks some of its events: those of the copy and those that the
 * dispatch had, without the calls that are events. Of two states of a call, the larger one counts.
 */
async function openCallsBeside(
  dispatch: Dispatch,
  summary: LogSummary,
  table: PriceTable | null,
  before: DispatchEnvelope | null,
): Promise<OpenCall[] | null> {
  const calls = new Map((before?.openCalls ?? []).map((call) => [call.id, call]));
  for (const call of openCallsOf(summary, table) ?? []) {
    const known = calls.get(call.id);
    if (known === undefined || known.usage.outputTokens <= call.usage.outputTokens) calls.set(call.id, call);
  }
  if (calls.size === 0) return null;
  for await (const { event } of dispatch.events({ types: ['agent:inference'] })) calls.delete(event.id);
  return listed([...calls.values()]);
}

function openCallOf(
  event: NonNullable<LogSummary['openCalls']>[number],
  table: PriceTable | null,
): OpenCall[] {
  const { id, agentId, messageId, timestamp, isMore = false } = event;
  const { models, prices } = factsOf([event], { prices: table });
  return (models ?? []).map((usage) => ({
    id,
    ...(agentId === undefined ? {} : { agentId }),
    ...(messageId === undefined ? {} : { messageId }),
    timestamp,
    usage: isMore ? { ...usage, calls: 0 } : usage,
    prices,
  }));
}

function listed(calls: readonly OpenCall[]): OpenCall[] | null {
  return calls.length === 0 ? null : [...calls];
}

/**
 * Appends events of a log. An event that already exists stays as it is. If the store has other content under its id, the
 * event is added under an id of its own, and `onRewritten` gets the id that it has in the log. An event of a message that the source holds
 * twice is not added, and none that was redacted in the store.
 */
async function appendEvents(
  dispatch: Dispatch,
  log: OpenLog,
  events: readonly CapturedEvent[],
  redacted: RedactedEvents,
  onRewritten: (id: string) => void,
): Promise<void> {
  try {
    await dispatch.append(events);
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_EVENT_CONFLICT')) throw error;
    for (const event of events) {
      if (log.isInSeveralRecords?.(event.id) === true) await appendIfNew(dispatch, event);
      else if ((await appendIfNew(dispatch, event)) || (await redacted.keeps(event.id))) continue;
      else if (await appendUnder(dispatch, event)) onRewritten(event.id);
    }
  }
}

const longestId = 128;
const mostVersions = 1_000;

/** How many events of a dispatch were added under an id of their own because theirs was taken. */
async function countRewritten(dispatch: Dispatch): Promise<number> {
  let count = 0;
  for await (const { events } of dispatch.pages()) {
    for (const { id } of events) if (isRewritten(id)) count += 1;
  }
  return count;
}

/** Whether the store has the event now: not if it has other content under its id. */
async function appendIfNew(dispatch: Dispatch, event: CapturedEvent): Promise<boolean> {
  try {
    await dispatch.append(event);
    return true;
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_EVENT_CONFLICT')) throw error;
    return false;
  }
}

/** The events of a dispatch that were redacted in its store. Another version of such an event would bring the secret back. */
class RedactedEvents {
  readonly #dispatch: Dispatch;
  #ids: Promise<ReadonlySet<string>> | null = null;
  /** How many events of the log were left out because of it. */
  kept = 0;

  constructor(dispatch: Dispatch) {
    this.#dispatch = dispatch;
  }

  async keeps(id: string): Promise<boolean> {
    this.#ids ??= this.#read();
    const isKept = (await this.#ids).has(id.slice(0, longestId));
    if (isKept) this.kept += 1;
    return isKept;
  }

  async #read(): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for await (const { events } of this.#dispatch.pages())
      for (const { id, data } of events)
        if (JSON.stringify(data).includes('[REDACTED:')) ids.add(id.replace(/:rewritten-\d+$/, ''));
    return ids;
  }
}

/**
 * Records the items of a source that is written again as a whole. An event names its item by its id. A changed item is another event of the same
 * name, with a version: `ID:rewritten-2`. It retracts the version before, so that no later prompt has both. An item that was redacted
 * is frozen: later versions are left out.
 */
class ItemVersions {
  readonly #dispatch: Dispatch;
  /** The versions of the items that have more than one. */
  readonly #latest = new Map<string, number>();
  readonly #redacted = new Set<string>();
  #changed = 0;
  readonly #frozen = new Set<string>();

  static async of(dispatch: Dispatch): Promise<ItemVersions> {
    const versions = new ItemVersions(dispatch);
    for await (const { events } of dispatch.pages())
      for (const { id, data } of events) {
        const [item, version] = itemOf(id);
        if (version > (versions.#latest.get(item) ?? 1)) versions.#latest.set(item, version);
        if (redactionsOf(data) !== null) versions.#redacted.add(item);
      }
    return versions;
  }

  private constructor(dispatch: Dispatch) {
    this.#dispatch = dispatch;
  }

  async append(events: readonly CapturedEvent[]): Promise<void> {
    const now = events.map((event) => versionOf(event, this.#latest.get(event.id) ?? 1));
    try {
      await this.#dispatch.append(now);
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_EVENT_CONFLICT')) throw error;
      for (const event of events) await this.#appendOne(event);
    }
  }

  async #appendOne(event: CapturedEvent): Promise<void> {
    const known = this.#latest.get(event.id) ?? 1;
    for (let version = known; ; version += 1) {
      if (version > known && this.#redacted.has(event.id)) {
        this.#frozen.add(event.id);
        return;
      }
      try {
        await this.#dispatch.append(versionOf(event, version));
        if (version > known) this.#changed += 1;
        this.#latest.set(event.id, version);
        return;
      } catch (error) {
        if (!storeErrors.is(error, 'STORE_EVENT_CONFLICT') || version === mostVersions) throw error;
      }
    }
  }

  reportIn(summary: LogSummary): LogSummary {
    const { counts } = summary;
    const named = { new_version: this.#changed, redacted_before: this.#frozen.size };
    const added = Object.fromEntries(Object.entries(named).filter(([, count]) => count > 0));
    return { ...summary, counts: { ...counts, ...added } };
  }
}

/** The item that an event is a version of. */
function itemOf(id: string): readonly [item: string, version: number] {
  if (!isRewritten(id)) return [id, 1];
  const at = id.lastIndexOf(':rewritten-');
  return [id.slice(0, at), Number(id.slice(at + ':rewritten-'.length))];
}

function versionOf(event: CapturedEvent, version: number): CapturedEvent {
  if (version === 1) return event;
  const retracts = entryTypes.test(event.type) ? { retracts: [rewrittenId(event.id, version - 1)] } : {};
  return { ...event, ...retracts, id: rewrittenId(event.id, version) };
}

function rewrittenId(id: string, version: number): string {
  const suffix = version === 1 ? '' : `:rewritten-${version}`;
  return `${id.slice(0, longestId - suffix.length)}${suffix}`;
}

/** Appends an event, under another id if the store has other content under its own. Returns whether it had. */
async function appendUnder(dispatch: Dispatch, event: CapturedEvent): Promise<boolean> {
  for (let version = 1; ; version += 1) {
    try {
      await dispatch.append({ ...event, id: rewrittenId(event.id, version) });
      return version > 1;
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_EVENT_CONFLICT') || version === mostVersions) throw error;
    }
  }
}
