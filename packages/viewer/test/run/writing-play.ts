import type { Dispatch } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import type { SSEStreamingApi } from 'hono/streaming';
import type { LiveRows, WritingMessage } from '../../src/answers.ts';
import type { RunState } from '../../src/page/live.ts';
import { LogRows } from '../../src/server/log-rows.ts';
import { sendLiveRows } from '../../src/server/sent-rows.ts';
import { type OpenText, type RunChange, SentWriting, type ViewedRuns } from '../../src/server/viewed-runs.ts';

/** A run as the test plays it: three agents that write words, and record what they wrote. */
class PlayedRun implements ViewedRuns {
  readonly open = new Map<string, OpenText>();
  /** The event of each text that was recorded. */
  readonly recorded = new Map<number, number>();
  /** Everything that was written, of every text. */
  readonly written = new Map<number, string>();
  readonly #listeners = new Set<(change: RunChange) => void>();
  #key = 0;

  controls = () => ({ messages: true, abort: true });
  texts = () => [...this.open.values()];
  send = async () => true;
  abort = () => true;
  watch = (_dispatch: unknown, listener: (change: RunChange) => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  write(agentId: string, word: string): void {
    const before = this.open.get(agentId);
    if (before === undefined) this.#key += 1;
    const text: OpenText = {
      key: before?.key ?? this.#key,
      agentId,
      kind: 'text',
      start: 0,
      text: (before?.text ?? '') + word,
    };
    this.open.set(agentId, text);
    this.written.set(text.key, text.text);
    this.#emit({ kind: 'changed' });
  }

  /** Ends a text with the event that has it. */
  end({ key, agentId }: OpenText, eventId: string): void {
    this.open.delete(agentId);
    this.#emit({ kind: 'ended', key, eventId });
  }

  #emit(change: RunChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}

/** A page: what it shows, and the connection that it has. */
class PlayedPage {
  readonly rows = new Map<number, string>();
  rowsTo = -1;
  readonly faults: string[] = [];
  readonly #run: PlayedRun;
  readonly #state: RunState;
  readonly #dispatch: Dispatch;
  #connection: AbortController | null = null;
  #done: Promise<void> = Promise.resolve();
  #gate: PromiseWithResolvers<void> | null = null;
  #shown = new Set<number>();
  #onRows = () => {};
  #onWriting = () => {};
  #isWriting = 0;

  constructor(run: PlayedRun, dispatch: Dispatch, state: RunState) {
    this.#run = run;
    this.#dispatch = dispatch;
    this.#state = state;
  }

  connect(): void {
    if (this.#connection !== null) return;
    const connection = new AbortController();
    this.#connection = connection;
    this.#shown = new Set();
    const stream = {
      write: async () => undefined,
      writeSSE: async ({ event, data }: { event?: string; data: string }) => {
        if (event === 'writing') this.#isWriting += 1;
        if (this.#isWriting > 1) this.faults.push('more than one message about texts is under way');
        await this.#gate?.promise;
        if (event === 'writing') this.#isWriting -= 1;
        if (!connection.signal.aborted) this.#receive(event ?? 'message', JSON.parse(data));
      },
    };
    const log = this.#dispatch;
    const writing = new SentWriting({ stream, runs: this.#run, log });
    this.#done = sendLiveRows(
      stream as unknown as SSEStreamingApi,
      { log, rows: new LogRows(log) },
      {
        after: this.rowsTo,
        signal: connection.signal,
        watch: async () => () => {},
        tree: async () => [],
        writing,
      },
    );
  }

  async cut(): Promise<void> {
    this.#connection?.abort();
    this.#connection = null;
    this.go();
    await this.#done;
  }

  /** From now on nothing arrives. */
  stall(): void {
    this.#gate ??= Promise.withResolvers();
  }

  go(): void {
    this.#gate?.resolve();
    this.#gate = null;
  }

  /** Resolves when the next message about texts has come, or nothing can come. */
  async flushed(): Promise<void> {
    if (this.#connection === null || this.#gate !== null) return;
    await new Promise<void>((resolve) => {
      this.#onWriting = resolve;
      this.#run.write('a0', '+');
    });
  }

  /** Resolves when it has the rows up to a position. */
  async until(position: number): Promise<void> {
    while (this.rowsTo < position)
      await new Promise<void>((resolve) => {
        this.#onRows = resolve;
      });
  }

  texts(): readonly string[] {
    return this.#state.texts.map(({ text }) => text).sort();
  }

  #receive(event: string, data: unknown): void {
    if (event === 'writing') {
      // The first message of a connection replaces what an earlier one left.
      if ((data as WritingMessage).isFirst) this.#shown = new Set();
      this.#state.received(data as WritingMessage);
    }
    if (event === 'message') {
      const { rows, end } = data as LiveRows;
      for (const { position, text } of rows) this.rows.set(position, text);
      this.rowsTo = end;
      this.#state.rowsTo(end);
    }
    this.#check();
    if (event === 'message') this.#onRows();
    if (event === 'writing') this.#onWriting();
  }

  /** At every moment: no text twice, none lost, each as far as it came. */
  #check(): void {
    const now = new Set<number>();
    for (const { key, text } of this.#state.texts) {
      now.add(key);
      const position = this.#run.recorded.get(key);
      if (position !== undefined && position <= this.rowsTo)
        this.faults.push(`text ${key} is also in row ${position}`);
      if (this.#run.written.get(key)?.startsWith(text) !== true)
        this.faults.push(`text ${key} is not what was written`);
    }
    for (const key of this.#shown) {
      const position = this.#run.recorded.get(key);
      const isInRow = position !== undefined && position <= this.rowsTo;
      if (!now.has(key) && !isInRow) this.faults.push(`text ${key} was shown and is lost`);
    }
    this.#shown = now;
  }
}

/** Random deltas, records, joins, cuts and stalls. Returns what pages showed wrongly; empty: nothing. */
export async function play(
  dispatch: Dispatch,
  seed: number,
  newState: () => RunState,
): Promise<readonly string[]> {
  const random = randomFrom(seed);
  const run = new PlayedRun();
  const pages: PlayedPage[] = [];
  const said = new Map<number, string>();
  let count = 0;
  const record = async (agentId: string | undefined, text: string) => {
    const own = agentId === undefined ? {} : { agentId };
    const event = await dispatch.append({ type: 'agent:text', data: { text }, ...own });
    said.set(count, text.trim());
    count += 1;
    return event.id;
  };
  /** Enough for a page that stalls to be late. */
  const recordMany = async (step: number) => {
    const texts = Array.from({ length: 300 }, (_, at) => `m${step}-${at}`);
    await dispatch.append(texts.map((text): NewEvent => ({ type: 'agent:text', data: { text } })));
    for (const [at, text] of texts.entries()) said.set(count + at, text);
    count += texts.length;
  };
  for (let step = 0; step < 120; step += 1) {
    const page = pages[Math.floor(random() * pages.length)];
    const agentId = `a${Math.floor(random() * 3)}`;
    const chance = random();
    if (chance < 0.36) run.write(agentId, `w${step} `);
    else if (chance < 0.54) {
      const open = run.open.get(agentId);
      if (open !== undefined) {
        run.recorded.set(open.key, count);
        run.end(open, await record(agentId, open.text));
      } else await record(undefined, `n${step}`);
    } else if (chance < 0.57) await recordMany(step);
    else if (chance < 0.64 && pages.length < 4) {
      const joined = new PlayedPage(run, dispatch, newState());
      pages.push(joined);
      joined.connect();
    } else if (chance < 0.69) await page?.cut();
    else if (chance < 0.77) page?.connect();
    else if (chance < 0.83) page?.stall();
    else if (chance < 0.87) page?.go();
    // Pages receive something meanwhile.
    else await page?.flushed();
  }
  for (const page of pages) {
    page.go();
    page.connect();
  }
  await record(undefined, 'the end');
  for (const page of pages) await page.until(count - 1);
  const faults = pages.flatMap((page, number) => {
    const shown = JSON.stringify([...page.rows].sort(([one], [other]) => one - other));
    const open = [...run.open.values()].map(({ text }) => text).sort();
    return [
      ...page.faults,
      ...(shown === JSON.stringify([...said]) ? [] : [`page ${number} has other rows than the log`]),
      ...(JSON.stringify(page.texts()) === JSON.stringify(open)
        ? []
        : [`page ${number} shows other texts than are open`]),
    ];
  });
  for (const page of pages) await page.cut();
  return faults;
}
