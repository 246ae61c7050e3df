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
import { type FirstDifference, firstDifference } from '@hansard/views';
import { openNamed } from '../sessions/resolve-session.ts';
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

async function readCompared(taskDir: string, paged: PagedLog): Promise<ComparedSession> {
  const { envelope } = paged;
  const logged = new LoggedUsage(envelope);
  const facts = createDispatchFacts();
  let events = 0;
  const calls = new Set<string>();
  for await (const event of eventsOf(paged)) {
    events += 1;
    logged.observe(event);
    facts.observe(event);
    if (event.type === 'agent:inference') calls.add(event.id);
  }
  for (const event of openCallEvents(envelope, (id) => calls.has(id))) facts.observe(event);
  const tools = new UsageSums();
  for (const { tool, figures } of logged.parts) if (tool !== null) tools.add(tool, figures);
  // The envelope of a dispatch that runs has no figures yet.
  const known = withOpenCalls(envelope);
  const figures = figuresOfDispatch({
    ...envelope,
    usage: known.usage ?? facts.usage,
    models: known.models ?? facts.models,
    cost: known.cost ?? facts.costUsd,
    openCalls: null,
  });
  const result = facts.completion?.structuredResult ?? facts.completion?.result ?? null;
  const byTool = new Map(tools.rows('key').map((row) => [row.key, row]));
  return { taskDir, envelope, events, figures, tools: byTool, result };
}

async function* eventsOf(paged: PagedLog): AsyncGenerator<CapturedEvent> {
  for await (const { events } of paged.pages()) yield* events;
}
