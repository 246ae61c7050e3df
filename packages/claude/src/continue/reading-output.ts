import { crc32 } from 'node:zlib';
import type { CapturedEvent } from '@hansard/events';
import type { ReadingCounts } from '../claude-log.ts';
import type { KeptReading } from './kept-reading.ts';

const eventsOfBatch = 256;
const bytesOfBatch = 256 * 1024;

/** The events of a reading in batches, and what it counts. */
export class ReadingOutput {
  lines: number;
  records: number;
  #events: number;
  #messages: number;
  model: string | null;
  #batch: CapturedEvent[] = [];
  #bytes = 0;
  /** Events that were written because the session ended, of an earlier reading and of this one, with their checksums. */
  readonly #endedBefore: ReadonlyMap<string, number>;
  readonly #ended = new Map<string, number>();

  constructor({ counts, model = null, ended }: Partial<KeptReading> = {}) {
    this.lines = counts?.lines ?? 0;
    this.records = counts?.records ?? 0;
    this.#events = counts?.events ?? 0;
    this.#messages = counts?.messages ?? 0;
    this.model = model;
    this.#endedBefore = new Map(ended);
  }

  get counts(): ReadingCounts {
    const { lines, records } = this;
    return { lines, records, events: this.#events, messages: this.#messages };
  }

  /** The events that were written because the session ended, and that the rest of a log gives again. */
  get ended(): [string, number][] {
    return [...new Map([...this.#endedBefore, ...this.#ended])];
  }

  /** Adds an event. False if an earlier reading gave it with other content. */
  add(event: CapturedEvent): boolean {
    const before = this.#endedBefore.get(event.id);
    if (before !== undefined) return before === checksumOf(event);
    const { type, data } = event;
    this.#events += 1;
    if (type === 'session:init' && typeof data.model === 'string') this.model ??= data.model;
    if (type === 'user:message' || type === 'agent:text') this.#messages += 1;
    this.#batch.push(event);
    return true;
  }

  /** Adds an event that is written because the session ends. */
  addEnded(event: CapturedEvent): boolean {
    this.#ended.set(event.id, checksumOf(event));
    return this.add(event);
  }

  /** Notes that a line was read to its end. Returns a batch once it is large enough. */
  endLine(bytes: number): CapturedEvent[] | null {
    this.#bytes += bytes;
    return this.#batch.length < eventsOfBatch && this.#bytes < bytesOfBatch ? null : this.takeBatch();
  }

  takeBatch(): CapturedEvent[] {
    const batch = this.#batch;
    this.#batch = [];
    this.#bytes = 0;
    return batch;
  }
}

function checksumOf(event: CapturedEvent): number {
  return crc32(JSON.stringify(event));
}
