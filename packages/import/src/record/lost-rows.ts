import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Dispatch } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { isPlainObject, isReadableAs } from '@hansard/events/plain';
import { isRewritten } from '@hansard/facts';
import type { LogSummary } from '@hansard/provider';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The types whose events are parts of prompts. */
export const entryTypes =
  /^(?:user:\w+|session:compaction|agent:(?:given|output|system_prompt|text|thinking|tool_call|tool_result))$/;

/** Events that are held back, before it is decided without the rest of the log. */
const mostHeld = 5_000;

/**
 * The rows that an append-only source has lost: it was shortened or replaced, and then continued. The events of those rows stay, and what the source
 * has after them does not follow them. A `session:rewind` before the first new event says so.
 *
 * 1. Rows can be lost only if the last message that an earlier import has read is not in the bytes of the source.
 * 2. Events of the dispatched agent come in the order of the source. If a new one does not come after the last stored one, that one and
 *    each later event are held back.
 * 3. If a stored one comes later, nothing was lost there: the source has a new row between old ones.
 */
export class LostRows {
  readonly #stored: ReadonlyMap<string, number>;
  /** The place of the last stored event that the source has. */
  #previous = -1;
  /** The end of the current branch of the source. */
  #end: string | null = null;
  #held: CapturedEvent[] | null = null;
  #isDecided = false;
  #count = 0;

  /** Null: the source has lost no row, or that is not known. */
  static async of(
    dispatch: Dispatch,
    file: string | undefined,
    existing: DispatchEnvelope | null,
  ): Promise<LostRows | null> {
    const last = existing?.source?.lastMessage;
    if (file === undefined || last === undefined || !uuid.test(last) || isIn(file, last)) return null;
    const stored = new Map<string, number>();
    for await (const { events } of dispatch.pages())
      for (const event of events)
        if (isOwn(event) && !isRewritten(event.id) && !isOfLoss(event.id)) stored.set(event.id, stored.size);
    return new LostRows(stored);
  }

  private constructor(stored: ReadonlyMap<string, number>) {
    this.#stored = stored;
  }

  /** The events that can be recorded now. */
  take(events: readonly CapturedEvent[]): readonly CapturedEvent[] {
    const now: CapturedEvent[] = [];
    for (const event of events) {
      const place = isOwn(event) ? this.#stored.get(event.id) : undefined;
      if (this.#held !== null && place !== undefined && place > this.#previous) {
        now.push(...this.#held);
        this.#held = null;
        this.#isDecided = true;
      }
      if (!this.#isDecided && this.#held === null && isOwn(event)) this.#follow(event, place);
      if (this.#held === null) now.push(event);
      else this.#held.push(event);
    }
    if (this.#held !== null && this.#held.length > mostHeld) now.push(...this.end());
    return now;
  }

  /** The events that were held back, at the end of the log. */
  end(): readonly CapturedEvent[] {
    const [first, ...rest] = this.#held ?? [];
    this.#held = null;
    this.#isDecided = true;
    if (first === undefined) return [];
    this.#count = this.#stored.size - 1 - this.#previous;
    const data = { keptThrough: this.#end };
    return [{ id: lossBefore(first.id), type: 'session:rewind', timestamp: null, data }, first, ...rest];
  }

  /** Says what was lost, if something was. */
  reportIn(summary: LogSummary): LogSummary {
    if (this.#count === 0) return summary;
    const { counts, diagnostics } = summary;
    const message = `The file has lost ${this.#count} messages, results and calls that were imported. They stay in the store, and what follows in the file does not follow them.`;
    return {
      ...summary,
      counts: { ...counts, rows_lost: this.#count },
      diagnostics: [...diagnostics, { code: 'rows_lost', message }],
    };
  }

  #follow(event: CapturedEvent, place: number | undefined): void {
    if (place === undefined) {
      if (this.#previous === this.#stored.size - 1) this.#isDecided = true;
      else this.#held = [];
      return;
    }
    this.#previous = Math.max(this.#previous, place);
    if (isReadableAs(event, 'session:rewind')) this.#end = event.data.keptThrough;
    // A late record of another branch does not end the current one.
    else if (event.follows === undefined || isPrompt(event)) this.#end = event.id;
  }
}

function isOwn({ agentId, type }: CapturedEvent): boolean {
  return agentId === undefined && (entryTypes.test(type) || type === 'session:rewind');
}

function isPrompt({ type, data }: CapturedEvent): boolean {
  const { kind } = isPlainObject(data.source) ? data.source : {};
  return type === 'user:message' && kind !== 'system';
}

const lossSuffix = ':lost';
const longestId = 128;

function lossBefore(id: string): string {
  return `${id.slice(0, longestId - lossSuffix.length)}${lossSuffix}`;
}

function isOfLoss(id: string): boolean {
  return id.endsWith(lossSuffix);
}

const bytesAtOnce = 64 * 1024;

/** Whether the bytes of a file have a text. Reads from the end, where the last message of a file that only grew is near. */
function isIn(file: string, text: string): boolean {
  const source = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(bytesAtOnce + text.length);
    for (let start = fstatSync(source).size; start > 0; ) {
      start = Math.max(0, start - bytesAtOnce);
      const read = readSync(source, bytes, 0, bytes.length, start);
      if (bytes.subarray(0, read).includes(text)) return true;
    }
    return false;
  } finally {
    closeSync(source);
  }
}
