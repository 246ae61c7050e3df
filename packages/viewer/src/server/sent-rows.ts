import { setImmediate } from 'node:timers/promises';
import { isStraightEvent } from '@hansard/prompt';
import { storeErrors } from '@hansard/provider';
import { type Row, type RowConditions, RowQuery, type RowReader, rowWords, wordsLine } from '@hansard/views';
import type { SSEStreamingApi } from 'hono/streaming';
import type { FoundRows, LiveRows, ReaderRow, TreeEntry } from '../answers.ts';
import { timeOf } from './lenses/lens-page.ts';
import type { SentWriting } from './viewed-runs.ts';
import type { OpenDispatch } from './viewed-store.ts';

/** The most events of one message. */
const mostEvents = 256;
/** Milliseconds between messages. Rows that come sooner after the last one share the next. */
const gatherMs = 50;
/** Milliseconds. */
const envelopeMs = 200;
/** Milliseconds. The tree is read again after changes of any dispatch of the task. */
const treeMs = 1_000;
/** Milliseconds between comments, so that nobody between takes the connection for dead. */
const keepAliveMs = 15_000;

export interface LiveOptions {
  /** The position of the last event that the page has. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** Calls back after changes of the dispatch, until the returned function is called. */
  readonly watch: (onChange: () => void) => Promise<() => void>;
  /** The dispatches above and below this one. */
  readonly tree: () => Promise<readonly TreeEntry[]>;
  /** What agents are writing, where the dispatch runs in this process. */
  readonly writing?: SentWriting | null;
}

/**
 * Sends the rows that events after a position begin or complete, without end: messages whose id is the position of the last event, so that
 * a page that connects again continues there. `caught_up` comes once, `envelope` and `tree` when they have changed, `gone` when the dispatch was deleted,
 * `folds` after an event that changes a branch, `reset` when it has no such position, `over` when the viewer closes and everything was sent. A slow page makes the reading wait.
 */
export async function sendLiveRows(
  stream: SSEStreamingApi,
  { log, rows }: OpenDispatch,
  { after, signal, watch, tree, writing = null }: LiveOptions,
): Promise<void> {
  const comments = setInterval(() => void stream.write(': \n\n').catch(() => undefined), keepAliveMs);
  // Rows that began earlier can be completed by what comes.
  const start = rows.startFor(after + 1);
  const reader = await rows.reader(start);
  const gathered = new GatheredRows(stream, reader, async () => writing?.flush());
  const sendOver = async () => {
    if (writing?.isOver !== true) return;
    await gathered.send();
    await stream.writeSSE({ event: 'over', data: '{}' });
  };
  const envelopes = new SentChanges(stream, 'envelope', envelopeMs, () => log.refresh());
  const trees = new SentChanges(stream, 'tree', treeMs, tree);
  let stopWatching = () => {};
  try {
    await stream.writeSSE({ event: 'hello', data: '{}', retry: 1_000 });
    if (writing !== null) {
      writing.onOver = () => void sendOver();
      await writing.start(after);
    }
    stopWatching = await watch(() => {
      envelopes.changed();
      trees.changed();
    });
    for await (const item of log.follow({ after: start - 1, signal })) {
      if (item.kind === 'event') {
        rows.learn(item.event, item.position);
        writing?.followed(item.event, item.position);
        const changed = reader.add(item.event);
        if (item.position > after) await gathered.add(item.position, changed);
        writing?.reached(item.position);
        if (item.position > after && !isStraightEvent(item.event)) {
          await gathered.send();
          await stream.writeSSE({ event: 'folds', data: '{}' });
        }
        await sendOver();
      } else {
        // A position that the log does not have yet.
        if (item.position < after) return void (await stream.writeSSE({ event: 'reset', data: '{}' }));
        await gathered.send();
        await stream.writeSSE({ event: 'caught_up', data: JSON.stringify(item.position) });
        await envelopes.send();
        await trees.send();
      }
    }
    await gathered.send();
  } catch (error) {
    await gathered.send();
    const event = storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')
      ? 'gone'
      : storeErrors.is(error, 'STORE_INVALID_CURSOR')
        ? 'reset'
        : 'failed';
    const message = error instanceof Error ? error.message : String(error);
    await stream.writeSSE({ event, data: JSON.stringify({ message }) });
  } finally {
    clearInterval(comments);
    stopWatching();
    envelopes.stop();
    trees.stop();
    gathered.stop();
    writing?.stop();
  }
}

/** Sends something after changes, when it is no longer what was sent, at most once per `waitMs`. */
class SentChanges {
  readonly #stream: SSEStreamingApi;
  readonly #event: string;
  readonly #waitMs: number;
  readonly #read: () => Promise<unknown>;
  #sent = '';
  #timer: NodeJS.Timeout | null = null;
  /** The sending that is under way. Never rejects. */
  #sending: Promise<void> = Promise.resolve();

  constructor(stream: SSEStreamingApi, event: string, waitMs: number, read: () => Promise<unknown>) {
    this.#stream = stream;
    this.#event = event;
    this.#waitMs = waitMs;
    this.#read = read;
  }

  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      // A dispatch that cannot be read ends the following, which says why.
      this.send().catch(() => undefined);
    }, this.#waitMs);
  }

  /** One reading at a time: an older state must not be sent after a newer one. */
  send(): Promise<void> {
    const sent = this.#sending.then(() => this.#send());
    this.#sending = sent.catch(() => undefined);
    return sent;
  }

  async #send(): Promise<void> {
    const now = JSON.stringify(await this.#read());
    if (now === this.#sent) return;
    this.#sent = now;
    await this.#stream.writeSSE({ event: this.#event, data: now });
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

/**
 * Rows that are sent together: at once if none were sent lately, because a store that is polled has delayed them already. A row that changes
 * several times is sent once.
 */
class GatheredRows {
  readonly #stream: SSEStreamingApi;
  readonly #reader: RowReader;
  readonly #before: () => Promise<void>;
  readonly #changed = new Set<number>();
  #events = 0;
  #end = -1;
  #timer: NodeJS.Timeout | null = null;
  #sentAt = Number.NEGATIVE_INFINITY;
  #sending: Promise<void> = Promise.resolve();

  /** `before` is awaited before each message. */
  constructor(stream: SSEStreamingApi, reader: RowReader, before: () => Promise<void>) {
    this.#stream = stream;
    this.#reader = reader;
    this.#before = before;
  }

  /** Waits only when the message is full. */
  async add(position: number, changed: readonly number[]): Promise<void> {
    this.#end = position;
    this.#events += 1;
    for (const row of changed) this.#changed.add(row);
    if (this.#events >= mostEvents) await this.send();
    else if (this.#timer === null) {
      // The others of a page come before any timer.
      const waitMs = Math.max(0, this.#sentAt + gatherMs - performance.now());
      this.#timer = setTimeout(() => void this.send(), waitMs);
    }
  }

  send(): Promise<void> {
    this.stop();
    if (this.#events === 0) return this.#sending;
    const rows = [...this.#changed].flatMap((position) => {
      const row = this.#reader.at(position);
      return row === null ? [] : [readerRow(row)];
    });
    // Rows that can no longer change.
    this.#reader.settled();
    this.#changed.clear();
    this.#events = 0;
    this.#sentAt = performance.now();
    const data = JSON.stringify({ rows, end: this.#end } satisfies LiveRows);
    const message = { data, id: String(this.#end) };
    this.#sending = this.#sending.then(async () => {
      await this.#before();
      await this.#stream.writeSSE(message);
    });
    return this.#sending;
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** Code points of a text. */
const longestText = 160;

export function readerRow(row: Row): ReaderRow {
  const words = rowWords(row);
  const { position, kind, agentId, tone, isFailed } = words;
  return {
    ...wordsLine(words, longestText),
    position,
    kind,
    time: timeOf(row),
    agentId,
    tone,
    isFailed,
  };
}

/** Milliseconds. What is found within this time shares a message. */
const foundTogetherMs = 50;

/**
 * Sends the positions of the rows that match, in order, while the log is read: messages with positions, then `done` at
 * the end of the log. Ends early when the signal aborts. Other requests are answered between pages.
 */
export async function sendFoundRows(
  stream: SSEStreamingApi,
  { log, rows }: OpenDispatch,
  conditions: RowConditions,
  signal: AbortSignal,
): Promise<void> {
  const query = new RowQuery(conditions);
  const start = rows.startFor(conditions.from ?? 0);
  const reader = await rows.reader(start);
  let found: number[] = [];
  let scanned = start;
  let sentAt = performance.now();
  const send = async (event: 'message' | 'done') => {
    const data = JSON.stringify({ positions: found, scanned } satisfies FoundRows);
    found = [];
    sentAt = performance.now();
    await stream.writeSSE(event === 'done' ? { event, data } : { data });
  };
  const take = (some: readonly Row[]) => {
    for (const { position } of some) found.push(position);
  };
  try {
    for await (const { events, next } of log.pages({ after: start - 1 })) {
      for (const event of events) {
        reader.add(event);
        take(reader.settled(query));
      }
      scanned = next + 1;
      if (performance.now() - sentAt >= foundTogetherMs) await send('message');
      await setImmediate();
      if (signal.aborted) return;
    }
    take(reader.end(query));
    await send('done');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await stream.writeSSE({ event: 'failed', data: JSON.stringify({ message }) });
  }
}
