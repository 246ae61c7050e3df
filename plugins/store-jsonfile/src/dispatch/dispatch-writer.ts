import {
  type CapturedEvent,
  type DispatchEnvelope,
  type EnvelopeUpdates,
  encodeEvent,
} from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { isSystemError } from '@hansard/store-kit';
import { closings, digestLength, type IdOrder, isDigest, lineSeparator } from '../disk-format.ts';
import { type Acknowledged, fitHead } from '../head/head-codec.ts';
import { type HeadChanges, HeadKeeper } from '../head/head-keeper.ts';
import { type AppendBytes, appendBytes, appendLine } from '../lines/append-bytes.ts';
import type { EventRange, OpenFile } from '../lines/open-file.ts';
import { PositionIndex } from '../lines/position-index.ts';
import { assertSame, StoredLines } from '../lines/stored-lines.ts';
import { currentMoment, type Moment } from '../locks/moment.ts';
import { checkInterval, type FencedClaim } from './dispatch-claims.ts';
import type { DispatchContext } from './dispatch-context.ts';
import { assertInPlace, type DispatchFile, type DispatchName } from './dispatch-file.ts';
import type { ReadWork } from './dispatch-reader.ts';
import { hasCopied } from './fence-dispatch.ts';
import { copyBytes, replaceByCopy } from './rewrite-dispatch.ts';

/** Greater than any id, so that no id counts as new before the ids have been read. */
const unknownId = '\uffff';

/** The end of a dispatch file, where the next append goes. */
export interface AppendPoint {
  /** The offset after the last event. */
  readonly end: number;
  readonly count: number;
  /** The checksum of the last event; 0 without events. */
  readonly crc: number;
  readonly idOrder: IdOrder;
  /** The greatest id of all events, digests left out, `''` without one; null if it cannot be known without reading all of them. */
  readonly greatestId: string | null;
}

/** The parts of a claimed dispatch, opened by `beginWriting`. */
export interface WriterParts {
  readonly file: DispatchFile;
  readonly point: AppendPoint;
  readonly head: HeadKeeper;
  /** A time before the last check of the claim and of the place of the file. */
  readonly checkedAt: Moment;
}

/** Several lines: their ids, and their texts in the same order. */
interface Lines {
  readonly ids: readonly string[];
  readonly texts: readonly string[];
  /** The position of each event that was given, stored or new. */
  readonly positions: readonly number[];
}

/**
 * A claimed dispatch that is open for writing. Each append:
 *
 * 1. Checks the claim and the place of the file, if the last check is old.
 * 2. Encodes the events and looks for those that are stored already. An id that is greater than all before it, digests left out, is new.
 * 3. Writes the new lines and the closing brackets over the old brackets, in one write.
 * 4. Looks at the clock: a process that was stopped since the last check checks the claim again before it acknowledges the write.
 * 5. Writes the acknowledged length, now or within a second, and notifies the listeners of this opening.
 */
export class DispatchWriter {
  /** Whether it has ended, for example because another opening has taken the dispatch over. Set here only. */
  isOver = false;
  readonly #context: DispatchContext;
  readonly #claim: FencedClaim;
  readonly #name: DispatchName;
  readonly #positions = new PositionIndex();
  #file: DispatchFile;
  #head: HeadKeeper;
  #end: number;
  #count: number;
  #crc: number;
  #idOrder: IdOrder;
  #greatestId: string;
  /** Null: no event was appended again. */
  #stored: StoredLines | null = null;
  /** Whether bytes of a failed write are after the last event. */
  #isTorn = false;
  #checkedAt: Moment;
  #isAcknowledgedLater = false;
  /** Whether a call has reported that the file is not at its path. */
  #isReported = false;

  constructor(context: DispatchContext, claim: FencedClaim, { file, point, head, checkedAt }: WriterParts) {
    this.#context = context;
    this.#claim = claim;
    this.#name = claim.name;
    this.#file = file;
    this.#end = point.end;
    this.#count = point.count;
    this.#crc = point.crc;
    this.#idOrder = point.idOrder;
    this.#greatestId = point.greatestId ?? unknownId;
    this.#head = head;
    this.#checkedAt = checkedAt;
  }

  /** Whether one of the two slots of the head is damaged. Writing the head repairs it. */
  get isHeadDamaged(): boolean {
    return this.#head.isDamaged;
  }

  get envelope(): DispatchEnvelope {
    return this.#head.record.envelope;
  }

  /**
   * Appends an event, unless it is stored already. It needs no lists, and it is the append of nearly every event.
   * @returns its position @throws STORE_EVENT_CONFLICT, STORE_LOCKED, STORE_CORRUPT
   */
  append(event: CapturedEvent): number {
    this.#checkIfDue(checkInterval);
    const text = encodeEvent(event);
    const { id } = event;
    // Nearly every id is shorter, and a call costs more than a comparison.
    const isOrdered = id.length < digestLength || !isDigest(id);
    const isGreatest = isOrdered && id > this.#greatestId;
    const stored = isGreatest ? null : this.#positionOf(id, text);
    const position = stored ?? this.#count;
    if (stored === null) {
      const idOrder = isGreatest || !isOrdered ? this.#idOrder : 'mixed';
      const line = position === 0 ? null : appendLine(text, this.#crc, idOrder);
      if (line === null) this.#writeAll([id], [text], idOrder);
      else {
        const offset = this.#end - this.#file.start + lineSeparator.length;
        this.#write(line, 1, idOrder);
        // `isGreatest` does not know the ids that the search has read.
        if (isOrdered && id > this.#greatestId) this.#greatestId = id;
        this.#stored?.add(id, { offset, position });
      }
    }
    if (this.#isCheckDue()) this.#confirm(id);
    if (stored === null) this.#added();
    return position;
  }

  /**
   * Appends the events that are not stored yet, all or none.
   * @returns their positions @throws STORE_EVENT_CONFLICT, STORE_LOCKED, STORE_CORRUPT
   */
  appendAll(events: readonly CapturedEvent[]): readonly number[] {
    this.#checkIfDue(checkInterval);
    const { ids, texts, positions } = this.#selectNew(events);
    if (ids.length > 0) this.#writeAll(ids, texts, this.#orderWith(ids));
    if (this.#isCheckDue()) this.#confirm(events.at(-1)?.id ?? null);
    if (ids.length > 0) this.#added();
    return positions;
  }

  /** Changes the envelope and returns it. @throws STORE_LOCKED, STORE_CORRUPT */
  update(updates: EnvelopeUpdates): DispatchEnvelope {
    this.#checkIfDue(0);
    const given = Object.entries(updates).filter(([, value]) => value !== undefined);
    // A copy, which only the caller has.
    const text = JSON.stringify({ ...this.envelope, ...Object.fromEntries(given) });
    this.writeHead({ envelope: JSON.parse(text) });
    if (this.#isCheckDue()) this.#confirm(null);
    return JSON.parse(text);
  }

  read<T>(work: ReadWork<T>): T {
    return work(this.#range, this.#positions);
  }

  /**
   * Writes the exact length into the head. The caller then ends the writing.
   * @throws STORE_CORRUPT if the file is not at its path, unless a write has reported that
   */
  finish(): void {
    if (this.#isReported) return;
    this.#checkIfDue(0);
    if (!this.#head.has(this.#acknowledged)) this.writeHead({});
  }

  /** Ends without the claim if another opening has taken it, and this process may not have noticed. */
  noticeLoss(): void {
    if (this.#isCheckDue() && !this.#context.claims.isKept(this.#name)) this.drop();
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
    if (this.isOver) return;
    this.isOver = true;
    this.#isAcknowledgedLater = false;
    this.#context.later.remove(this.#name.paths.file);
    this.#file.open.close();
  }

  /** Writes the head, with the length of now. */
  writeHead(changes: Pick<HeadChanges, 'envelope'>): void {
    const { clock, sync } = this.#context;
    const all = { ...changes, acknowledged: this.#acknowledged };
    if (!this.#head.write(this.#file.open, all, clock.monotonic(), sync)) this.#growHead(all);
  }

  get #range(): EventRange {
    const { open: file, start, seed } = this.#file;
    return { file, start, seed, end: this.#end, count: this.#count };
  }

  /** The place after the last event. */
  get #acknowledged(): Acknowledged {
    return { bytes: this.#end - this.#file.start, events: this.#count, crc: this.#crc };
  }

  #selectNew(events: readonly CapturedEvent[]): Lines {
    const seen = new Map<string, { readonly text: string; readonly position: number }>();
    const ids: string[] = [];
    const texts: string[] = [];
    const positions: number[] = [];
    for (const event of events) {
      const text = encodeEvent(event);
      const earlier = seen.get(event.id);
      if (earlier !== undefined) {
        assertSame(event.id, earlier.text, text);
        positions.push(earlier.position);
        continue;
      }
      const stored = this.#positionOf(event.id, text);
      const position = stored ?? this.#count + ids.length;
      seen.set(event.id, { text, position });
      positions.push(position);
      if (stored !== null) continue;
      ids.push(event.id);
      texts.push(text);
    }
    return { ids, texts, positions };
  }

  #orderWith(ids: readonly string[]): IdOrder {
    if (this.#idOrder === 'mixed') return 'mixed';
    let greatestId = this.#greatestId;
    for (const id of ids) {
      if (id.length >= digestLength && isDigest(id)) continue;
      if (id <= greatestId) return 'mixed';
      greatestId = id;
    }
    return this.#idOrder;
  }

  /** The position of an event that is stored with this text; null: it is new. @throws STORE_EVENT_CONFLICT */
  #positionOf(id: string, text: string): number | null {
    const isOrdered = id.length < digestLength || !isDigest(id);
    if (this.#count === 0 || (isOrdered && id > this.#greatestId)) return null;
    this.#stored ??= new StoredLines();
    const isLast = this.#idOrder === 'growing' && id === this.#greatestId;
    const position = this.#stored.find(this.#range, id, text, isLast);
    if (this.#greatestId === unknownId) this.#greatestId = this.#stored.greatestId ?? unknownId;
    return position;
  }

  #writeAll(ids: readonly string[], texts: readonly string[], idOrder: IdOrder): void {
    const isFirst = this.#count === 0;
    const lines = appendBytes(texts, isFirst ? this.#file.seed : this.#crc, isFirst, closings[idOrder]);
    const [offset, position] = [this.#end - this.#file.start, this.#count];
    this.#write(lines, ids.length, idOrder);
    for (const [at, id] of ids.entries()) {
      const isOrdered = id.length < digestLength || !isDigest(id);
      if (isOrdered && id > this.#greatestId) this.#greatestId = id;
      this.#stored?.add(id, { offset: offset + (lines.starts[at] as number), position: position + at });
    }
  }

  /** Writes lines and the closing brackets over the old brackets. */
  #write({ bytes, from, length, crc }: AppendBytes, count: number, idOrder: IdOrder): void {
    if (this.#isTorn) this.#removeTorn();
    const { open } = this.#file;
    try {
      open.write(bytes, length, this.#end, from);
      if (this.#context.sync) open.syncData();
    } catch (error) {
      this.#isTorn = true;
      try {
        this.#removeTorn();
      } catch {
        // The disk still fails. The next write tries again. The caller receives the first error.
      }
      throw error;
    }
    this.#end += length - closings[idOrder].length;
    this.#count += count;
    this.#crc = crc;
    this.#idOrder = idOrder;
  }

  /** Removes the bytes of a failed write. */
  #removeTorn(): void {
    restoreClosing(this.#file.open, this.#end, closings[this.#idOrder]);
    this.#isTorn = false;
  }

  /** Whether this process may have been stopped since the last check, by either clock: see `elapsedSince`. */
  #isCheckDue(): boolean {
    const { clock } = this.#context;
    const { monotonic, wall } = this.#checkedAt;
    return clock.monotonic() - monotonic >= checkInterval || clock.now() - wall >= checkInterval;
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
      assertInPlace(files, this.#file, this.#name, this.#end);
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
      if (!storeErrors.is(error, 'STORE_LOCKED') || lastId === null) throw error;
      if (!hasCopied(this.#context, this.#name, this.#file.inode, lastId)) throw error;
    }
  }

  /** Writes the acknowledged length, now or within a second, and notifies the listeners of this opening. */
  #added(): void {
    const { later, listeners } = this.#context;
    if (!this.isOver) {
      const { events, ms } = this.#head.dueAt;
      if (this.#count >= events || this.#checkedAt.monotonic >= ms) this.#acknowledgeNow();
      else if (!this.#isAcknowledgedLater) {
        this.#isAcknowledgedLater = true;
        later.add(this.#name.paths.file, () => {
          this.#isAcknowledgedLater = false;
          this.#acknowledgeNow();
        });
      }
    }
    if (!listeners.isEmpty) listeners.notify(this.#name.taskDir, this.#name.dispatchId);
  }

  /** A refusal of the system is ignored: the events are stored, and the next write or the release tries again. */
  #acknowledgeNow(): void {
    const acknowledged = this.#acknowledged;
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
    const open = replaceByCopy(this.#context, this.#claim, (copy) => {
      copy.write(bytes, bytes.length, 0);
      const closing = closings[this.#idOrder];
      const end = copyBytes(old.open, old.start, this.#end, copy, bytes.length);
      copy.write(Buffer.from(closing), closing.length, end);
    });
    this.#file = { open, inode: open.inode, start: bytes.length, seed: old.seed };
    this.#end += bytes.length - old.start;
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

/** Cuts the file after the last event and writes the closing brackets. A kill between these steps leaves a torn tail. */
export function restoreClosing(file: OpenFile, end: number, closing: string): void {
  file.truncate(end);
  file.write(Buffer.from(closing), closing.length, end);
}
