import type { DispatchLog } from '@hansard/dispatch';
import { isStoreError } from '@hansard/provider';
import { AgentNames } from '@hansard/views';
import { type Context, Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { sendChanges } from './changes.ts';
import { eventRow } from './event-row.ts';
import { sendLiveRows } from './live-rows.ts';
import type { OpenDispatches } from './open-dispatches.ts';
import { onePart, wholeNumber } from './parameters.ts';
import type { ViewedStore } from './viewed-store.ts';

/** The most rows of an answer. */
const mostRows = 500;
/** Agents are named by the events up to about this position. */
const namedEvents = 20_000;
/** The most dispatches of a page of the library. */
const mostDispatches = 500;

/**
 * The answers of the viewer, below `/api`. `:task` is a `taskDir`, encoded as one part of the path. Positions are the only cursors.
 *
 *     GET /tasks                        the tasks of the store
 *     GET /dispatches?task=&after=      a page of dispatches, newest first
 *     GET /changes                      a message after changes of the store, as server-sent events
 *     GET /d/:task/:id                  the envelope
 *     GET /d/:task/:id/count            the number of events
 *     GET /d/:task/:id/agents           the names of agents, by their ids
 *     GET /d/:task/:id/rows?last=100    the last rows
 *     GET /d/:task/:id/rows?from=&n=    rows from a position
 *     GET /d/:task/:id/event/:position  one event, whole
 *     GET /d/:task/:id/live?after=      rows as they come, as server-sent events
 */
export function routes(store: ViewedStore, dispatches: OpenDispatches): Hono {
  const app = new Hono();

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
    const entries = page.dispatches.map(({ error, ...entry }) => ({ ...entry, error: error?.message }));
    return context.json({ dispatches: entries, next: page.next });
  });

  app.get('/changes', (context) => streamSSE(context, (stream) => sendChanges(stream, store)));

  const dispatch = new Hono();

  dispatch.get('/', (context) =>
    onDispatch(context, async (log) => context.json({ envelope: await log.refresh() })),
  );

  dispatch.get('/count', (context) =>
    onDispatch(context, async (log) => context.json({ count: await log.count() })),
  );

  dispatch.get('/agents', (context) =>
    onDispatch(context, async (log) => context.json({ names: await agentNames(log) })),
  );

  dispatch.get('/rows', (context) =>
    onDispatch(context, async (log) => {
      const last = wholeNumber(context, 'last', { most: mostRows });
      if (last !== null) return context.json(rowsOf(await log.last(last)));
      const from = wholeNumber(context, 'from') ?? 0;
      const limit = wholeNumber(context, 'n', { least: 1, most: mostRows }) ?? 100;
      return context.json(rowsOf(await pageAt(log, from, limit)));
    }),
  );

  dispatch.get('/event/:position', (context) =>
    onDispatch(context, async (log) => {
      const position = onePart(context.req.param('position'));
      const { events } = await pageAt(log, position, 1);
      const [event] = events;
      return event === undefined ? context.notFound() : context.json({ position, event });
    }),
  );

  dispatch.get('/live', (context) =>
    onDispatch(context, async (log) => {
      const again = context.req.header('last-event-id');
      const after = again === undefined ? wholeNumber(context, 'after', { least: -1 }) : onePart(again);
      return streamSSE(context, async (stream) => {
        const ending = new AbortController();
        stream.onAbort(() => ending.abort());
        const watch = async (onChange: () => void) =>
          store.capabilities.watch ? store.watch(log, onChange) : () => undefined;
        await sendLiveRows(stream, log, { after: after ?? -1, signal: ending.signal, watch });
      });
    }),
  );

  app.route('/d/:task/:id', dispatch);
  return app;

  async function onDispatch(
    context: Context,
    answer: (log: DispatchLog) => Promise<Response>,
  ): Promise<Response> {
    const { task = '', id = '' } = context.req.param() as Record<string, string>;
    const log = await dispatches.find({ taskDir: task, dispatchId: id });
    return log === null
      ? context.json({ message: `There is no dispatch ${id} in ${task}.` }, 404)
      : answer(log);
  }
}

/** The names that the first events give. */
async function agentNames(log: DispatchLog): Promise<Record<string, string>> {
  const names = new AgentNames();
  const ids = new Set<string>();
  for await (const { events, next } of log.pages()) {
    for (const event of events) {
      if (event.type === 'agent:created') ids.add(event.agentId ?? '');
      names.learn(event);
    }
    if (next > namedEvents) break;
  }
  return Object.fromEntries([...ids].map((id) => [id, names.of(id)]));
}

interface Page {
  readonly events: Awaited<ReturnType<DispatchLog['last']>>['events'];
  readonly first: number;
}

function rowsOf({ events, first }: Page) {
  return { first, rows: events.map((event, at) => eventRow(event, first + at)) };
}

/** A page without events where the log is not that long. */
async function pageAt(log: DispatchLog, from: number, limit: number): Promise<Page> {
  try {
    for await (const page of log.pages({ after: from - 1, limit })) return page;
  } catch (error) {
    if (!isStoreError(error, 'STORE_INVALID_CURSOR')) throw error;
  }
  return { events: [], first: from };
}
