import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import type { CommunicationProvider } from '@hansard/provider';
import type { OpenText, RunChange, ViewedStore } from '@hansard/viewer';
import { Runs } from './create-run-page.ts';

/** One message of the stream of a session, as the `data` of a server-sent event. Its `type` is the name of that event. */
export type StreamMessage =
  /** What was recorded: messages with their parts, answers, calls, approvals, and letters when they are taken. Its position is the `id`. */
  | { readonly type: 'event'; readonly position: number; readonly event: CapturedEvent }
  /** Everything that was stored has been sent. Comes once in a connection. */
  | { readonly type: 'caught_up'; readonly position: number }
  /** What agents are writing. The first message of a connection has each text whole, as far as it is kept. */
  | {
      readonly type: 'writing';
      readonly texts: readonly WritingText[];
      /** The keys of texts that are over. Their events were sent before, unless they will never be in the log. */
      readonly ended: readonly number[];
    }
  /** The session has ended, and everything was sent. */
  | { readonly type: 'end'; readonly status: DispatchEnvelope['status'] };

interface WritingText extends Pick<OpenText, 'key' | 'agentId' | 'kind'> {
  /** The place of `text` in the whole text, in UTF-16 units. */
  readonly from: number;
  readonly text: string;
}

type Place = Parameters<ViewedStore['findDispatch']>[0];

/** The events of sessions for front ends. Give it to the hub, so that it has what agents are writing. */
export interface EventStream extends CommunicationProvider {
  /**
   * The stream of one session: what is recorded after the position in `Last-Event-ID` (absent: everything), in the order of the log, and what agents
   * are writing. It ends with the session. 404: there is no such session. 400: the header is not a position.
   */
  respond(dispatch: Place, request: Request): Promise<Response>;
}

/** Opens no port and checks nobody: the server of the caller decides who may read which session. */
export function createEventStream({
  store,
}: {
  readonly store: Pick<ViewedStore, 'findDispatch'>;
}): EventStream {
  const runs = new Runs();
  return {
    contract: 1,
    dispatchStarted: (notice) => runs.started(notice),
    eventRecorded: (notice) => runs.eventRecorded(notice),
    deltaReceived: (notice) => runs.deltaReceived(notice),
    dispatchEnded: (notice) => runs.ended(notice),
    async respond(dispatch, request) {
      const last = request.headers.get('last-event-id') ?? '-1';
      if (!/^(?:-1|\d{1,15})$/.test(last))
        return new Response('Last-Event-ID is not a position.', { status: 400 });
      if ((await store.findDispatch(dispatch)) === null)
        return new Response('There is no such session.', { status: 404 });
      const connection = new Connection(store, runs, dispatch);
      const messages = connection.messages(Number(last));
      const encoder = new TextEncoder();
      // A message is made when the client has room for it, so a slow client has at most one that waits.
      const body = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            const { done, value } = await messages.next();
            if (done === true) controller.close();
            else controller.enqueue(encoder.encode(textOf(value)));
          },
          cancel: () => connection.close(),
        },
        { highWaterMark: 0 },
      );
      request.signal.addEventListener('abort', () => connection.close());
      const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
      return new Response(body, { headers });
    },
  };
}

function textOf(message: StreamMessage): string {
  const id = message.type === 'event' ? `id: ${message.position}\n` : '';
  return `event: ${message.type}\n${id}data: ${JSON.stringify(message)}\n\n`;
}

interface Next<T> {
  item: IteratorResult<T> | null;
  error: { readonly cause: unknown } | null;
}

/** The number of latest events whose ids are known. */
const mostIds = 1_000;

/** One client. What it keeps is bounded: the ends of the texts that it was sent, and the ids of the latest events. */
class Connection {
  readonly #store: Pick<ViewedStore, 'findDispatch'>;
  readonly #runs: Runs;
  readonly #dispatch: Place;
  readonly #leaving = new AbortController();
  /** How much of each open text was sent. */
  readonly #sent = new Map<number, number>();
  /** Texts that are over, and the events that have them. */
  readonly #ended = new Map<number, string | null>();
  readonly #ids = new Set<string>();
  #wake = () => {};

  constructor(store: Pick<ViewedStore, 'findDispatch'>, runs: Runs, dispatch: Place) {
    this.#store = store;
    this.#runs = runs;
    this.#dispatch = dispatch;
  }

  close(): void {
    this.#leaving.abort();
    this.#wake();
  }

  async *messages(after: number): AsyncGenerator<StreamMessage, undefined> {
    const { signal } = this.#leaving;
    const log = await this.#store.findDispatch(this.#dispatch);
    if (log === null) return;
    const until = async () => (await this.#status()) !== 'running';
    const items = log.follow({ after, signal, pageSize: 32, until })[Symbol.asyncIterator]();
    const unwatch = this.#runs.watch(this.#dispatch, (change) => this.#changed(change));
    try {
      let next = this.#next(items);
      for (;;) {
        const changed = new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        const writing = this.#writing();
        if (writing !== null) yield writing;
        if (next.item === null && next.error === null && !signal.aborted) await changed;
        if (signal.aborted) return;
        if (next.error !== null) throw next.error.cause;
        const { item } = next;
        if (item === null) continue;
        if (item.done === true) break;
        next = this.#next(items);
        if (item.value.kind === 'event') this.#remember(item.value.event.id);
        const { kind, ...message } = item.value;
        yield { type: kind, ...message } as StreamMessage;
      }
      yield { type: 'end', status: await this.#status() };
    } finally {
      unwatch();
      await items.return?.();
    }
  }

  /** The next item, when it is there. */
  #next<T>(items: AsyncIterator<T>): Next<T> {
    const next: Next<T> = { item: null, error: null };
    items.next().then(
      (item) => {
        next.item = item;
        this.#wake();
      },
      (cause) => {
        next.error = { cause };
        this.#wake();
      },
    );
    return next;
  }

  async #status(): Promise<DispatchEnvelope['status']> {
    return (await this.#store.findDispatch(this.#dispatch))?.envelope.status ?? 'aborted';
  }

  #changed(change: RunChange): void {
    if (change.kind === 'ended' && this.#sent.delete(change.key)) this.#ended.set(change.key, change.eventId);
    this.#wake();
  }

  #remember(id: string): void {
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > mostIds && oldest !== undefined) this.#ids.delete(oldest);
  }

  /** What was written since the last message, or null if nothing was. */
  #writing(): StreamMessage | null {
    const ended = [...this.#ended].flatMap(([key, id]) => (id === null || this.#ids.has(id) ? [key] : []));
    for (const key of ended) this.#ended.delete(key);
    const texts = this.#runs.texts(this.#dispatch).flatMap(({ key, agentId, kind, start, text }) => {
      const from = Math.max(this.#sent.get(key) ?? 0, start);
      const end = start + text.length;
      this.#sent.set(key, end);
      return end > from ? [{ key, agentId, kind, from, text: text.slice(from - start) }] : [];
    });
    return texts.length === 0 && ended.length === 0 ? null : { type: 'writing', texts, ended };
  }
}
