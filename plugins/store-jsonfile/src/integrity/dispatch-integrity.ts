import { type CapturedEvent, type DispatchEnvelope, encodeEvent } from '@hansard/events';
import {
  type DispatchRewrite,
  type DispatchRewritten,
  type DispatchVerification,
  type EventPage,
  type ReadEventsOptions,
  type StoreError,
  storeErrors,
} from '@hansard/provider';
import { dispatchNotFound, mostPageBytes, orMissing, pageRange } from '@hansard/store-kit';
import type { FencedClaim } from '../dispatch/dispatch-claims.ts';
import type { DispatchContext } from '../dispatch/dispatch-context.ts';
import { assertNamed, type DispatchName } from '../dispatch/dispatch-file.ts';
import { findTail } from '../dispatch/file-tail.ts';
import { addNotice, rewriteDispatch } from '../dispatch/rewrite-dispatch.ts';
import { corrupt } from '../errors.ts';
import type { FileStats } from '../files.ts';
import { type DispatchHead, findHead, findSlot, readHead } from '../head/dispatch-head.ts';
import { parseEventText } from '../lines/event-line.ts';
import { type InspectedPart, inspectLines, textOf } from '../lines/inspect-lines.ts';
import { OpenFile } from '../lines/open-file.ts';
import { acceptLossOf, keptDamaged } from './accept-loss.ts';
import { examineFile, settledLines, verifyFile } from './verify-file.ts';

/** Checks dispatches, and reads and repairs damaged ones. */
export class DispatchIntegrity {
  readonly #context: DispatchContext;
  /** Of the file that was read last, because its pages are read one after the other. */
  #latest: { readonly path: string; readonly stats: FileStats; readonly salvage: Salvage } | null = null;

  constructor(context: DispatchContext) {
    this.#context = context;
  }

  /** @throws STORE_DISPATCH_NOT_FOUND */
  verify(name: DispatchName): DispatchVerification {
    try {
      return this.#withOpen(name, (file) => verifyFile(file, name));
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
      return { integrity: 'none', wholeEvents: 0, bytes: 0, damages: [notAFileDamage(name, error)] };
    }
  }

  /** A page of the whole events. @throws STORE_DISPATCH_NOT_FOUND, STORE_INVALID_CURSOR */
  readWhole(name: DispatchName, options: ReadEventsOptions): EventPage {
    return this.#withOpen(name, (file) => {
      const stats = file.stats();
      const latest = this.#latest;
      const isSame = latest?.path === file.path && isUnchanged(latest.stats, stats);
      const salvage = isSame ? latest.salvage : Salvage.of(file, name);
      this.#latest = { path: file.path, stats, salvage };
      return salvage.readPage(file, options);
    });
  }

  /** @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_CORRUPT */
  acceptLoss(name: DispatchName, notice: CapturedEvent): DispatchVerification {
    this.#assertExists(name);
    return this.#context.claims.whileOwning(name, (claim) =>
      this.#withOpen(name, (file) => acceptLossOf(this.#context, claim, file, notice)),
    );
  }

  /** @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_CORRUPT */
  rewrite(name: DispatchName, rewrite: DispatchRewrite): DispatchRewritten {
    this.#assertExists(name);
    this.#context.claims.whileOwning(name, (claim) =>
      this.#withOpen(name, (open) => rewriteContentOf(this.#context, claim, open, rewrite)),
    );
    const kept = keptDamaged(this.#context.files, name.paths.file);
    return { remains: kept.map((other) => `${other}, kept when a loss was accepted: delete the file.`) };
  }

  /**
   * Gives the log at this place the name `name`, if it was written under another one.
   * @returns whether it was
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_CORRUPT
   */
  adopt(name: DispatchName): boolean {
    this.#assertExists(name);
    const { dispatchId } = name;
    const renamed = { envelope: (envelope: DispatchEnvelope) => ({ ...envelope, dispatchId }), event: same };
    return this.#context.claims.whileOwning(name, (claim) =>
      this.#withFile(name, (file) => {
        if (!this.#isMisplaced(name, file)) return false;
        rewriteContentOf(this.#context, claim, file, renamed);
        return true;
      }),
    );
  }

  #isMisplaced(name: DispatchName, file: OpenFile): boolean {
    try {
      assertNamed(this.#context.files, readHead(file), name);
      return false;
    } catch (error) {
      if (storeErrors.is(error, 'STORE_MISPLACED')) return true;
      throw error;
    }
  }

  #assertExists({ taskDir, dispatchId, paths }: DispatchName): void {
    if (this.#context.files.lstat(paths.file) === null) throw dispatchNotFound(taskDir, dispatchId);
  }

  /** @throws STORE_MISPLACED if the file was written as that of another dispatch */
  #withOpen<T>(name: DispatchName, work: (file: OpenFile) => T): T {
    return this.#withFile(name, (file) => {
      const head = headOf(file);
      if (head !== null) assertNamed(this.#context.files, head, name);
      return work(file);
    });
  }

  #withFile<T>(name: DispatchName, work: (file: OpenFile) => T): T {
    const file = orMissing(() => OpenFile.open(this.#context.files, name.paths.file, 'read'));
    if (file === null) throw dispatchNotFound(name.taskDir, name.dispatchId);
    try {
      return work(file);
    } finally {
      file.close();
    }
  }
}

function same(event: CapturedEvent): CapturedEvent {
  return event;
}

/** Null if both heads are damaged, or this version does not know them. */
function headOf(file: OpenFile): DispatchHead | null {
  try {
    return findSlot(file) === null ? null : findHead(file);
  } catch (error) {
    if (storeErrors.is(error, 'STORE_CORRUPT')) return null;
    throw error;
  }
}

function isUnchanged(before: FileStats, now: FileStats): boolean {
  return before.ino === now.ino && before.size === now.size && before.ctimeMs === now.ctimeMs;
}

function notAFileDamage({ paths }: DispatchName, { message }: StoreError) {
  return { place: paths.file, offset: 0, bytes: 0, eventsBefore: 0, lostEvents: null, reason: message };
}

/**
 * Replaces a file by a copy with the new envelope and the new forms of its events. An event that stays keeps its bytes. Only the owner
 * of the lock may call it.
 * @throws STORE_CORRUPT if anything is damaged but one copy of the head
 */
function rewriteContentOf(
  context: DispatchContext,
  claim: FencedClaim,
  file: OpenFile,
  rewrite: DispatchRewrite,
): void {
  const { damages } = verifyFile(file, claim.name);
  const examined = examineFile(file, claim.name);
  const { head } = examined;
  // One whole copy of the head is enough: a loss of power can tear the other one.
  const events = head === null ? 0 : head.slot * 2;
  const damage = damages.find(({ offset }) => offset >= events);
  if (damage !== undefined)
    throw corrupt(file.path, damage.offset, damage.reason, { wholeEvents: damage.eventsBefore });
  if (head === null) throw corrupt(file.path, 0, 'the envelope cannot be read');
  // A loss of power can leave a torn sector before complete closing brackets.
  const lines = { ...settledLines(examined), to: findTail(file, head).end };
  const envelope = rewrite.envelope(head.record.envelope);
  rewriteDispatch(context, claim, { revision: head.record.revision + 1, envelope }, (copier) => {
    inspectLines(lines, {
      onEvent(inspected) {
        const text = textOf(inspected);
        const event = parseEventText(text);
        if (event === null) throw corrupt(file.path, inspected.offset, 'this line is not an event');
        const rewritten = rewrite.event(event);
        const isSame = rewritten === event;
        copier.add(event.id, isSame ? text : encodeEvent(rewritten), inspected.continues);
      },
      onDamage({ offset, reason }) {
        throw corrupt(file.path, offset, reason);
      },
    });
    if (rewrite.notice !== undefined) addNotice(copier, rewrite.notice());
  });
}

const spacing = 256;

/** A whole event from which an inspection can begin. */
interface Mark {
  readonly offset: number;
  readonly crc: number | null;
}

/** The whole events of a dispatch file, damaged or not. It is valid until the file changes. */
class Salvage {
  readonly #lines: InspectedPart;
  /** Every 256th whole event. */
  readonly #marks: readonly Mark[];
  readonly #count: number;

  static of(file: OpenFile, name: DispatchName): Salvage {
    const lines = settledLines(examineFile(file, name));
    const marks: Mark[] = [];
    let count = 0;
    inspectLines(lines, {
      onEvent({ offset, before }) {
        if (count % spacing === 0) marks.push({ offset, crc: before });
        count += 1;
      },
      onDamage: () => {},
    });
    return new Salvage(lines, marks, count);
  }

  private constructor(lines: InspectedPart, marks: readonly Mark[], count: number) {
    this.#lines = lines;
    this.#marks = marks;
    this.#count = count;
  }

  /** A page of the whole events of the same file, which may have been opened again. @throws STORE_INVALID_CURSOR */
  readPage(file: OpenFile, options: ReadEventsOptions): EventPage {
    const { first, end } = pageRange(this.#count, options);
    const events: CapturedEvent[] = [];
    const at = Math.floor(first / spacing);
    const mark = this.#marks[at];
    if (first >= end || mark === undefined) return { events, first, next: end - 1 };
    const lines = this.#lines;
    const to = this.#marks[Math.ceil(end / spacing)]?.offset ?? lines.to;
    let position = at * spacing;
    let bytes = 0;
    let isFull = false;
    inspectLines(
      { ...lines, file, from: mark.offset, crc: mark.crc, to },
      {
        onEvent: (event) => {
          const isWanted = position >= first && position < end;
          position += 1;
          if (!isWanted || isFull) return;
          const text = textOf(event);
          bytes += text.length;
          isFull = options.last === undefined && bytes > mostPageBytes && events.length > 0;
          const parsed = isFull ? null : parseEventText(text);
          if (parsed !== null) events.push(parsed);
        },
        onDamage: () => {},
      },
    );
    return { events, first, next: isFull ? first + events.length - 1 : end - 1 };
  }
}
