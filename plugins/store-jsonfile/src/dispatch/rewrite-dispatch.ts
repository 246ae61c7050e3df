import { type CapturedEvent, type DispatchEnvelope, encodeEvent } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { chainStart, isSystemError } from '@hansard/store-kit';
import { closings, type IdOrder, isDigest } from '../disk-format.ts';
import { encodeHead, nothingAcknowledged, slotFor } from '../head/head-codec.ts';
import { appendBytes } from '../lines/append-bytes.ts';
import { OpenFile, syncFolder } from '../lines/open-file.ts';
import type { FencedClaim } from './dispatch-claims.ts';
import type { DispatchContext } from './dispatch-context.ts';

/** The least number of characters of a write. */
const leastWritten = 1024 * 1024;

/** The head of the new file, which also has the name of the dispatch and the number of the claim. */
export interface NewHead {
  readonly revision: number;
  readonly envelope: DispatchEnvelope;
}

/** Writes the events of a new file one after the other. */
export class EventCopier {
  readonly #file: OpenFile;
  readonly #start: number;
  readonly #seed: number;
  #end: number;
  #count = 0;
  #crc = 0;
  #idOrder: IdOrder = 'growing';
  #greatestId = '';
  #texts: string[] = [];
  #marks: boolean[] = [];
  #waiting = 0;

  /** `seed` is the checksum before the first event. */
  constructor(file: OpenFile, start: number, seed: number) {
    this.#file = file;
    this.#seed = seed;
    this.#start = start;
    this.#end = start;
  }

  /** `text` is the event as it is stored, with its id. */
  add(id: string, text: string, continues: boolean): void {
    if (!isDigest(id)) {
      if (id > this.#greatestId) this.#greatestId = id;
      else this.#idOrder = 'mixed';
    }
    this.#texts.push(text);
    this.#marks.push(continues);
    this.#waiting += text.length;
    if (this.#waiting >= leastWritten) this.#write('');
  }

  /** Ends the file. @returns the place after the last event */
  finish(): { readonly bytes: number; readonly events: number; readonly crc: number } {
    // A batch whose last event is lost ends with its last whole event.
    if (this.#marks.length > 0) this.#marks[this.#marks.length - 1] = false;
    this.#write(closings[this.#idOrder]);
    return { bytes: this.#end - this.#start, events: this.#count, crc: this.#crc };
  }

  #write(closing: string): void {
    const isFirst = this.#count === 0;
    const previous = isFirst ? this.#seed : this.#crc;
    const { bytes, from, length, crc } = appendBytes(this.#texts, previous, isFirst, closing, this.#marks);
    this.#file.write(bytes, length, this.#end, from);
    this.#end += length - closing.length;
    this.#count += this.#texts.length;
    this.#crc = crc;
    this.#texts = [];
    this.#marks = [];
    this.#waiting = 0;
  }
}

/**
 * Writes a new file and puts it in the place of the dispatch, complete or not at all. `keepAs` is another name
 * for the present file.
 */
export function rewriteDispatch(
  context: DispatchContext,
  claim: FencedClaim,
  head: NewHead,
  addEvents: (copier: EventCopier) => void,
  keepAs: string | null = null,
): void {
  const { files } = context;
  const { name } = claim;
  const { epoch } = claim.lock;
  const { taskDir, dispatchId } = name;
  const record = { ...head, taskDir, dispatchId, epoch, acknowledged: nothingAcknowledged };
  const slot = slotFor(record);
  const start = encodeHead(record, slot).length;
  let isKept = false;
  try {
    const copy = replaceByCopy(context, claim, (copied) => {
      const copier = new EventCopier(copied, start, chainStart(taskDir, dispatchId));
      addEvents(copier);
      const bytes = encodeHead({ ...record, acknowledged: copier.finish() }, slot);
      copied.write(bytes, bytes.length, 0);
      if (keepAs === null) return;
      files.link(name.paths.file, keepAs);
      isKept = true;
    });
    copy.close();
  } catch (error) {
    // Then the file with this name is that of the owner that has taken the dispatch over.
    if (isKept && keepAs !== null && storeErrors.is(error, 'STORE_LOCKED')) files.remove(keepAs);
    throw error;
  }
  claim.removeLost();
}

export function addNotice(copier: EventCopier, notice: CapturedEvent): void {
  copier.add(notice.id, encodeEvent(notice), false);
}

const chunk = 1024 * 1024;

/**
 * Replaces the file of a claimed dispatch by a copy that `write` makes. The order of the steps keeps the invariant of
 * `fenceDispatch`: create the copy, check the claim, write, rename. Returns the open copy.
 * @throws STORE_LOCKED if the claim is lost
 */
export function replaceByCopy(
  { files, sync }: DispatchContext,
  claim: FencedClaim,
  write: (copy: OpenFile) => void,
): OpenFile {
  const { file, folder, temporary } = claim.name.paths;
  const path = temporary(claim.lock.epoch);
  const copy = OpenFile.open(files, path, 'replace');
  try {
    claim.assertKept();
    write(copy);
    if (sync) copy.sync();
    files.rename(path, file);
  } catch (error) {
    copy.close();
    files.remove(path);
    // A later owner has removed the copy, so that it cannot be renamed.
    if (isSystemError(error) && error.code === 'ENOENT') claim.assertKept();
    throw error;
  }
  if (sync) syncFolder(files, folder);
  return copy.named(file);
}

/** Copies the bytes from `from` to before `to`. @returns the offset after them in the copy */
export function copyBytes(source: OpenFile, from: number, to: number, copy: OpenFile, at: number): number {
  let position = at;
  // One buffer for all chunks: nothing is collected during a copy, so others would all be resident.
  const bytes = Buffer.allocUnsafeSlow(Math.min(chunk, Math.max(0, to - from)));
  for (let done = from; done < to; done += chunk) {
    const length = source.readInto(bytes, 0, Math.min(chunk, to - done), done);
    if (length > 0) copy.write(bytes, length, position);
    position += length;
  }
  return position;
}
