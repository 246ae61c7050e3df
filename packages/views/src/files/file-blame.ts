import { type FileStep, linesWritten, placeStep } from './file-step.ts';
import { keptLines, unclear, uniqueIn, written } from './kept-lines.ts';
import { isSameContent, type Lines, type LineTable } from './line-table.ts';

const nothing = keyOf(null);

/** What wrote a line. */
interface LineOrigin<By> {
  readonly by: By;
  /** The number of the line, from 1, in the content that the edit wrote. */
  readonly line: number;
  /** How often the file was then changed by something that is not on record, which did not change this line. */
  readonly gaps: number;
}

/** One line of a file; `origin` is null if what wrote it is not on record. */
export interface BlamedLine<By> {
  readonly text: string;
  readonly origin: LineOrigin<By> | null;
}

/** What the replay of a step did to its file. */
export interface ReplayedStep {
  /** Whether the content after the step is known. Otherwise the step wrote lines that nobody can find. */
  readonly isPlaced: boolean;
  /** How many lines it wrote, and how many it took away. */
  readonly written: number;
  readonly removed: number;
  /** How many lines changed before it without a record; null: the content is the replayed one, or nothing came before. */
  readonly gap: number | null;
}

interface FileState<By> {
  readonly lines: Lines;
  readonly origins: readonly (LineOrigin<By> | null)[];
  /** The session of the last step. */
  readonly session: string;
  /** How many lines the last step did not keep. */
  readonly fresh: number;
}

/** The state of a recorded content, and how many of its lines changed without a record; null: it is the replayed content, or the first one. */
interface Met<By, State = FileState<By>> {
  readonly state: State;
  readonly gap: number | null;
}

/**
 * Replays recorded edits of files, and says what wrote each line. The rules, of which each is a fact or says nothing:
 *
 * 1. An edit wrote the lines that its record says it wrote.
 * 2. The first recorded content of a file is of unknown origin, except what its edit wrote.
 * 3. If the recorded content before an edit is the replayed one, every other line keeps its origin.
 * 4. Otherwise an unrecorded change lies between two recorded contents. A line keeps its origin if every shortest difference of the two keeps it.
 *    It must also be a distinctive line, or lie between two distinctive lines that were kept with it. A distinctive line occurs once in each content,
 *    and has at least ten letters or digits. All other lines are not on record. The same holds for an edit whose record has only its two contents.
 *    Such an edit wrote what every difference inserts, except at the beginning and the end of the file.
 * 5. Where the order of two sessions is not known, no line keeps its origin from one to the other across such a change.
 * 6. A deletion ends every origin, and a recorded renaming keeps them.
 */
export class FileBlame<By> {
  readonly #table: LineTable;
  readonly #isUnsure: boolean;
  readonly #files = new Map<string, FileState<By>>();

  /** `isUnsure`: the order of the sessions is not known where their contents do not chain. */
  constructor(table: LineTable, isUnsure = false) {
    this.#table = table;
    this.#isUnsure = isUnsure;
  }

  /** The files that exist after the steps so far. */
  get paths(): readonly string[] {
    return [...this.#files.keys()];
  }

  add(step: FileStep, by: By, session = ''): ReplayedStep {
    const known = this.#files.get(step.from ?? step.path);
    if (step.from !== null) this.#files.delete(step.from);
    const { state: before, gap } = this.#before(step, known, session);
    const state = this.#after(step, before, by, session);
    if (state === undefined) {
      if (before !== undefined) this.#files.set(step.path, before);
      return { isPlaced: false, written: 0, removed: 0, gap };
    }
    if (state === null) this.#files.delete(step.path);
    else this.#files.set(step.path, { ...state, session });
    const kept = state === null ? 0 : state.lines.length - state.fresh;
    const own = state?.origins.filter((origin) => origin?.by === by).length ?? 0;
    if (step.isSeen) return { isPlaced: true, written: 0, removed: 0, gap };
    return { isPlaced: true, written: own, removed: Math.max(0, (before?.lines.length ?? 0) - kept), gap };
  }

  /** The lines of a file after the steps so far; null if there is no file, or no content of it is recorded. */
  linesOf(path: string): readonly BlamedLine<By>[] | null {
    const state = this.#files.get(path);
    return state === undefined ? null : this.#blamed(state);
  }

  /** The lines of a content that the file has now. `isReplayed`: it is the content of the replay. */
  linesNow(
    path: string,
    content: string,
  ): { readonly lines: readonly BlamedLine<By>[]; readonly isReplayed: boolean } {
    const known = this.#files.get(path);
    const { state, gap } = this.#meet(known, this.#table.linesOf(content), null);
    return { lines: this.#blamed(state), isReplayed: known !== undefined && gap === null };
  }

  #before(
    step: FileStep,
    known: FileState<By> | undefined,
    session: string,
  ): Met<By, FileState<By> | undefined> {
    const content = step.isSeen ? step.after : step.before;
    if (content === undefined) return { state: known, gap: null };
    return this.#meet(known, content ?? new Uint32Array(), session);
  }

  /** The state after a step; null: no file; undefined: not known. */
  #after(
    step: FileStep,
    before: FileState<By> | undefined,
    by: By,
    session: string,
  ): FileState<By> | null | undefined {
    if (step.after === null) return null;
    if (step.isSeen) return before;
    if (step.before !== undefined && before !== undefined)
      return step.after === undefined ? undefined : this.#edited(before, step.after, step.sources, by);
    const placed = before === undefined ? null : placeStep(this.#table, before.lines, step);
    if (placed !== null && before !== undefined)
      return this.#edited(before, placed.after, placed.sources, by);
    return step.after === undefined ? undefined : this.#overwritten(before, step.after, step, by, session);
  }

  #edited(before: FileState<By>, after: Lines, stated: Int32Array | null, by: By): FileState<By> {
    const sources = stated ?? this.#kept(before, after, true);
    const origins = Array.from(sources, (source, at) => {
      if (source >= 0) return before.origins[source] ?? null;
      return source === written ? { by, line: at + 1, gaps: 0 } : null;
    });
    return { ...before, lines: after, origins, fresh: sources.filter((source) => source < 0).length };
  }

  /** A file was written over a content that is not recorded. */
  #overwritten(
    before: FileState<By> | undefined,
    after: Lines,
    { hunks }: FileStep,
    by: By,
    session: string,
  ): FileState<By> {
    const { origins } = this.#meet(before, after, session).state;
    const isWritten = hunks === null ? null : linesWritten(this.#table, after, hunks);
    return {
      lines: after,
      session,
      fresh: isWritten?.filter(Boolean).length ?? after.length,
      origins: origins.map((origin, at) => {
        const isOwn = isWritten === null ? origin === null : isWritten[at] === 1;
        return isOwn ? { by, line: at + 1, gaps: 0 } : origin;
      }),
    };
  }

  /** The state of a content that is recorded after a replayed one. `session`: that of the record; null: it is the content of today. */
  #meet(known: FileState<By> | undefined, lines: Lines, session: string | null): Met<By> {
    const own = session ?? known?.session ?? '';
    const unknown = { lines, session: own, fresh: 0, origins: Array.from(lines, () => null) };
    if (known === undefined) return { state: unknown, gap: null };
    if (isSameContent(known.lines, lines)) return { state: known, gap: null };
    if (this.#isUnsure && known.session !== session) return { state: unknown, gap: lines.length };
    const kept = this.#kept(known, lines, false);
    const origins = Array.from(kept, (source) => {
      const origin = known.origins[source] ?? null;
      return origin === null ? null : { ...origin, gaps: origin.gaps + 1 };
    });
    return { state: { ...unknown, origins }, gap: kept.filter((source) => source < 0).length };
  }

  /**
   * What a change kept of which only the two contents are known: without lines that can be equal by chance. One edit neither begins nor ends with
   * lines that it does not change, so those before and after it need no line of their own.
   */
  #kept({ lines: before, origins }: FileState<By>, after: Lines, isRecorded: boolean): Int32Array {
    const kept = keptLines(before, after, (line, other) => origins[line]?.by === origins[other]?.by);
    const isUnique = uniqueIn(before, after);
    for (let start = 0, end = 0; start < kept.length; start = end) {
      const source = kept[start] as number;
      end = start + 1;
      if (source < 0) continue;
      while (kept[end] === source + end - start) end += 1;
      const isOwn = (line: number) => this.#table.isOfOwn(line) && isUnique(line);
      const run = after.subarray(start, end);
      const first = run.findIndex(isOwn);
      const last = run.findLastIndex(isOwn);
      const isHead = isRecorded && start === 0 && source === 0;
      const isTail = isRecorded && end === after.length && kept[end - 1] === before.length - 1;
      if (isHead || isTail) continue;
      kept.fill(unclear, start, first < 0 ? end : start + first);
      kept.fill(unclear, start + last + 1, end);
    }
    return kept;
  }

  #blamed({ lines, origins }: FileState<By>): readonly BlamedLine<By>[] {
    return Array.from(lines, (line, at) => ({ text: this.#table.textOf(line), origin: origins[at] ?? null }));
  }
}

/** A step of one session. */
export interface SessionStep {
  readonly step: FileStep;
  /** Milliseconds since 1970; null: not recorded. */
  readonly time: number | null;
}

export interface ReplayOrder<Step extends SessionStep> {
  readonly steps: readonly Step[];
  /** Whether the contents do not chain without a break, and times are missing or another order has no more breaks. */
  readonly isUnsure: boolean;
}

/**
 * The order in which the steps of several sessions are replayed. Each session keeps its own order. Between sessions the recorded times give
 * it, unless another order of the contents has fewer breaks: then clocks differ or times are missing.
 */
export function replayOrder<Step extends SessionStep>(
  sessions: readonly (readonly Step[])[],
  /** The path and the content that the file has at the end. */
  end: { readonly path: string; readonly content: Lines } | null,
): ReplayOrder<Step> {
  const queues = sessions.filter((steps) => steps.length > 0).map((steps) => steps.map(keyed));
  const last = end === null ? null : { path: end.path, content: keyOf(end.content) };
  const timed = merge(queues, false, last);
  if (queues.length < 2 || timed.breaks === 0) return { steps: timed.steps, isUnsure: false };
  const chained = merge(queues, true, last);
  const isBetter = chained.breaks < timed.breaks;
  const { steps, breaks } = isBetter ? chained : timed;
  const isTimed = steps.every(({ time }) => time !== null);
  const isOther = chained.breaks <= breaks && chained.steps.some((step, at) => step !== timed.steps[at]);
  return { steps, isUnsure: breaks > 0 && (isOther || !isTimed) };
}

/** A step with the keys of its contents. Two contents with one key only make an order that has more breaks. */
interface Keyed<Step extends SessionStep> {
  readonly one: Step;
  readonly time: number;
  readonly path: string;
  readonly from: string;
  /** Undefined: not recorded. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isNew: boolean;
  /** What another step has to leave before. Undefined: nothing. */
  readonly needed: string | undefined;
}

function keyed<Step extends SessionStep>(one: Step): Keyed<Step> {
  const { path, from, before, after, isSeen } = one.step;
  const known = isSeen ? after : before;
  const content = known === undefined ? undefined : keyOf(known);
  return {
    one,
    time: one.time ?? Number.NEGATIVE_INFINITY,
    path,
    from: from ?? path,
    before: content,
    after: after === undefined ? undefined : keyOf(after),
    isNew: known === null,
    needed: content === undefined || content === nothing ? undefined : `${content} ${from ?? path}`,
  };
}

/** No file has the content of an empty one. */
function keyOf(content: Lines | null): string {
  let hash = 0;
  for (const line of content ?? []) hash = (Math.imul(hash, 31) + line) | 0;
  return `${content?.length ?? 0} ${hash}`;
}

function merge<Step extends SessionStep>(
  sessions: readonly (readonly Keyed<Step>[])[],
  isChained: boolean,
  end: { readonly path: string; readonly content: string } | null,
): { readonly steps: readonly Step[]; readonly breaks: number } {
  const queues = sessions.map((steps) => ({ steps, at: 0, head: steps[0] as Keyed<Step> }));
  const contents = new Map<string, string>();
  const awaited = isChained ? new AwaitedContents(sessions.flat()) : null;
  const rank = (head: Keyed<Step>) => {
    if (awaited === null || follows(head, contents) === true) return 0;
    return awaited.isAwaited(head) ? 2 : 1;
  };
  const steps: Step[] = [];
  let breaks = 0;
  while (queues.length > 0) {
    let [next, best] = [0, Number.POSITIVE_INFINITY];
    for (const [at, { head }] of queues.entries()) {
      const own = rank(head);
      if (own < best || (own === best && head.time < (queues[next]?.head.time ?? 0)))
        [next, best] = [at, own];
    }
    const queue = queues[next] as (typeof queues)[number];
    const { head } = queue;
    if (follows(head, contents) === false) breaks += 1;
    if (head.from !== head.path) contents.delete(head.from);
    if (head.after === undefined) contents.delete(head.path);
    else contents.set(head.path, head.after);
    awaited?.count(head, -1);
    steps.push(head.one);
    queue.at += 1;
    if (queue.at === queue.steps.length) queues.splice(next, 1);
    else queue.head = queue.steps[queue.at] as Keyed<Step>;
  }
  const last = end === null ? undefined : contents.get(end.path);
  if (end !== null && last !== undefined && last !== end.content) breaks += 1;
  return { steps, breaks };
}

/** Whether the content before a step equals the result of the earlier steps; null if one of the two is not recorded. */
function follows(step: Keyed<SessionStep>, contents: ReadonlyMap<string, string>): boolean | null {
  const content = contents.get(step.from);
  if (step.before === undefined || (content === undefined && !step.isNew)) return null;
  return step.before === (content ?? nothing);
}

/** The contents that steps leave which were not taken yet: a step that needs one of them waits. */
class AwaitedContents {
  readonly #left = new Map<string, number>();

  constructor(steps: readonly Keyed<SessionStep>[]) {
    for (const step of steps) this.count(step, 1);
  }

  isAwaited({ needed }: Keyed<SessionStep>): boolean {
    return needed !== undefined && (this.#left.get(needed) ?? 0) > 0;
  }

  count({ one, path, after }: Keyed<SessionStep>, count: number): void {
    if (after === undefined || one.step.isSeen) return;
    const key = `${after} ${path}`;
    this.#left.set(key, (this.#left.get(key) ?? 0) + count);
  }
}
