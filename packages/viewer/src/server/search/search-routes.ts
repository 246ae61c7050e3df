import { setImmediate } from 'node:timers/promises';
import { type DispatchHits, searchDispatches } from '@hansard/dispatch';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { EventWords, foldWord, placedWords, stringsOf, unsearchableKeys } from '@hansard/provider';
import { AgentNames, eventWords, snippetOf, wordsLine } from '@hansard/views';
import { Hono } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { SearchEnd, SearchedDispatch } from '../../answers.ts';
import { timeOf } from '../lenses/lens-page.ts';
import type { OpenDispatches, ViewedStore } from '../viewed-store.ts';

/** The most hits of a search. */
const mostHits = 500;
/** Columns of the text of a hit. */
const snippetColumns = 160;
/** The most dispatches that cannot be searched and are named. */
const mostProblems = 20;

/**
 * Finds events by words, below `/api`, in the whole store or a task.
 *
 *     GET /search?text=&task=   one message for each dispatch with hits, `searched` for each that was read, `done` at the
 *                               end, or `failed`, as server-sent events
 */
export function searchRoutes(store: ViewedStore, dispatches: OpenDispatches): Hono {
  const app = new Hono();
  app.get('/search', (context) => {
    const { text = '', task } = context.req.query();
    return streamSSE(context, async (stream) => {
      const ending = new AbortController();
      stream.onAbort(() => ending.abort());
      try {
        await sendHits(store, dispatches, stream, { text, task, signal: ending.signal });
      } catch (error) {
        if (ending.signal.aborted) return;
        const message = error instanceof Error ? error.message : String(error);
        await stream.writeSSE({ event: 'failed', data: JSON.stringify({ message }) });
      }
    });
  });
  return app;
}

async function sendHits(
  store: ViewedStore,
  dispatches: OpenDispatches,
  stream: SSEStreamingApi,
  { text, task, signal }: { text: string; task: string | undefined; signal: AbortSignal },
): Promise<void> {
  const { words } = new EventWords(text);
  if (words.length === 0)
    throw new Error(`${JSON.stringify(text)} has no word. Letters and digits make a word.`);
  const problems: string[] = [];
  const found = searchDispatches(store, {
    query: text,
    limit: mostHits,
    ...(task === undefined ? {} : { taskDir: task }),
    onDispatch: async (searched) => {
      await stream.writeSSE({ event: 'searched', data: String(searched) });
      // Other requests are answered between dispatches.
      await setImmediate();
      signal.throwIfAborted();
    },
    onUnreadable: ({ message }) => {
      if (problems.length < mostProblems) problems.push(neutraliseControlsInLine(message));
    },
  });
  let count = 0;
  for await (const one of found) {
    signal.throwIfAborted();
    count += one.hits.length;
    await stream.writeSSE({ data: JSON.stringify(await shownHits(dispatches, one, words)) });
  }
  const end: SearchEnd = { isCut: count >= mostHits, problems };
  await stream.writeSSE({ event: 'done', data: JSON.stringify(end) });
}

async function shownHits(
  dispatches: OpenDispatches,
  { taskDir, dispatchId, envelope, hits }: DispatchHits,
  words: readonly string[],
): Promise<SearchedDispatch> {
  const open = await dispatches.find({ taskDir, dispatchId });
  const names = new AgentNames();
  for (const event of (await open?.rows.agentEventsBefore(Number.MAX_SAFE_INTEGER)) ?? []) names.learn(event);
  return {
    taskDir,
    dispatchId,
    title: neutraliseControlsInLine(envelope?.title ?? envelope?.role ?? dispatchId),
    startedAt: envelope?.startedAt ?? null,
    hits: hits.map(({ position, event }) => {
      const { agent, word } = wordsLine(eventWords(event, names), snippetColumns);
      const parts = snippetOf(stringsOf(event, unsearchableKeys), {
        words,
        fold: foldWord,
        split: placedWords,
        width: snippetColumns,
      });
      return { position, time: timeOf(event), agent, word, parts };
    }),
  };
}
