import type { DispatchEnvelope } from '@hansard/events';
import {
  addParts,
  type DateKeys,
  dateKeys,
  type LoggedPart,
  LoggedUsage,
  projectOf,
  quarterMs,
  type UsageFigures,
  type UsagePart,
  UsageSums,
  usageBlocks,
  usageParts,
} from '@hansard/facts';
import { type StoreError, storeErrors } from '@hansard/provider';
import type { DispatchEntry, ListedDispatch, UnreadableDispatch } from '../store/dispatch-entry.ts';
import type { DispatchStore } from '../store/dispatch-store.ts';
import { CopiesAmong, type FindCopiesOptions } from './find-copies.ts';

/**
 * What usage is summed up by. A session is named `TASKDIR/ID`. A block is five hours of a Claude subscription, from the full hour of its first call. The envelopes are
 * enough for all keys but `agent` and `tool`, for which every event is read.
 */
export const usageKeys = [
  'day',
  'week',
  'month',
  'block',
  'session',
  'project',
  'task',
  'model',
  'agent',
  'tool',
] as const;

export type UsageKey = (typeof usageKeys)[number];

export interface UsageOptions extends FindCopiesOptions {
  /** A row for each value of these. Absent: `['model']`. With `tool`, only the calls of tools are counted. */
  readonly by?: readonly UsageKey[];
  /** Only the dispatches of this task. Absent: of every task. */
  readonly taskDir?: string;
  /** Only these entries of a listing. Absent: all. */
  readonly dispatches?: Iterable<DispatchEntry>;
  /** Milliseconds since 1970. Only what was used from this time on, moved to the beginning of its quarter of an hour. */
  readonly since?: number;
  /** Milliseconds since 1970. Only what was used before this time, moved in the same way. */
  readonly until?: number;
  /** The zone of days, weeks and months. Absent: `local`. */
  readonly zone?: 'utc' | 'local';
  /** Called before each page of events is counted, with the number of dispatches that were read, and of all. */
  readonly onPage?: (read: number, all: number) => void | Promise<void>;
}

/** What was used under the values of the keys. */
export interface UsageOfKeys extends UsageFigures {
  /** In the order of the keys. A period is named by its beginning. '': not known, or the time is not recorded. */
  readonly values: readonly string[];
}

export interface UsageSummary {
  /** Those that used the most first. */
  readonly rows: readonly UsageOfKeys[];
  /** The sum of the rows, with each dispatch once. */
  readonly total: UsageFigures;
  /** The envelopes of the dispatches that are counted, without what is counted with another dispatch. */
  readonly envelopes: readonly DispatchEnvelope[];
  /** How many calls of models a dispatch has that are counted with another one, because it began with a copy. */
  readonly copiedCalls: number;
  /** How many answers have the id of an answer of another dispatch and other content. They are counted. */
  readonly differing: number;
  /** What `since` and `until` leave out because its time is not recorded. Null: nothing. */
  readonly untimed: UsageFigures | null;
  /** The dispatches that cannot be read. They are not counted. */
  readonly unreadable: readonly UnreadableDispatch[];
}

type Part = UsagePart & Partial<Pick<LoggedPart, 'agent' | 'tool'>>;

/** Between the values of keys. No value has it: names have no control characters, and times none. */
const between = '\u0000';

/**
 * Sums up what the dispatches of a store used, each call at its own time and without the child dispatches of its dispatch. Estimates
 * are never in the cost. What several dispatches have because one began with a copy of another's records is counted once. A dispatch that cannot be
 * read is reported in the answer.
 * @throws STORE_UNAVAILABLE if the dispatches cannot be listed
 */
export async function usageOf(
  store: Pick<DispatchStore, 'dispatches'>,
  options: UsageOptions = {},
): Promise<UsageSummary> {
  const { by = ['model'], taskDir, zone = 'local', onPage } = options;
  const since = quarterOf(options.since ?? Number.NEGATIVE_INFINITY);
  const until = quarterOf(options.until ?? Number.POSITIVE_INFINITY);
  const listed = options.dispatches ?? (await listAll(store, taskDir));
  const unreadable: UnreadableDispatch[] = [];
  const readable: ListedDispatch[] = [];
  for (const entry of listed) {
    if ('error' in entry) unreadable.push(entry);
    else if (taskDir === undefined || entry.taskDir === taskDir) readable.push(entry);
  }
  const counted = await withoutCopies(readable, options);
  const keys = new Keys(by, zone, counted.entries);
  const sums = new UsageSums();
  const envelopes: DispatchEnvelope[] = [];
  const isOfAllTimes = since === -Infinity && until === Infinity;
  const isOfDispatches = isOfAllTimes && by.every(isOfWhole);
  const untimed = new UsageSums();
  for (const [at, entry] of counted.entries.entries()) {
    const parts = await partsOf(entry, counted.copies, by, () => onPage?.(at, readable.length));
    if ('error' in parts) {
      unreadable.push(parts);
      continue;
    }
    const used = isOfAllTimes ? parts : parts.filter(({ at }) => at !== null && at >= since && at < until);
    if (!isOfAllTimes)
      addParts(
        untimed,
        parts.filter(({ at }) => at === null),
        () => '',
      );
    const [one] = used;
    if (one === undefined) continue;
    envelopes.push(entry.envelope);
    const keyOf = (part: Part) => keys.valuesOf(part, entry).join(between);
    addParts(sums, used, keyOf);
    // The time of a dispatch is not known by quarters.
    if (isOfDispatches) sums.add(keyOf(one), { durationMs: entry.envelope.usage?.durationMs ?? null });
  }
  return {
    rows: sums.rows('most').map(({ key, ...figures }) => ({ values: key.split(between), ...figures })),
    total: { ...sums.total, dispatches: envelopes.length },
    envelopes,
    copiedCalls: counted.copiedCalls,
    differing: counted.differing,
    untimed: untimed.rows('key').length === 0 ? null : untimed.total,
    unreadable,
  };
}

/** The dispatches with their envelopes without copies. */
async function withoutCopies(readable: readonly ListedDispatch[], options: FindCopiesOptions) {
  const copies = new CopiesAmong(readable, options);
  const entries: ListedDispatch[] = [];
  let copiedCalls = 0;
  let differing = 0;
  for (const entry of readable) {
    const counted = await copies.without(entry);
    copiedCalls += counted?.copies.calls ?? 0;
    differing += counted?.copies.differing ?? 0;
    entries.push(counted === null ? entry : withEnvelope(entry, counted.envelope));
  }
  return { entries, copies, copiedCalls, differing };
}

function withEnvelope(entry: ListedDispatch, envelope: DispatchEnvelope): ListedDispatch {
  const { taskDir, dispatchId, lastActiveAt } = entry;
  return {
    ...{ taskDir, dispatchId, lastActiveAt, envelope },
    get log() {
      return entry.log;
    },
  };
}

function quarterOf(time: number): number {
  return Number.isFinite(time) ? Math.floor(time / quarterMs) * quarterMs : time;
}

async function listAll(store: Pick<DispatchStore, 'dispatches'>, taskDir: string | undefined) {
  const entries: DispatchEntry[] = [];
  for await (const entry of store.dispatches(taskDir === undefined ? {} : { taskDir })) entries.push(entry);
  return entries;
}

function needsLog(by: readonly UsageKey[]): boolean {
  return by.includes('agent') || by.includes('tool');
}

/** Whether a dispatch has one value of the key. */
function isOfWhole(key: UsageKey): boolean {
  return key === 'task' || key === 'project' || key === 'session';
}

/** The parts of a dispatch. One that is damaged in the middle adds nothing. */
async function partsOf(
  entry: ListedDispatch,
  copies: CopiesAmong,
  by: readonly UsageKey[],
  onPage: () => void | Promise<void>,
): Promise<readonly Part[] | UnreadableDispatch> {
  const { taskDir, dispatchId, envelope } = entry;
  if (!needsLog(by)) return usageParts(envelope);
  const used = new LoggedUsage(envelope);
  const { copied, raised } = (await copies.eventsOf({ taskDir, dispatchId })) ?? {};
  try {
    for await (const { events } of entry.log.pages()) {
      await onPage();
      for (const event of events)
        if (copied?.has(event.id) !== true) used.observe(raised?.get(event.id) ?? event);
    }
  } catch (error) {
    const codes = ['STORE_CORRUPT', 'STORE_NEWER', 'STORE_MISPLACED', 'STORE_INVALID_PATH'] as const;
    if (!codes.some((code) => storeErrors.is(error, code))) throw error;
    return { taskDir, dispatchId, error: error as StoreError };
  }
  return by.includes('tool') ? used.parts.filter(({ tool }) => tool !== null) : used.parts;
}

/** The values of keys for the parts of dispatches. */
class Keys {
  readonly #by: readonly UsageKey[];
  readonly #dates: DateKeys;
  readonly #blocks: ReadonlyMap<number, number>;

  /** A block depends on what was used before, also outside of the limits. */
  constructor(by: readonly UsageKey[], zone: 'utc' | 'local', dispatches: readonly ListedDispatch[]) {
    this.#by = by;
    this.#dates = dateKeys(zone);
    this.#blocks = by.includes('block') ? usageBlocks(timesOf(dispatches)) : new Map();
  }

  valuesOf({ at, model, agent = '', tool }: Part, { taskDir, envelope }: ListedDispatch): string[] {
    return this.#by.map((key) => {
      if (key === 'model') return model;
      if (key === 'agent') return agent;
      if (key === 'tool') return tool ?? '';
      if (key === 'task') return taskDir;
      if (key === 'session') return `${taskDir}/${envelope.dispatchId}`;
      if (key === 'project') return projectOf(taskDir, envelope);
      if (at === null) return '';
      if (key === 'block') return new Date(this.#blocks.get(at) ?? at).toISOString();
      return this.#dates[key](at);
    });
  }
}

function* timesOf(dispatches: readonly ListedDispatch[]): Generator<number> {
  for (const { envelope } of dispatches) for (const { at } of usageParts(envelope)) if (at !== null) yield at;
}
