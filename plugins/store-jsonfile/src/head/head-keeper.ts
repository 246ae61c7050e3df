import type { DispatchEnvelope } from '@hansard/events';
import { acknowledgedAge } from '../disk-format.ts';
import type { OpenFile } from '../lines/open-file.ts';
import type { DispatchHead } from './dispatch-head.ts';
import { type Acknowledged, encodeSlot, fitHead, type HeadRecord } from './head-codec.ts';

/** The head of a dispatch that this opening writes. Only the owner of the lock may have one. */
export class HeadKeeper {
  #record: HeadRecord;
  readonly #slot: number;
  /** The index of the slot that counts. */
  #counting: number;
  /** Whether both slots have the same content. */
  #isSame: boolean;
  #isDamaged: boolean;
  /** Whether the slot that counts can be missing on the disk. */
  #isLoose = false;
  /** When an append writes the acknowledged length at once: from this number of events, or this time, on. Set here only. */
  dueAt: { readonly events: number; readonly ms: number };
  /** The envelope as JSON, once a length was acknowledged; null after a change. */
  #envelopeText: string | null = null;
  /** For the slots with an acknowledged length, because a new buffer for each costs more than the write. */
  #slotBytes: Buffer | null = null;

  /** `now` is the monotonic time. */
  constructor(
    {
      record,
      slot,
      counting,
      isSame,
      whole,
    }: Pick<DispatchHead, 'record' | 'slot' | 'counting' | 'isSame' | 'whole'>,
    now: number,
  ) {
    this.#record = record;
    this.#slot = slot;
    this.#counting = counting;
    this.#isSame = isSame;
    this.#isDamaged = whole.includes(false);
    this.dueAt = this.#dueAfter(now);
  }

  /** A head that was written to both slots. */
  static ofNew(record: HeadRecord, slot: number, now: number): HeadKeeper {
    return new HeadKeeper({ record, slot, counting: 0, isSame: true, whole: [true, true] }, now);
  }

  /** The head of a new claim. The first write of it records the number of the claim. */
  static ofClaim(head: DispatchHead, epoch: number, now: number): HeadKeeper {
    const isSame = head.isSame && head.record.epoch === epoch;
    return new HeadKeeper({ ...head, record: { ...head.record, epoch }, isSame }, now);
  }

  /** Whether one of the slots is damaged. */
  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  get record(): HeadRecord {
    return this.#record;
  }

  /** Writes the acknowledged length, into the slot that does not count; then that one counts. */
  acknowledge(file: OpenFile, acknowledged: Acknowledged, now: number): void {
    const record = this.#next({ acknowledged });
    const other = 1 - this.#counting;
    this.#envelopeText ??= JSON.stringify(record.envelope);
    this.#slotBytes ??= Buffer.allocUnsafeSlow(this.#slot);
    encodeSlot(this.#slotBytes, record, other, this.#envelopeText);
    this.#writeSlot(file, record, other, this.#slotBytes);
    this.#isLoose = true;
    this.dueAt = this.#dueAfter(now);
  }

  /**
   * Writes the head into both slots, first into the one that does not count. It must fit.
   * @returns false if it does not fit; nothing is written then
   */
  write(file: OpenFile, changes: HeadChanges, now: number, sync: boolean): boolean {
    const record = this.#next(changes);
    const { slot, bytes } = fitHead(record, this.#slot);
    if (slot > this.#slot) return false;
    const slots = [bytes.subarray(0, slot), bytes.subarray(slot, slot * 2)];
    // A loss of power must not tear both slots.
    if (sync && this.#isLoose) file.syncData();
    this.#envelopeText = null;
    for (const _ of slots) {
      const other = 1 - this.#counting;
      this.#writeSlot(file, record, other, slots[other] as Buffer);
      if (sync) file.syncData();
    }
    this.#isSame = true;
    this.#isDamaged = false;
    this.#isLoose = !sync;
    this.dueAt = this.#dueAfter(now);
    return true;
  }

  /** The head for a copy of the file. */
  moved(changes: HeadChanges): HeadRecord {
    return this.#next(changes);
  }

  /** Whether both slots have this. */
  has({ bytes, events, crc }: Acknowledged): boolean {
    const { acknowledged } = this.#record;
    const isSame = acknowledged.bytes === bytes && acknowledged.events === events && acknowledged.crc === crc;
    return this.#isSame && isSame;
  }

  #dueAfter(now: number): { readonly events: number; readonly ms: number } {
    return {
      events: this.#record.acknowledged.events + acknowledgedAge.events,
      ms: now + acknowledgedAge.ms,
    };
  }

  #next(changes: HeadChanges): HeadRecord {
    return { ...this.#record, ...changes, revision: this.#record.revision + 1 };
  }

  #writeSlot(file: OpenFile, record: HeadRecord, slot: number, bytes: Buffer): void {
    this.#isSame = false;
    file.write(bytes, bytes.length, slot * this.#slot);
    this.#record = record;
    this.#counting = slot;
  }
}

export interface HeadChanges {
  readonly acknowledged?: Acknowledged;
  readonly envelope?: DispatchEnvelope;
}
