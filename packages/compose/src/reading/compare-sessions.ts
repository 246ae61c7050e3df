import type { DispatchStore } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope, JsonValue } from '@hansard/events';
import {
  createDispatchFacts,
  figuresOfDispatch,
  LoggedUsage,
  openCallEvents,
  type UsageFigures,
  type UsageRow,
  UsageSums,
  withOpenCalls,
} from '@hansard/facts';
import { eventsOfBranch, type FirstDifference, firstDifference } from '@hansard/views';
import { openNamed } from '../sessions/resolve-session.ts';
import { eventNamed, type ReadingClock } from './names.ts';
import { type PagedLog, pagedLog } from './paged-log.ts';

/** A session that is compared. */
export interface ComparedSession {
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
  /** How many events its log has. */
  readonly events: number;
  readonly figures: Partial<UsageFigures>;
  /** The figures of each tool, by its name. */
  readonly tools: ReadonlyMap<string, UsageRow>;
  /** Null: none is recorded. */
  readonly result: JsonValue;
  /** The branch that is compared: the position and the id of its last event. Absent: the whole session. */
  readonly branch?: { readonly end: number; readonly address: string };
}

export interface SessionComparison {
  readonly one: ComparedSession;
  readonly other: ComparedSession;
  readonly isResultEqual: boolean;
  /** Null: both say and do the same. */
  readonly firstDifference: FirstDifference | null;
}

/**
 * Compares two sessions: their figures, tools and results, and the first difference in what they say and do. Each log is read twice, with
 * a page of events in memory.
 * @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS
 */
export async function compareSessions(
  store: DispatchStore,
  word: string,
  otherWord: string,
  signal?: AbortSignal,
): Promise<SessionComparison> {
  const open = async (named: string) => {
    const { taskDir, log } = await openNamed(store, named);
    return { taskDir, paged: pagedLog(log, signal) };
  };
  const [left, right] = [await open(word), await open(otherWord)];
  const one = await readCompared(left.taskDir, left.paged);
  const other = await readCompared(right.taskDir, right.paged);
  return {
    one,
    other,
    isResultEqual: JSON.stringify(one.result) === JSON.stringify(other.result),
    firstDifference: await firstDifference(eventsOf(left.paged), eventsOf(right.paged)),
  };
}

/**
 * Compares two branches of the transcripts of a session, each from the beginning to an event, as `compareSessions` does. Both have what lies before
 * they part.
 * @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS, HARNESS_NAME_INVALID
 */
export async function compareBranches(
  store: DispatchStore,
  word: string,
  ends: readonly [one: string, other: string],
  { signal, ...clock }: ReadingClock & { readonly signal?: AbortSignal | undefined } = {},
): Promise<SessionComparison> {
  const { taskDir, log } = await openNamed(store, word);
  const paged = pagedLog(log, signal);
  const open = async (end: string) => {
    const { position, event } = await eventNamed(paged, end, clock);
    return { position, id: event.id, only: (await eventsOfBranch(paged, event.id)) ?? new Set<number>() };
  };
  const [left, right] = [await open(ends[0]), await open(ends[1])];
  const read = async ({ position: end, id: address, only }: typeof left) => ({
    ...(await readCompared(taskDir, paged, only)),
    branch: { end, address },
  });
  const [one, other] = [await read(left), await read(right)];
  return {
    one,
    other,
    isResultEqual: JSON.stringify(one.result) === JSON.stringify(other.result),
    firstDifference: await firstDifference(eventsOf(paged), eventsOf(paged), [left.only, right.only]),
  };
}

/** `only`: the positions of the branch that is read. Absent: the whole session. */
async function readCompared(
  taskDir: string,
  paged: PagedLog,
  only?: ReadonlySet<number>,
): Promise<ComparedSession> {
  const { envelope } = paged;
  // The envelope has the figures of the whole session.
  const figured =
    only === undefined
      ? envelope
      : { ...envelope, ...noFigures, startedAt: null, completedAt: null, openCalls: null };
  const logged = new LoggedUsage(figured);
  const facts = createDispatchFacts();
  let events = 0;
  let position = -1;
  const calls = new Set<string>();
  for await (const event of eventsOf(paged)) {
    position += 1;
    if (only?.has(position) === false) continue;
    events += 1;
    logged.observe(event);
    facts.observe(event);
    if (event.type === 'agent:inference') calls.add(event.id);
  }
  for (const event of openCallEvents(figured, (id) => calls.has(id))) facts.observe(event);
  const tools = new UsageSums();
  for (const { tool, figures } of logged.parts) if (tool !== null) tools.add(tool, figures);
  // The envelope of a dispatch that runs has no figures yet.
  const known = withOpenCalls(figured);
  const figures = figuresOfDispatch({
    ...figured,
    usage: known.usage ?? facts.usage,
    models: known.models ?? facts.models,
    cost: known.cost ?? facts.costUsd,
    openCalls: null,
  });
  const result = facts.completion?.structuredResult ?? facts.completion?.result ?? null;
  const byTool = new Map(tools.rows('key').map((row) => [row.key, row]));
  return { taskDir, envelope, events, figures, tools: byTool, result };
}

const noFigures = { usage: null, models: null, cost: null, periods: null, prices: null } as const;

async function* eventsOf(paged: PagedLog): AsyncGenerator<CapturedEvent> {
  for await (const { events } of paged.pages()) yield* events;
}
