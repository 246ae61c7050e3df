import { neutraliseControlsInLine } from '@hansard/events/plain';
import { type Row, renderRow, rowKinds, rowWords } from '@hansard/views';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { type ConversationItem, type ConversationPage, type History, shownImages } from '../answers.ts';
import { cutTexts, harmless } from './cut-texts.ts';
import { eventDetail } from './event-detail.ts';
import { libraryLine, storeSpending } from './library.ts';
import type { Folding, LogRows, RowPage } from './log-rows.ts';
import { isEdit, Overviews } from './overview.ts';
import { onePart, wholeNumber } from './parameters.ts';
import { readerRow, sendFoundRows, sendLiveRows } from './sent-rows.ts';
import { treeOf } from './tree-of.ts';
import { SentWriting, type ViewedRuns } from './viewed-runs.ts';
import type { OpenDispatch, OpenDispatches, ViewedStore } from './viewed-store.ts';

/** Milliseconds. Changes within this time share a message. */
const gatherMs = 500;

/** Milliseconds. How often a store that cannot be watched is taken as changed. */
const blindMs = 5_000;

const keepAliveMs = 15_000;

/** The most events that a history has. */
const mostEvents = 2_000;

/** The most characters of a history. A longer last row is whole. */
const mostCharacters = 1_000_000;

/** The most rows of an answer. */
const mostRows = 500;

/** The most streams that have no end. A browser has six connections: two are left for requests. */
const mostStreams = 4;

/** The most dispatches of a page of the library. */
const mostDispatches = 500;

/**
 * The answers of the viewer, below `/api`. `:task` is a `taskDir`, encoded as one part of the path. Positions are the only cursors.
 *
 *     GET /tasks                        the tasks of the store
 *     GET /dispatches?task=&after=      a page of dispatches, newest first
 *     GET /spending?task=               what was used in the last 30 days, by day, project and model
 *     GET /changes                      a message after changes of the store, as server-sent events
 *     GET /d/:task/:id                  the envelope
 *     GET /d/:task/:id/agents           the agents that are known
 *     GET /d/:task/:id/rows?last=100    the rows that begin at the last positions
 *     GET /d/:task/:id/rows?from=&n=    the rows that begin at these positions
 *       …&open=                         with one row for those of each branch that is not current and of the head of a fork, except where
 *                                       one has one of these positions; open=all: with all rows, and marks on these
 *     GET /d/:task/:id/conversation?from=&n=&open=
 *                                       the same, with the whole words of what was said and received
 *     GET /d/:task/:id/map              where its prompts, failures and edits are
 *     GET /d/:task/:id/time             when its calls began and ended, what each model call used, and its tools
 *     GET /d/:task/:id/event/:position  one event with its row and its recorded links; cut above 256 KiB
 *     GET /d/:task/:id/event/:position/line  the event as one line of JSON, whole
 *     GET /d/:task/:id/content/:sha256?type=
 *                                       the bytes of an image, a document or a sound; shown if it is an image of a safe type, otherwise a download
 *     GET /d/:task/:id/history?to=      what happened up to an event, as text
 *     GET /d/:task/:id/find?text=&agent=&kind=&failed=1&from=
 *                                       the positions of rows, as they are found, as server-sent events
 *     GET /d/:task/:id/live?after=      rows as they come, as server-sent events
 */
export function routes(store: ViewedStore, dispatches: OpenDispatches, runs?: ViewedRuns): Hono {
  const app = new Hono();
  const places = new StreamPlaces(mostStreams);

  app.get('/tasks', async (context) => {
    const tasks = await store.listTasks();
    return context.json(tasks.map(({ taskDir, task, error }) => ({ taskDir, task, error: error?.message })));
  });

  app.get('/dispatches', async (context) => {
    const { task, after } = context.req.query();
    const page = await store.listDispatches({
      order: 'newest',
      limit: mostDispatches,
      ...(task === undefined ? {} : { taskDir: task }),
      ...(after === undefined ? {} : { after }),
    });
    return context.json({ dispatches: page.dispatches.map(libraryLine), next: page.next });
  });

  app.get('/spending', async (context) =>
    context.json(await storeSpending(store, context.req.query('task'), Date.now())),
  );

  app.get('/changes', (context) =>
    streamSSE(context, (stream) => {
      const ending = new AbortController();
      stream.onAbort(() => ending.abort());
      return places.hold(ending, (signal) => sendChanges(stream, store, signal));
    }),
  );

  app.route(
    '/d/:task/:id',
    dispatchRoutes(dispatches)
      .route('/', conversationRoutes(dispatches))
      .route('/', streamRoutes(store, dispatches, places, runs)),
  );
  return app;
}

/** The answers for one dispatch, except those that are streams. */
function dispatchRoutes(dispatches: OpenDispatches): Hono {
  const dispatch = new Hono();

  dispatch.get('/', (context) =>
    onDispatch(dispatches, context, async ({ log }) => context.json({ envelope: await log.refresh() })),
  );

  dispatch.get('/agents', (context) =>
    onDispatch(dispatches, context, async ({ rows }) => context.json({ agents: await rows.agents() })),
  );

  dispatch.get('/rows', (context) =>
    onDispatch(dispatches, context, async ({ rows }) => {
      const last = wholeNumber(context, 'last', { most: mostRows });
      const folding = await foldingOf(context, rows);
      if (last !== null) return context.json(shown(await rows.last(last, folding)));
      const from = wholeNumber(context, 'from') ?? 0;
      const limit = wholeNumber(context, 'n', { least: 1, most: mostRows }) ?? 100;
      return context.json(shown(await rows.page(from, limit, folding)));
    }),
  );

  dispatch.get('/event/:position', (context) =>
    onDispatch(dispatches, context, async ({ rows }) => {
      const position = onePart(context.req.param('position'));
      const detail = await eventDetail(rows, position);
      return detail === null ? context.notFound() : context.json(detail);
    }),
  );

  dispatch.get('/event/:position/line', (context) =>
    onDispatch(dispatches, context, async ({ rows }) => {
      const event = await rows.event(onePart(context.req.param('position')));
      return event === null ? context.notFound() : context.text(JSON.stringify(event));
    }),
  );

  dispatch.get('/content/:sha256', (context) =>
    onDispatch(dispatches, context, async ({ log }) => {
      const sha256 = context.req.param('sha256') ?? '';
      const base64 = await log.readContent(sha256);
      if (base64 === null) return context.notFound();
      const { type = '' } = context.req.query();
      // Any other type, such as SVG, could run a script if it was opened by itself.
      const isImage = shownImages.has(type);
      context.header('content-type', isImage ? type : 'application/octet-stream');
      if (!isImage) context.header('content-disposition', 'attachment');
      return context.body(Buffer.from(base64, 'base64'));
    }),
  );

  dispatch.get('/history', (context) =>
    onDispatch(dispatches, context, async ({ rows }) => {
      const to = wholeNumber(context, 'to');
      const history = to === null ? null : await historyOf(rows, to);
      return history === null ? context.notFound() : context.json(history);
    }),
  );

  return dispatch;
}

/** One dispatch as a conversation, with its map and its times. */
function conversationRoutes(dispatches: OpenDispatches): Hono {
  const dispatch = new Hono();
  const overviews = new Overviews();

  dispatch.get('/conversation', (context) =>
    onDispatch(dispatches, context, async ({ rows }) => {
      const from = wholeNumber(context, 'from') ?? 0;
      const limit = wholeNumber(context, 'n', { least: 1, most: mostRows }) ?? 100;
      const page = await rows.page(from, limit, await foldingOf(context, rows));
      const { first, size } = page;
      const items = page.rows.map(conversationItem);
      return context.json({ first, size, items } satisfies ConversationPage);
    }),
  );

  dispatch.get('/map', (context) =>
    onDispatch(dispatches, context, async (open) => context.json((await overviews.of(open)).map)),
  );

  dispatch.get('/time', (context) =>
    onDispatch(dispatches, context, async (open) => context.json((await overviews.of(open)).time)),
  );

  return dispatch;
}

/** The rows of one dispatch, as they are found and as they come. */
function streamRoutes(
  store: ViewedStore,
  dispatches: OpenDispatches,
  places: StreamPlaces,
  runs?: ViewedRuns,
): Hono {
  const dispatch = new Hono();

  dispatch.get('/find', (context) =>
    onDispatch(dispatches, context, async (open) => {
      const { text, agent: agentId, kind, failed } = context.req.query();
      const wanted = rowKinds.find((known) => known === kind);
      if (kind !== undefined && wanted === undefined)
        throw new HTTPException(400, { message: `kind must be one of ${rowKinds.join(', ')}.` });
      const from = wholeNumber(context, 'from') ?? 0;
      const query = { text, agentId, kind: wanted, failed: failed === '1', from };
      return streamSSE(context, async (stream) => {
        const ending = new AbortController();
        stream.onAbort(() => ending.abort());
        await sendFoundRows(stream, open, query, ending.signal);
      });
    }),
  );

  dispatch.get('/live', (context) =>
    onDispatch(dispatches, context, async (open) => {
      const again = context.req.header('last-event-id');
      const after = again === undefined ? wholeNumber(context, 'after', { least: -1 }) : onePart(again);
      return streamSSE(context, async (stream) => {
        const ending = new AbortController();
        stream.onAbort(() => ending.abort());
        const watch = async (onChange: () => void) =>
          store.capabilities.watch ? store.watch({ taskDir: open.log.taskDir }, onChange) : () => undefined;
        const tree = () => treeOf(store, open.log);
        const writing = runs === undefined ? null : new SentWriting({ stream, runs, log: open.log });
        await places.hold(ending, (signal) =>
          sendLiveRows(stream, open, { after: after ?? -1, signal, watch, tree, writing }),
        );
      });
    }),
  );

  return dispatch;
}

async function onDispatch(
  dispatches: OpenDispatches,
  context: Context,
  answer: (dispatch: OpenDispatch) => Promise<Response>,
): Promise<Response> {
  const { task = '', id = '' } = context.req.param() as Record<string, string>;
  const open = await dispatches.find({ taskDir: task, dispatchId: id });
  return open === null
    ? context.json({ message: `There is no dispatch ${id} in ${task}.` }, 404)
    : answer(open);
}

/** What is folded for a page. Null: nothing. */
async function foldingOf(context: Context, rows: LogRows): Promise<Folding | null> {
  const asked = context.req.query('open');
  if (asked === undefined) return null;
  const open = asked === 'all' || asked === '' ? [] : asked.split(',').map(onePart);
  const folds = await rows.folds();
  if (folds === null) return null;
  const opened = new Set(open.map((position) => folds.at(position)));
  return { folds, isOpen: (fold) => asked === 'all' || opened.has(fold) };
}

function shown({ rows, ...page }: RowPage) {
  return { ...page, rows: rows.map(readerRow) };
}

/** Characters of a row of a conversation. The event has a longer one whole. */
const mostOfRow = 40_000;

/** What was said, and what a person or an agent wrote. What a program wrote is a record. */
function isSaid({ kind, from }: Row): boolean {
  return kind === 'said' || kind === 'aside' || from?.kind === 'user' || from?.kind === 'agent';
}

function conversationItem(row: Row): ConversationItem {
  const isWhole = isSaid(row);
  const characters = row.content.reduce(
    (sum, part) => sum + (part.kind === 'text' ? part.text.length : 0),
    0,
  );
  const isCut = isWhole && characters > mostOfRow;
  return {
    ...readerRow(row),
    words: isWhole ? harmless(rowWords(isCut ? cutTexts(row, mostOfRow) : row)) : null,
    isCut,
    tool: row.call === undefined ? null : neutraliseControlsInLine(row.call.tool),
    durationMs: row.durationMs ?? null,
    isEdit: isEdit(row),
    isPrompt: row.from?.kind === 'user',
  };
}

/** What happened up to an event, as text. Nothing of it is from later events. Null: there is no such event. */
async function historyOf(rows: LogRows, position: number): Promise<History | null> {
  const page = await rows.upTo(position, mostEvents);
  if (page === null) return null;
  const shown: string[] = [];
  let characters = 0;
  let first = position + 1;
  for (const row of page.rows.toReversed()) {
    const text = renderRow(row, { full: true });
    characters += text.length + 1;
    if (characters > mostCharacters && shown.length > 0) break;
    shown.unshift(text);
    first = row.position;
  }
  if (page.first === 0 && shown.length === page.rows.length) first = 0;
  const before = first === 0 ? [] : [`… ${first} earlier events are left out …`];
  return { first, text: `${[...before, ...shown].join('\n')}\n` };
}

/**
 * A browser has six connections for one address, over all of its tabs, and a request beyond them waits without end. So only a few streams stay
 * open: a new one ends the oldest, whose page continues a second later and ends another one. With more pages than places, each has its turn.
 */
export class StreamPlaces {
  readonly #most: number;
  readonly #open = new Set<AbortController>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Runs until the work returns. The signal of the work aborts when a newer stream needs its place, or by `ending.abort()`. */
  async hold(ending: AbortController, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#open.add(ending);
    for (const oldest of this.#open) {
      if (this.#open.size <= this.#most) break;
      this.#open.delete(oldest);
      oldest.abort();
    }
    try {
      await work(ending.signal);
    } finally {
      this.#open.delete(ending);
    }
  }
}

/** Sends a message after changes of the store, until the signal aborts. */
async function sendChanges(stream: SSEStreamingApi, store: ViewedStore, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | null = null;
  const send = () => {
    timer = null;
    stream.writeSSE({ data: '{}' }).catch(() => undefined);
  };
  const onChange = () => {
    timer ??= setTimeout(send, gatherMs);
  };
  const comments = setInterval(() => void stream.write(': \n\n').catch(() => undefined), keepAliveMs);
  const stop = await watchAll(store, onChange);
  await stream.writeSSE({ event: 'hello', data: '{}', retry: 1_000 });
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
  stop();
  clearInterval(comments);
  if (timer !== null) clearTimeout(timer);
}

async function watchAll(store: ViewedStore, onChange: () => void): Promise<() => void> {
  if (store.capabilities.watch) return store.watch({}, onChange);
  const interval = setInterval(onChange, blindMs);
  return () => clearInterval(interval);
}
