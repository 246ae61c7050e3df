import type { DispatchLog } from '@hansard/dispatch';
import { isStoreError } from '@hansard/provider';
import type { SSEStreamingApi } from 'hono/streaming';
import { type EventRow, eventRow } from './event-row.ts';

/** The most rows of one message. */
const mostRows = 256;
/** Milliseconds. Rows that come within this time share a message. */
const gatherMs = 50;
/** Milliseconds. */
const envelopeMs = 200;
/** Milliseconds between comments, so that nobody between takes the connection for dead. */
const keepAliveMs = 15_000;

export interface LiveOptions {
  /** The position of the last event that the page has. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** Calls back after changes of the dispatch, until the returned function is called. */
  readonly watch: (onChange: () => void) => Promise<() => void>;
}

/**
 * Sends the rows after a position, without end: messages with rows, whose id is the position of the last one, so that a page that
 * connects again continues there. `caught_up` comes once, `envelope` when the envelope has changed, `gone` when the dispatch was deleted,
 * `reset` when it has no such position. A slow page makes the reading wait.
 */
export async function sendLiveRows(
  stream: SSEStreamingApi,
  log: DispatchLog,
  { after, signal, watch }: LiveOptions,
): Promise<void> {
  const comments = setInterval(() => void stream.write(': \n\n').catch(() => undefined), keepAliveMs);
  const gathered = new GatheredRows(stream);
  const envelopes = new SentEnvelopes(stream, log);
  let stopWatching = () => {};
  try {
    await stream.writeSSE({ event: 'hello', data: '{}', retry: 1_000 });
    stopWatching = await watch(() => envelopes.changed());
    for await (const item of log.follow({ after, signal })) {
      if (item.kind === 'event') await gathered.add(eventRow(item.event, item.position));
      else {
        await gathered.send();
        await stream.writeSSE({ event: 'caught_up', data: JSON.stringify(item.position) });
        await envelopes.send();
      }
    }
    await gathered.send();
  } catch (error) {
    await gathered.send();
    const event = isStoreError(error, 'STORE_DISPATCH_NOT_FOUND')
      ? 'gone'
      : isStoreError(error, 'STORE_INVALID_CURSOR')
        ? 'reset'
        : 'failed';
    const message = error instanceof Error ? error.message : String(error);
    await stream.writeSSE({ event, data: JSON.stringify({ message }) });
  } finally {
    clearInterval(comments);
    stopWatching();
    envelopes.stop();
    gathered.stop();
  }
}

/** Sends the envelope when it has changed, at most once per `envelopeMs`. */
class SentEnvelopes {
  readonly #stream: SSEStreamingApi;
  readonly #log: DispatchLog;
  #sent = '';
  #timer: NodeJS.Timeout | null = null;

  constructor(stream: SSEStreamingApi, log: DispatchLog) {
    this.#stream = stream;
    this.#log = log;
  }

  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      // A dispatch that cannot be read ends the following, which says why.
      this.send().catch(() => undefined);
    }, envelopeMs);
  }

  async send(): Promise<void> {
    const now = JSON.stringify(await this.#log.refresh());
    if (now === this.#sent) return;
    this.#sent = now;
    await this.#stream.writeSSE({ event: 'envelope', data: now });
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

/** Rows that wait to be sent together. */
class GatheredRows {
  readonly #stream: SSEStreamingApi;
  #rows: EventRow[] = [];
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> = Promise.resolve();

  constructor(stream: SSEStreamingApi) {
    this.#stream = stream;
  }

  /** Waits only when the message is full. */
  async add(row: EventRow): Promise<void> {
    this.#rows.push(row);
    if (this.#rows.length >= mostRows) await this.send();
    else this.#timer ??= setTimeout(() => void this.send(), gatherMs);
  }

  send(): Promise<void> {
    this.stop();
    const rows = this.#rows;
    const last = rows.at(-1);
    if (last === undefined) return this.#sending;
    this.#rows = [];
    const message = { data: JSON.stringify(rows), id: String(last[0]) };
    this.#sending = this.#sending.then(() => this.#stream.writeSSE(message));
    return this.#sending;
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
