import { setImmediate } from 'node:timers/promises';
import {
  type DispatchHits,
  type DispatchRef,
  type ListedDispatch,
  searchDispatches,
  usageOf,
} from '@hansard/dispatch';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { explainEstimates, formatSpending, projectOf } from '@hansard/facts';
import { EventWords, foldWord, placedWords, stringsOf, unsearchableKeys } from '@hansard/provider';
import {
  AgentNames,
  basisNote,
  cellInWords,
  copiesInWords,
  type DispatchTreeNode,
  dialogOf,
  dialogWords,
  dispatchTree,
  eventWords,
  forkNotes,
  type HearingRow,
  hearingMatrix,
  type LogAgent,
  perspectiveOf,
  perspectiveWords,
  type Speaker,
  snippetOf,
  speakerLabel,
  wordsLine,
} from '@hansard/views';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type {
  DialogAnswer,
  HeardAnswer,
  HeardLine,
  PerspectiveAnswer,
  SearchEnd,
  SearchedDispatch,
  TreeAnswer,
  TreeLine,
} from '../../answers.ts';
import { wholeNumber } from '../parameters.ts';
import type { OpenDispatches, ViewedStore } from '../viewed-store.ts';
import { lastLines, shownText, talkLine, timeOf } from './lens-page.ts';
import { type RecentIndex, RecentIndexes } from './recent-index.ts';

/** The most hits of a search. */
const mostHits = 500;

/** Columns of the text of a hit. */
const snippetColumns = 160;

/** The most dispatches that cannot be searched and are named. */
const mostProblems = 20;

/** The most dispatches of a tree. */
const mostDispatches = 2_000;

/** Code points of a text. */
const longestText = 120;

/**
 * The answers of the lenses, below `/api`: at most 200 lines before line `end`, or the last ones.
 *
 *     GET /tree?task=                            the dispatches of a task as trees, with their costs
 *     GET /d/:task/:id/dialog?agent=&agent=&end= sayings among these agents, or of all
 *     GET /d/:task/:id/perspective?agent=&end=   all that one agent was given, thought, did and said
 *     GET /d/:task/:id/heard?end=                who heard each saying
 */
export function lensRoutes(store: ViewedStore, dispatches: OpenDispatches): Hono {
  const app = new Hono();
  const indexes = new RecentIndexes();

  app.get('/tree', async (context) => context.json(await treeLens(store, context.req.query('task') ?? '')));

  app.get('/d/:task/:id/dialog', (context) =>
    onLog(context, (recent, end) => dialogLens(recent, { agents: context.req.queries('agent') ?? [], end })),
  );

  app.get('/d/:task/:id/perspective', (context) =>
    onLog(context, (recent, end) => {
      const agentId = context.req.query('agent') ?? recent.agents()[0]?.id ?? '';
      return perspectiveLens(recent, { agentId, end });
    }),
  );

  app.get('/d/:task/:id/heard', (context) => onLog(context, (recent, end) => heardLens(recent, { end })));

  return app;

  async function onLog(context: Context, answer: (recent: RecentIndex, end: number | null) => object) {
    const { task = '', id = '' } = context.req.param() as Record<string, string>;
    const ref: DispatchRef = { taskDir: task, dispatchId: id };
    const open = await dispatches.find(ref);
    if (open === null) throw new HTTPException(404, { message: `There is no dispatch ${id} in ${task}.` });
    const end = wholeNumber(context, 'end');
    const recent = await indexes.of(open);
    try {
      return context.json(answer(recent, end));
    } catch (error) {
      // An agent that is not in the log.
      if (error instanceof TypeError) throw new HTTPException(404, { message: error.message });
      throw error;
    }
  }
}

/** What one agent was given, thought, did and said. @throws TypeError for an agent that is not in the log */
function perspectiveLens(
  recent: RecentIndex,
  { agentId, end }: { readonly agentId: string; readonly end: number | null },
): PerspectiveAnswer {
  const rows = perspectiveOf(recent.index, agentId);
  return {
    ...recent.part(basisNote(rows)),
    agents: recent.agents(),
    agentId,
    ...lastLines(rows, end, (row) => talkLine(recent, perspectiveWords(recent.index, row))),
  };
}

/** Who heard what, and how. */
function heardLens(recent: RecentIndex, { end }: { readonly end: number | null }): HeardAnswer {
  const { agents, rows } = hearingMatrix(recent.index);
  return {
    ...recent.part(),
    agents: agents.map(({ agentId: id, label: name }) => ({ id, name })),
    ...lastLines(rows, end, (row) => heardLine(recent, agents, row)),
  };
}

function heardLine(recent: RecentIndex, agents: readonly LogAgent[], row: HearingRow): HeardLine {
  const { saying, cells, notKnown } = row;
  return {
    position: recent.positionOf(saying.position),
    ...shownText(saying.text, longestText),
    ...speakerOf(recent, saying.speaker),
    cells: agents.map(({ agentId }) => cellInWords(cells.get(agentId), notKnown.includes(agentId))),
  };
}

/** What was said among the chosen agents, or by all. @throws TypeError for an agent that is not in the log */
function dialogLens(
  recent: RecentIndex,
  { agents, end }: { readonly agents: readonly string[]; readonly end: number | null },
): DialogAnswer {
  const { index, isPartial: isPart } = recent;
  const rows = dialogOf(index, agents.length === 0 ? undefined : agents);
  return {
    ...recent.part(),
    agents: recent.agents(),
    ...lastLines(rows, end, (row) => talkLine(recent, dialogWords(index, row, { isPart, isLinked: true }))),
  };
}

function speakerOf({ index }: RecentIndex, speaker: Speaker) {
  return {
    speaker: speakerLabel(index, speaker),
    speakerId: speaker.kind === 'agent' ? (speaker.agentId ?? '') : null,
  };
}

/** The newest dispatches of a task as trees, with the figures of each, alone and with those below it. */
async function treeLens(store: ViewedStore, taskDir: string): Promise<TreeAnswer> {
  const listed: ListedDispatch[] = [];
  let after: string | null = null;
  do {
    const page = await store.listDispatches({
      taskDir,
      order: 'newest',
      ...(after === null ? {} : { after }),
    });
    for (const entry of page.dispatches) if (!('error' in entry)) listed.push(entry);
    after = page.next;
  } while (after !== null && listed.length < mostDispatches);
  const dispatches = listed.slice(0, mostDispatches);
  const shown = dispatches.map(({ envelope }) => envelope);
  const { total, copiedCalls, differing } = await usageOf(store, { dispatches });
  const estimates = explainEstimates(shown);
  return {
    lines: dispatchTree(shown).flatMap((node) => [...linesOf(node, 0)]),
    isCut: after !== null || shown.length < listed.length,
    cost: formatSpending(total),
    notes: [
      ...forkNotes(shown),
      ...copiesInWords(copiedCalls, differing),
      ...(estimates === null ? [] : [estimates]),
    ],
  };
}

function* linesOf(node: DispatchTreeNode, depth: number): Generator<TreeLine> {
  const { envelope, own, subtree, orphan: isOrphan, children } = node;
  const { dispatchId, title, role, status, model, startedAt } = envelope;
  const { turns, inputTokens, outputTokens, durationMs } = own;
  yield {
    ...{ dispatchId, depth, name: title ?? role, status, model, startedAt, isOrphan },
    ...{ turns, inputTokens, outputTokens, durationMs },
    cost: formatSpending(own),
    subtreeCost: children.length === 0 ? null : formatSpending(subtree),
  };
  for (const child of children) yield* linesOf(child, depth + 1);
}

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
    project: neutraliseControlsInLine(envelope === null ? taskDir : projectOf(taskDir, envelope)),
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
