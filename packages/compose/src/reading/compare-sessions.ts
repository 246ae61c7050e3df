import { isDeepStrictEqual } from 'node:util';
import { CopiesAmong, type DispatchStore, type ListedDispatch } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope, JsonObject, JsonValue } from '@hansard/events';
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
import { type CallRequest, LoggedRequests } from '@hansard/prompt';
import { eventsOfBranch, type FirstDifference, firstDifference, foldsOf, type RowFold } from '@hansard/views';
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
  /** The head that one session repeats of the other. Their first difference is looked for after it. Null: neither began with a copy. */
  readonly head: RepeatedHead | null;
  /** Null: both say and do the same. */
  readonly firstDifference: FirstDifference | null;
  /** The first call that was given other tools, and the first one with other parameters, as far as both logs record them. */
  readonly requestDifferences: readonly RequestDifference[];
}

/** The first events of a session that are those of another one. */
interface RepeatedHead {
  /** The session that repeats them. */
  readonly in: 'one' | 'other';
  readonly fold: RowFold;
}

/** Two calls that correspond, the first ones whose models were given other tools or other parameters. */
export interface RequestDifference {
  readonly part: 'tools' | 'parameters';
  /** The number of the call among those of its agent, from 1. */
  readonly call: number;
  readonly one: ComparedRequest;
  readonly other: ComparedRequest;
  /** The names of tools, or of parameters. `changed`: both have the name, with different values. */
  readonly onlyOne: readonly string[];
  readonly onlyOther: readonly string[];
  readonly changed: readonly string[];
}

interface ComparedRequest {
  /** The position and id of the `agent:inference`. */
  readonly position: number;
  readonly id: string;
  readonly request: CallRequest;
}

/**
 * Compares two sessions: their figures, tools and results, and the first difference in what they say and do. If one began with a copy of the other, the
 * difference is looked for after the head that both have, also where the origin went back within it. Each log is read twice, and three times more
 * for a head, with a page of events in memory.
 * @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS
 */
export async function compareSessions(
  store: DispatchStore,
  word: string,
  otherWord: string,
  signal?: AbortSignal,
): Promise<SessionComparison> {
  const open = async (named: string): Promise<OpenedSession> => {
    const { taskDir, log } = await openNamed(store, named);
    return { taskDir, log, paged: pagedLog(log, signal) };
  };
  const [left, right] = [await open(word), await open(otherWord)];
  const [calls, otherCalls] = [new ComparedCalls(), new ComparedCalls()];
  const one = await readCompared(left.taskDir, left.paged, calls);
  const other = await readCompared(right.taskDir, right.paged, otherCalls);
  const shared = left.log.dispatchId === right.log.dispatchId ? null : await sharedHead(left, right);
  return {
    one,
    other,
    isResultEqual: JSON.stringify(one.result) === JSON.stringify(other.result),
    head: shared?.head ?? null,
    firstDifference: await firstDifference(eventsOf(left.paged), eventsOf(right.paged), shared?.after),
    requestDifferences: calls.differences(otherCalls),
  };
}

interface OpenedSession {
  readonly taskDir: string;
  readonly log: ListedDispatch['log'];
  readonly paged: PagedLog;
}

/** The head that two sessions have in common because one began with a copy of the other, and the positions after it in each. Null: neither did. */
async function sharedHead(one: OpenedSession, other: OpenedSession) {
  const entryOf = ({ taskDir, log }: OpenedSession): ListedDispatch => {
    const { dispatchId, envelope } = log;
    return { taskDir, dispatchId, envelope, lastActiveAt: null, log };
  };
  const copies = new CopiesAmong([entryOf(one), entryOf(other)]);
  const [ofOne, ofOther] = [await copies.eventsOf(one.log), await copies.eventsOf(other.log)];
  const isOne = (ofOne?.copied.size ?? 0) > (ofOther?.copied.size ?? 0);
  const [fork, origin, found] = isOne ? [one, other, ofOne] : [other, one, ofOther];
  if (found === null || found.copied.size === 0) return null;
  const folds = await foldsOf(fork.paged, {}, found.copied);
  const fold = folds?.folded.find((folded) => folded.fold.of === 'copies')?.fold;
  if (fold === undefined) return null;
  const originals = new Set(found.originals.values());
  const inFork = await positionsAfter(fork.paged, (id) => found.copied.has(id));
  const inOrigin = await positionsAfter(origin.paged, (id) => originals.has(id));
  const head: RepeatedHead = { in: isOne ? 'one' : 'other', fold };
  return { head, after: isOne ? ([inFork, inOrigin] as const) : ([inOrigin, inFork] as const) };
}

/** The positions after the last event of a head. The record of a model call can come later than that, and is not said or done. */
async function positionsAfter(paged: PagedLog, isOfHead: (id: string) => boolean): Promise<Set<number>> {
  const after = new Set<number>();
  let position = -1;
  for await (const { id, type } of eventsOf(paged)) {
    position += 1;
    if (type !== 'agent:inference' && isOfHead(id)) after.clear();
    else after.add(position);
  }
  return after;
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
  const read = async ({ position: end, id: address, only }: typeof left, calls: ComparedCalls) => ({
    ...(await readCompared(taskDir, paged, calls, only)),
    branch: { end, address },
  });
  const [calls, otherCalls] = [new ComparedCalls(), new ComparedCalls()];
  const [one, other] = [await read(left, calls), await read(right, otherCalls)];
  return {
    one,
    other,
    isResultEqual: JSON.stringify(one.result) === JSON.stringify(other.result),
    head: null,
    firstDifference: await firstDifference(eventsOf(paged), eventsOf(paged), [left.only, right.only]),
    requestDifferences: calls.differences(otherCalls),
  };
}

/** `only`: the positions of the branch that is read. Absent: the whole session. */
async function readCompared(
  taskDir: string,
  paged: PagedLog,
  compared: ComparedCalls,
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
    compared.observe(event, position, only?.has(position) !== false);
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

/** The model calls of a session or branch, by their agent and their number. Agents are numbered in the order of their first calls. */
class ComparedCalls {
  readonly #requests = new LoggedRequests();
  readonly #agents = new Map<string, number>();
  readonly #counts: number[] = [];
  readonly #calls = new Map<string, ComparedRequest & { readonly number: number }>();

  observe(event: CapturedEvent, position: number, isCompared: boolean): void {
    this.#requests.observe(event);
    if (event.type !== 'agent:inference' || !isCompared) return;
    const { id, agentId = '' } = event;
    const agent = this.#agents.get(agentId) ?? this.#agents.size;
    this.#agents.set(agentId, agent);
    const number = (this.#counts[agent] ?? 0) + 1;
    this.#counts[agent] = number;
    this.#calls.set(`${agent} ${number}`, { position, id, number, request: this.#requests.of(event) });
  }

  differences(others: ComparedCalls): RequestDifference[] {
    return (['tools', 'parameters'] as const).flatMap((part) => {
      for (const [key, one] of this.#calls) {
        const other = others.#calls.get(key);
        if (other === undefined || !differs(part, one.request, other.request)) continue;
        const { number: call, ...ofOne } = one;
        const { number: _, ...ofOther } = other;
        return { part, call, one: ofOne, other: ofOther, ...changesOf(part, one.request, other.request) };
      }
      return [];
    });
  }
}

/** Whether both logs say what was given, and it is not the same. */
function differs(part: RequestDifference['part'], one: CallRequest, other: CallRequest): boolean {
  const bothSay = [one, other].every(({ [part]: { basis } }) => basis !== 'absent' && basis !== 'names');
  if (!bothSay || one[part].id === other[part].id) return false;
  const [left, right] = [one[part].value, other[part].value];
  return left === null || right === null || !isDeepStrictEqual(left, right);
}

function changesOf(part: RequestDifference['part'], one: CallRequest, other: CallRequest) {
  const [left, right] = [one, other].map((request) => valuesOf(part, request)) as [JsonObject, JsonObject];
  const names = (values: JsonObject, others: JsonObject) =>
    Object.keys(values).filter((name) => !Object.hasOwn(others, name));
  const both = Object.keys(left).filter((name) => Object.hasOwn(right, name));
  return {
    onlyOne: names(left, right),
    onlyOther: names(right, left),
    changed: both.filter((name) => !isDeepStrictEqual(left[name], right[name])),
  };
}

function valuesOf(part: RequestDifference['part'], { tools, parameters }: CallRequest): JsonObject {
  if (part === 'parameters') return parameters.value ?? {};
  return Object.fromEntries((tools.value ?? []).map((tool) => [tool.name, tool as JsonObject]));
}

const noFigures = { usage: null, models: null, cost: null, periods: null, prices: null } as const;

async function* eventsOf(paged: PagedLog): AsyncGenerator<CapturedEvent> {
  for await (const { events } of paged.pages()) yield* events;
}
