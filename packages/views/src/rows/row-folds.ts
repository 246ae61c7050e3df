import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import { isPrompt, isStraightEvent, type LeftBranch, TranscriptTree } from '@hansard/prompt';
import { backTo } from './describe-event.ts';
import { isNoise } from './noise.ts';
import { listsOf, type RowSource } from './read-rows.ts';
import type { Row, RowFold } from './row.ts';
import type { RowGroup } from './row-group.ts';
import { RowReader, type RowReaderOptions } from './row-reader.ts';

/** The log of a dispatch, such as a `DispatchLog`. */
export interface FoldableLog {
  readonly envelope: Pick<DispatchEnvelope, 'branched' | 'folded' | 'forkedFrom'>;
  pages(options?: { readonly after?: number }): AsyncIterable<{ readonly events: readonly CapturedEvent[] }>;
}

/** By event: the dispatch that it is copied from. Null: no event is copied, or the log itself says which are. */
export type CopiedEvents = ReadonlyMap<string, string> | null;

/** Rows that one row stands for. */
export interface FoldedRows {
  /** The position of the first row. */
  readonly position: number;
  /** The positions of the events of all rows, in order. */
  readonly events: readonly number[];
  readonly fold: RowFold;
}

/**
 * Which rows of a log are folded: those of branches that are not current, and those of the head that a fork repeats.
 *
 * 1. A row is folded if all its events are. What an agent said on an abandoned branch, and another agent received, stays.
 * 2. One row stands for the rows of a branch, in the place of the first one. Its `events` are all events of these rows.
 * 3. Invariant: the rows that are shown and those that are folded have each event of the log once.
 */
export class RowFolds {
  /** In the order of their positions. */
  readonly folded: readonly FoldedRows[];
  /** By event: the number of its fold, from 1; 0: none. */
  readonly #foldAt: Uint32Array;
  /** By event: 1 abandoned, 2 parallel, 0 on a current branch; 4 more if it was retracted. */
  readonly #marks: Uint8Array;
  /** By the position of a rewind: that of the last event that its agent keeps. */
  readonly #rewinds: ReadonlyMap<number, number>;

  constructor(
    folded: readonly FoldedRows[],
    foldAt: Uint32Array,
    marks: Uint8Array,
    rewinds: ReadonlyMap<number, number>,
  ) {
    this.folded = folded;
    this.#foldAt = foldAt;
    this.#marks = marks;
    this.#rewinds = rewinds;
  }

  /** How many events of the log were read. */
  get count(): number {
    return this.#foldAt.length;
  }

  /** The fold that has an event. Null: its row is shown. */
  at(position: number): FoldedRows | null {
    const number = this.#foldAt[position] ?? 0;
    return number === 0 ? null : (this.folded[number - 1] ?? null);
  }

  /** Whether an earlier row stands for the row of a position. */
  hides(position: number, isOpen: (fold: FoldedRows) => boolean): boolean {
    const folded = this.at(position);
    return folded !== null && position > folded.position && !isOpen(folded);
  }

  /**
   * A row as it is shown: with its marks, or the row of its fold. Null: an earlier row stands for it. `isOpen`: whether the rows of a fold are shown.
   */
  shown(row: Row, isOpen: (fold: FoldedRows) => boolean): Row | null {
    const folded = this.at(row.position);
    if (folded === null || isOpen(folded)) return this.#marked(row);
    if (folded.position !== row.position) return null;
    const { position, id, timestamp, agent } = row;
    const { events, fold } = folded;
    return {
      ...{ position, id, timestamp, kind: fold.of, word: fold.of, agent, head: '', content: [] },
      ...{ tone: 'dim', isFailed: false, events, fold },
    };
  }

  #marked(unmarked: Row): Row {
    const kept = this.#rewinds.get(unmarked.position);
    const row =
      kept === undefined
        ? unmarked
        : { ...unmarked, content: [{ kind: 'text', text: backTo(kept), style: 'plain' } as const] };
    const left = (this.#marks[row.position] ?? 0) & 3;
    const isRetracted = row.events.some((position) => ((this.#marks[position] ?? 0) & 4) > 0);
    if (left === 0 && !isRetracted) return row;
    return {
      ...row,
      ...(left > 0 && { branch: left === 1 ? 'abandoned' : 'parallel' }),
      ...(isRetracted && { isRetracted }),
    };
  }
}

/**
 * The folds of a log; null if it has no branch, no copies and no retracted event. The log is not read if its envelope has counted every event and
 * knows no branch. `reach`: the reach of the rows. `copied`: the events that are copied from another dispatch.
 */
export async function foldsOf(
  log: FoldableLog,
  reach: RowReaderOptions = {},
  copied: CopiedEvents = null,
): Promise<RowFolds | null> {
  const found = copiesFound(log, copied);
  return found !== null || (await canHaveFolds(log)) ? readFolds(log, reach, found) : null;
}

/** The copied events by which the head of a log is known. A native fork says itself where its head ends. */
export function copiesFound({ envelope }: Pick<FoldableLog, 'envelope'>, copied: CopiedEvents): CopiedEvents {
  return repeatedThrough(envelope.forkedFrom) === null ? copied : null;
}

/** Whether a log can have folds: its envelope knows a branch, or has not counted every event. */
export async function canHaveFolds(log: FoldableLog): Promise<boolean> {
  const { envelope } = log;
  if (envelope.branched === true || repeatedThrough(envelope.forkedFrom) !== null) return true;
  const counted = envelope.folded?.through ?? -1;
  try {
    return await hasLinks(log.pages({ after: counted }));
  } catch (error) {
    // A log that lost events does not have that position. Any other trouble is met again.
    if (counted < 0) throw error;
    return hasLinks(log.pages());
  }
}

async function hasLinks(pages: ReturnType<FoldableLog['pages']>): Promise<boolean> {
  for await (const { events } of pages)
    if (!events.every((event) => isStraightEvent(event) && event.type !== 'session:fork')) return true;
  return false;
}

/** Reads a log for what is folded in it. */
export async function readFolds(
  source: RowSource,
  reach: RowReaderOptions = {},
  copied: CopiedEvents = null,
): Promise<RowFolds> {
  const reading = new FoldReading(copied);
  const reader = new RowReader({ ...reach, groupsOnly: true });
  const grouped = {
    couldMatch: (group: RowGroup) => {
      reading.group(group);
      return false;
    },
    matches: () => false,
  };
  for await (const events of listsOf(source)) {
    for (const event of events) {
      reading.add(event);
      reader.add(event);
    }
    reader.settled(grouped);
  }
  reader.end(grouped);
  return reading.end();
}

/**
 * The positions of the events of one branch, from the beginning of its transcript to an event. Their rows are the branch. Null: no event has the id.
 */
export async function eventsOfBranch(
  source: RowSource,
  eventId: string,
): Promise<ReadonlySet<number> | null> {
  const tree = new TranscriptTree<number>();
  let position = 0;
  for await (const events of listsOf(source))
    for (const event of events) {
      tree.add(event, position);
      position += 1;
    }
  const events = tree.eventsThrough(eventId);
  return events === null ? null : new Set(events);
}

/** The last event that a native fork repeats. Null: the log does not say it, or refers to its origin. */
function repeatedThrough(fork: DispatchEnvelope['forkedFrom']): string | null {
  const isNative = fork?.from.product === 'hansard' && fork.kind !== undefined;
  return isNative ? (fork.from.recordId ?? null) : null;
}

/** Finds the folds of a log, given each event and each row of it. */
export class FoldReading {
  readonly #copied: CopiedEvents;
  /** By event: 1 a copy, 2 a record that a reader skips, 0 anything else. */
  readonly #copyMarks: number[] = [];
  #origin: string | null = null;
  /** By event: the position of its row. */
  readonly #rowOf: number[] = [];
  readonly #tree = new TranscriptTree<number>();
  readonly #isPrompt: boolean[] = [];
  #fork: { readonly position: number; readonly origin: NonNullable<DispatchEnvelope['forkedFrom']> } | null =
    null;
  #copiesEnd = -1;
  /** By position: the id of the last event that the agent keeps. */
  readonly #rewinds = new Map<number, string>();

  constructor(copied: CopiedEvents) {
    this.#copied = copied;
  }

  add(event: CapturedEvent): void {
    const position = this.#rowOf.length;
    this.#rowOf.push(position);
    this.#isPrompt.push(isPrompt(event));
    this.#tree.add(event, position);
    if (isReadableAs(event, 'session:rewind') && event.data.keptThrough !== null)
      this.#rewinds.set(position, event.data.keptThrough);
    if (this.#copied !== null) {
      this.#noteCopy(event, position, this.#copied.get(event.id));
      return;
    }
    if (this.#fork === null && isReadableAs(event, 'session:fork'))
      this.#fork = { position, origin: event.data };
    else if (this.#copiesEnd === -1 && repeatedThrough(this.#fork?.origin) === event.id)
      this.#copiesEnd = position;
  }

  /** Takes a row that no later event can change. */
  group({ position, events }: Pick<RowGroup, 'position' | 'events'>): void {
    for (const at of events) this.#rowOf[at] = position;
  }

  /** The head ends with the last copied event other than a model call, whose record can come later. */
  #noteCopy(event: CapturedEvent, position: number, origin: string | undefined): void {
    this.#copyMarks.push(
      origin !== undefined ? 1 : isNoise(event) || event.type.startsWith('session:') ? 2 : 0,
    );
    if (origin === undefined || event.type === 'agent:inference') return;
    this.#origin = origin;
    this.#copiesEnd = position;
  }

  end(): RowFolds {
    const count = this.#rowOf.length;
    const marks = new Uint8Array(count);
    const groupAt = new Uint32Array(count);
    const left = this.#tree.leftBranches();
    for (const [at, { state, values }] of left.entries())
      for (const position of values) {
        marks[position] = state === 'abandoned' ? 1 : 2;
        groupAt[position] = at + 1;
      }
    for (const position of this.#tree.retracted()) marks[position] = (marks[position] ?? 0) | 4;
    const copies = left.length + 1;
    const first = (this.#fork?.position ?? 0) + 1;
    for (let position = this.#copied === null ? first : 0; position <= this.#copiesEnd; position += 1)
      if (this.#copied === null || this.#copyMarks[position] !== 0) groupAt[position] = copies;
    // A model call is of the row of its message, also after the end of the head.
    for (const [position, mark] of this.#copyMarks.entries()) if (mark === 1) groupAt[position] = copies;
    const isShown = new Uint8Array(count);
    for (const [position, row] of this.#rowOf.entries()) if (groupAt[position] === 0) isShown[row] = 1;
    const byGroup = new Map<number, number[]>();
    for (const [position, row] of this.#rowOf.entries()) {
      if (isShown[row] === 1) continue;
      const group = groupAt[row] ?? 0;
      const events = byGroup.get(group);
      if (events === undefined) byGroup.set(group, [position]);
      else events.push(position);
    }
    const foldAt = new Uint32Array(count);
    const folded = [...byGroup].map(([group, events], at): FoldedRows => {
      for (const position of events) foldAt[position] = at + 1;
      const branch = left[group - 1];
      const fold = branch === undefined ? this.#foldOfCopies(events) : this.#foldOfBranch(branch, events);
      return { position: events[0] ?? 0, events, fold };
    });
    const rewinds = [...this.#rewinds].flatMap(([position, id]): [number, number][] => {
      const kept = this.#tree.valueOf(id);
      return kept === null ? [] : [[position, kept]];
    });
    return new RowFolds(folded, foldAt, marks, new Map(rewinds));
  }

  #foldOfBranch({ agentId, state, values, address }: LeftBranch<number>, events: readonly number[]): RowFold {
    return {
      ...{ of: 'branch', agentId, state: state === 'abandoned' ? state : 'parallel' },
      prompts: events.filter((position) => this.#isPrompt[position]).length,
      ...{ events: events.length, end: values.at(-1) ?? 0, address },
    };
  }

  #foldOfCopies(events: readonly number[]): RowFold {
    const { sessionId = '', dispatchId } = this.#fork?.origin.from ?? {};
    return { of: 'copies', origin: this.#origin ?? dispatchId ?? sessionId, events: events.length };
  }
}
