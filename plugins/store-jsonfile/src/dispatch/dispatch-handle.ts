import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import type { DispatchClaim, EventPage, ReadEventsOptions } from '@hansard/provider';
import { dispatchNotFound } from '@hansard/store-kit';
import { keptDamaged } from '../integrity/accept-loss.ts';
import { syncFolder } from '../lines/open-file.ts';
import { readAllEvents, readEventPage, readRecentEvents } from '../lines/read-events.ts';
import { beginWriting } from './begin-writing.ts';
import type { DispatchContext } from './dispatch-context.ts';
import type { DispatchName } from './dispatch-file.ts';
import { DispatchReader, type ReadWork } from './dispatch-reader.ts';
import type { DispatchWriter } from './dispatch-writer.ts';
import { whileOwning } from './fence-dispatch.ts';

/** An open dispatch: for writing while it is claimed, otherwise for reading. */
export class DispatchHandle {
  readonly name: DispatchName;
  readonly #context: DispatchContext;
  #reader: DispatchReader | null;
  /** Null: it was not written yet. Set here only. */
  writer: DispatchWriter | null;

  /** @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT */
  static open(context: DispatchContext, name: DispatchName): DispatchHandle {
    return new DispatchHandle(context, name, DispatchReader.open(context.files, name));
  }

  /** A dispatch that was created now. */
  static ofNew(context: DispatchContext, name: DispatchName, writer: DispatchWriter): DispatchHandle {
    return new DispatchHandle(context, name, null, writer);
  }

  private constructor(
    context: DispatchContext,
    name: DispatchName,
    reader: DispatchReader | null,
    writer: DispatchWriter | null = null,
  ) {
    this.#context = context;
    this.name = name;
    this.#reader = reader;
    this.writer = writer;
  }

  /** Claims the dispatch, unless this opening still has its claim, and repairs a torn tail. @throws STORE_LOCKED, STORE_CORRUPT */
  claim(isForced = false): Required<DispatchClaim> {
    const { claims } = this.#context;
    if (claims.has(this.name) && !claims.isKept(this.name)) this.#drop();
    if (this.#openWriter() === null) claims.whileTaking(this.name, () => this.#beginWriting(), isForced);
    const { envelope } = this.writing();
    return { envelope: structuredClone(envelope), epoch: claims.lockOf(this.name).epoch };
  }

  /**
   * Ends the writing of a claimed dispatch: writes the exact length into its head. The caller then releases the claim.
   * @throws STORE_CORRUPT if the file is not at its path, unless a write has reported that
   */
  finish(): void {
    try {
      this.writing().finish();
    } finally {
      this.writer?.end();
    }
  }

  /** Changes the envelope and returns it. */
  update(updates: EnvelopeUpdates): DispatchEnvelope {
    return this.writing().update(updates);
  }

  /** @throws STORE_DISPATCH_NOT_FOUND */
  assertExists(): void {
    const { taskDir, dispatchId, paths } = this.name;
    if (this.#openWriter() === null && this.#context.files.stat(paths.file) === null)
      throw dispatchNotFound(taskDir, dispatchId);
  }

  readAll(): CapturedEvent[] {
    return this.#read(readAllEvents);
  }

  readRecent(count: number): CapturedEvent[] {
    return this.#read((range) => readRecentEvents(range, count));
  }

  readPage(options: ReadEventsOptions): EventPage {
    return this.#read((range, positions) => readEventPage(range, positions, options));
  }

  /** Removes the file and releases the claim. The caller then closes the handle. @throws STORE_LOCKED */
  remove(): void {
    const { files, claims, sync } = this.#context;
    const { taskDir, dispatchId, paths } = this.name;
    if (claims.has(this.name) && !claims.isKept(this.name)) this.#drop();
    whileOwning(this.#context, this.name, () => {
      if (!claims.isKept(this.name)) throw claims.missing(this.name);
      for (const kept of keptDamaged(files, paths.file)) files.remove(kept);
      if (!files.remove(paths.file)) throw dispatchNotFound(taskDir, dispatchId);
      claims.removeLost(this.name);
    });
    this.writer?.end();
    claims.release(this.name);
    if (sync) syncFolder(files, paths.folder);
  }

  /** Closes the file. A claim is kept. */
  close(): void {
    this.#openWriter()?.close();
    this.#closeReader();
  }

  /** The writer of a claimed dispatch. @throws STORE_LOCKED if the dispatch is not claimed; STORE_CORRUPT */
  writing(): DispatchWriter {
    const writer = this.#openWriter();
    if (writer !== null) return writer;
    const { claims } = this.#context;
    if (claims.has(this.name)) return this.#beginWriting();
    this.assertExists();
    throw claims.missing(this.name);
  }

  #openWriter(): DispatchWriter | null {
    return this.writer?.isOver === false ? this.writer : null;
  }

  #beginWriting(): DispatchWriter {
    const writer = beginWriting(this.#context, this.name);
    this.writer = writer;
    this.#closeReader();
    return writer;
  }

  /** Gives up a claim that another opening has taken over. */
  #drop(): void {
    const writer = this.#openWriter();
    if (writer === null) this.#context.claims.release(this.name);
    else writer.drop();
  }

  #read<T>(work: ReadWork<T>): T {
    // It would read a file that is no longer at the path.
    this.#openWriter()?.noticeLoss();
    const writer = this.#openWriter();
    if (writer !== null) return writer.read(work);
    this.#reader ??= DispatchReader.open(this.#context.files, this.name);
    return this.#reader.read(work);
  }

  #closeReader(): void {
    this.#reader?.close();
    this.#reader = null;
  }
}
