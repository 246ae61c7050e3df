import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { isSystemError } from '@hansard/store-kit';
import { fitHead } from '../head/head-codec.ts';
import { type HeadChanges, HeadKeeper } from '../head/head-keeper.ts';
import { PositionIndex } from '../lines/position-index.ts';
import { readAllEvents } from '../lines/read-events.ts';
import { currentMoment, elapsedSince, type Moment } from '../locks/moment.ts';
import type { AppendWriter } from './append-writer.ts';
import type { DispatchContext } from './dispatch-context.ts';
import { assertInPlace, type DispatchFile, type DispatchName } from './dispatch-file.ts';
import { DispatchReader, type ReadWork } from './dispatch-reader.ts';
import { checkInterval } from './fence-dispatch.ts';
import { copyBytes, replaceByCopy } from './replace-by-copy.ts';

/** Milliseconds. A call waits no longer for another process. */
const longestWait = 100;
const waitBetween = 2;

/** The parts of a claimed dispatch, opened by `beginWriting`. */
export interface WriterParts {
  readonly file: DispatchFile;
  readonly events: AppendWriter;
  readonly head: HeadKeeper;
  /** A time before the last check of the claim and of the place of the file. */
  readonly checkedAt: Moment;
}

/** A claimed dispatch that is open for writing. */
export class DispatchWriter {
  readonly #context: DispatchContext;
  readonly #name: DispatchName;
  readonly #events: AppendWriter;
  readonly #positions = new PositionIndex();
  #file: DispatchFile;
  #head: HeadKeeper;
  #checkedAt: Moment;
  #isAcknowledgedLater = false;
  /** Whether a call has reported that the file is not at its path. */
  #isReported = false;
  #isOver = false;

  constructor(context: DispatchContext, name: DispatchName, { file, events, head, checkedAt }: WriterParts) {
    this.#context = context;
    this.#name = name;
    this.#file = file;
    this.#events = events;
    this.#head = head;
    this.#checkedAt = checkedAt;
  }

  /** Whether it has ended, for example because another opening has taken the dispatch over. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether one of the two slots of the head is damaged. Writing the head repairs it. */
  get isHeadDamaged(): boolean {
    return this.#head.isDamaged;
  }

  get envelope(): DispatchEnvelope {
    return this.#head.record.envelope;
  }

  /** @throws STORE_EVENT_CONFLICT, STORE_LOCKED, STORE_CORRUPT */
  append(event: CapturedEvent): number {
    this.#checkIfDue(checkInterval);
    const before = this.#events.count;
    const position = this.#events.append(event);
    if (this.#isCheckDue) this.#confirm(event.id);
    if (this.#events.count !== before) this.#added();
    return position;
  }

  /** @throws STORE_EVENT_CONFLICT, STORE_LOCKED, STORE_CORRUPT */
  appendAll(events: readonly CapturedEvent[]): readonly number[] {
    this.#checkIfDue(checkInterval);
    const before = this.#events.count;
    const positions = this.#events.appendAll(events);
    if (this.#isCheckDue) this.#confirm(events.at(-1)?.id ?? null);
    if (this.#events.count !== before) this.#added();
    return positions;
  }

  /** Changes the envelope and returns it. @throws STORE_LOCKED, STORE_CORRUPT */
  update(updates: EnvelopeUpdates): DispatchEnvelope {
    this.#checkIfDue(0);
    const given = Object.entries(updates).filter(([, value]) => value !== undefined);
    // A copy, which only the caller has.
    const text = JSON.stringify({ ...this.envelope, ...Object.fromEntries(given) });
    this.writeHead({ envelope: JSON.parse(text) });
    if (this.#isCheckDue) this.#confirm(null);
    return JSON.parse(text);
  }

  read<T>(work: ReadWork<T>): T {
    return work(this.#events.range, this.#positions);
  }

  /**
   * Writes the exact length into the head. The caller then ends the writing.
   * @throws STORE_CORRUPT if the file is not at its path, unless a write has reported that
   */
  finish(): void {
    if (this.#isReported) return;
    this.#checkIfDue(0);
    if (!this.#head.has(this.#events.acknowledged)) this.writeHead({});
  }

  /** Ends without the claim if another opening has taken it, and this process may not have noticed. */
  noticeLoss(): void {
    if (this.#isCheckDue && !this.#context.claims.isKept(this.#name)) this.drop();
  }

  /** Gives up a claim that another opening has taken over. */
  drop(): void {
    this.end();
    this.#context.claims.release(this.#name);
  }

  /** Closes the file. A claim is kept. */
  close(): void {
    if (this.#isAcknowledgedLater) ignoreRefusal(() => this.#acknowledgeNow());
    this.end();
  }

  /** Closes the file, and writes nothing. A claim is kept. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isAcknowledgedLater = false;
    this.#context.later.remove(this.#name.paths.file);
    this.#file.open.close();
  }

  /** Writes the head, with the length of now. */
  writeHead(changes: Pick<HeadChanges, 'envelope'>): void {
    const { clock, sync } = this.#context;
    const all = { ...changes, acknowledged: this.#events.acknowledged };
    if (!this.#head.write(this.#file.open, all, clock.monotonic(), sync)) this.#growHead(all);
  }

  /** Whether this process may have been stopped since the last check. */
  get #isCheckDue(): boolean {
    return elapsedSince(this.#checkedAt, this.#context.clock) >= checkInterval;
  }

  /** Checks the claim and the place of the file if the last check is at least `interval` milliseconds old. */
  #checkIfDue(interval: number): void {
    if (this.#context.clock.monotonic() - this.#checkedAt.monotonic >= interval) this.#check();
  }

  /** Checks the claim and the place of the file. @throws STORE_LOCKED, STORE_CORRUPT, STORE_DISPATCH_NOT_FOUND */
  #check(): void {
    const { files, claims, clock } = this.#context;
    const now = currentMoment(clock);
    let misplaced: unknown = null;
    try {
      assertInPlace(files, this.#file, this.#name, this.#events.range.end);
    } catch (error) {
      misplaced = error;
    }
    // After the file, because the next owner renames its copy after it has taken the lock.
    if (!claims.isKept(this.#name)) {
      this.drop();
      throw claims.missing(this.#name);
    }
    this.#isReported = misplaced !== null;
    if (misplaced !== null) throw misplaced;
    this.#checkedAt = now;
  }

  /**
   * Before a write is acknowledged: checks the claim. If the claim
   * was lost during the write, the event `lastId` counts as written if the next owner has copied it.
   * @throws STORE_LOCKED, STORE_CORRUPT, STORE_DISPATCH_NOT_FOUND
   */
  #confirm(lastId: string | null): void {
    try {
      this.#check();
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_LOCKED') || lastId === null || !this.#hasCopied(lastId)) throw error;
    }
  }

  /**
   * Whether the next owner has copied the event into the file that it puts into the place of this one.
   * @throws STORE_UNAVAILABLE if the next owner has not done that yet, so that nobody knows; STORE_CORRUPT
   */
  #hasCopied(lastId: string): boolean {
    this.#awaitReplacement();
    const reader = this.#openReplacement();
    if (reader === null) return false;
    try {
      return reader.read(readAllEvents).some(({ id }) => id === lastId);
    } finally {
      reader.close();
    }
  }

  /** Waits until the file at the path is not the own one: an event that is in the own one can be too late for the copy. */
  #awaitReplacement(): void {
    const { files, pause } = this.#context;
    const { file } = this.#name.paths;
    for (let waited = 0; files.stat(file)?.ino === this.#file.inode; waited += waitBetween) {
      if (waited >= longestWait)
        throw storeErrors.error(
          'STORE_UNAVAILABLE',
          `Another process took over ${file} during this write, and has not copied it yet: it is not known whether the write is in the log.`,
          { details: { file } },
        );
      pause(waitBetween);
    }
  }

  /** Null if the dispatch was deleted. */
  #openReplacement(): DispatchReader | null {
    try {
      return DispatchReader.open(this.#context.files, this.#name);
    } catch (error) {
      if (storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) return null;
      throw error;
    }
  }

  /** Writes the acknowledged length, now or within a second, and notifies the listeners of this opening. */
  #added(): void {
    const { later, onAppend } = this.#context;
    const { taskDir, dispatchId, paths } = this.#name;
    if (!this.#isOver && this.#head.isStale(this.#events.count, this.#checkedAt.monotonic))
      this.#acknowledgeNow();
    else if (!this.#isOver && !this.#isAcknowledgedLater) {
      this.#isAcknowledgedLater = true;
      later.add(paths.file, () => this.#acknowledgeNow());
    }
    onAppend(taskDir, dispatchId);
  }

  /** A refusal of the system is ignored: the events are stored, and the next write or the release tries again. */
  #acknowledgeNow(): void {
    this.#isAcknowledgedLater = false;
    const { acknowledged } = this.#events;
    // An append waits for the disk, and with it the slot before. Without one in between, a loss of power could tear both slots.
    if (this.#head.record.acknowledged.events === acknowledged.events) return;
    const now = this.#context.clock.monotonic();
    ignoreRefusal(() => this.#head.acknowledge(this.#file.open, acknowledged, now));
  }

  /** Writes a copy with larger slots, and renames it over the file. */
  #growHead(changes: HeadChanges): void {
    const record = this.#head.moved(changes);
    const { slot, bytes } = fitHead(record);
    const old = this.#file;
    const open = replaceByCopy(this.#context, this.#name, (copy) => {
      copy.write(bytes, bytes.length, 0);
      const { range, closing } = this.#events;
      const end = copyBytes(range.file, range.start, range.end, copy, bytes.length);
      copy.write(Buffer.from(closing), closing.length, end);
    });
    this.#file = { open, inode: open.inode, start: bytes.length };
    this.#events.moveTo(open, bytes.length);
    const now = this.#context.clock.monotonic();
    this.#head = HeadKeeper.ofNew(record, slot, now);
    old.open.close();
  }
}

function ignoreRefusal(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
