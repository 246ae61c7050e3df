import { isPlainObject, type JsonObject } from '@hansard/events';
import type { LineOf, LogLine } from './game-lines.ts';

type Action = LineOf<'action'>;
type Trace = LineOf<'trace'>;

/** The lines of a game with what several files say of one event. */
export interface JoinedLines {
  /** Every line, without the actions that a result has. Lines of one stream keep their order. */
  readonly lines: readonly LogLine[];
  /** The call of a result. */
  readonly callOf: ReadonlyMap<LogLine, Trace>;
  /** The action that a call made, by the result that completed it. */
  readonly actionOf: ReadonlyMap<LogLine, Action>;
  /** The call by which a message was spoken. */
  readonly spokenBy: ReadonlyMap<LogLine, Trace>;
  /** The actions that differ from the only calls of their agent at their time. */
  readonly differing: ReadonlySet<LogLine>;
}

/**
 * Joins the lines of several files that say the same. A result belongs to the oldest open call of its agent and tool. An action is of the
 * call of the same agent and time that holds its values; with `event_id`, of the call with the same id. It happened when the call was completed.
 *
 * Invariant: joined actions and their results are in the same order, so that both streams keep their order.
 */
export function joinLines(lines: readonly LogLine[]): JoinedLines {
  const trace = lines.filter((line): line is Trace => line.kind === 'trace');
  const actions = lines.filter((line): line is Action => line.kind === 'action');
  const isCall = ({ eventType }: Trace) => eventType === 'TOOL_CALL';
  const pairs = new Pairs(actions, trace.filter(isCall));
  for (const line of trace) {
    if (isCall(line)) pairs.addCall(line);
    else if (line.eventType === 'TOOL_RESULT') pairs.addResult(line);
  }
  const spokenBy = new Map<LogLine, Trace>();
  for (const line of lines) {
    const call = line.kind === 'chat' ? pairs.callSpeaking(line) : undefined;
    if (call !== undefined) spokenBy.set(line, call);
  }
  const { callOf, actionOf } = pairs;
  return {
    lines: placeActions(lines, actions, actionOf),
    callOf,
    actionOf,
    spokenBy,
    differing: new Set(pairs.differing()),
  };
}

/** Pairs the lines of the trace, in their order, with each other and with the actions. */
class Pairs {
  readonly callOf = new Map<LogLine, Trace>();
  readonly actionOf = new Map<LogLine, Action>();
  readonly #actions: readonly Action[];
  /** The numbers of the actions of an agent at a time. */
  readonly #numbers = new Map<string, number[]>();
  readonly #calls = new Map<string, Trace[]>();
  /** The calls so far that no action has been found for, by agent and tool. */
  readonly #idle = new Map<string, Set<Trace>>();
  /** The calls so far without a result, by agent and tool. */
  readonly #open = new Map<string, Set<Trace>>();
  readonly #acted = new Set<Trace>();
  /** The calls that can have made each action. */
  readonly #fitting: readonly (readonly Trace[])[];
  /** The number of the first action that a result can still have. */
  #next = 0;

  constructor(actions: readonly Action[], calls: readonly Trace[]) {
    this.#actions = actions;
    for (const [number, action] of actions.entries())
      push(this.#numbers, momentOf(action.agent, action), number);
    for (const call of calls) push(this.#calls, momentOf(call.agent, call), call);
    this.#fitting = withUsualTools(
      actions,
      actions.map((action) => fittingCalls(action, this.#callsAt(action))),
    );
  }

  addCall(call: Trace): void {
    const key = toolOf(call);
    for (const calls of [this.#idle, this.#open]) calls.set(key, (calls.get(key) ?? new Set()).add(call));
  }

  addResult(result: Trace): void {
    const key = toolOf(result);
    const idle = this.#idle.get(key) ?? new Set();
    const number = result.payload.status === 'error' ? undefined : this.#actionOfAny(idle);
    const action = number === undefined ? undefined : this.#actions[number];
    const acting = number === undefined ? undefined : this.#callsOf(number).find((one) => idle.has(one));
    const open = this.#open.get(key) ?? new Set();
    const [oldest] = open;
    const call = acting !== undefined && open.has(acting) ? acting : oldest;
    if (call !== undefined) this.callOf.set(result, call);
    if (call !== undefined) open.delete(call);
    if (action === undefined || number === undefined || acting === undefined) return;
    this.actionOf.set(result, action);
    this.#next = number + 1;
    this.#acted.add(acting);
    idle.delete(acting);
  }

  callSpeaking(line: LineOf<'chat'>): Trace | undefined {
    return this.#calls
      .get(momentOf(line.speaker, line))
      ?.find((call) => areSameEvent(line, call) ?? isArgument(call, line.message));
  }

  /** The actions for which the trace has calls at their time, none of which has their values. */
  differing(): Action[] {
    return this.#actions.filter(
      (action, number) => this.#fitting[number]?.length === 0 && this.#callsAt(action).length > 0,
    );
  }

  /**
   * The number of the first action that one of some calls made. Actions before it whose calls may still have results are skipped only
   * if no other call can have made it.
   */
  #actionOfAny(calls: ReadonlySet<Trace>): number | undefined {
    while (this.#next < this.#actions.length && this.#callsOf(this.#next).length === 0) this.#next += 1;
    const numbers = [...calls].flatMap((call) =>
      (this.#numbers.get(momentOf(call.agent, call)) ?? []).filter(
        (number) => number >= this.#next && this.#fitting[number]?.includes(call),
      ),
    );
    if (numbers.length === 0) return undefined;
    const first = Math.min(...numbers);
    return first === this.#next || this.#callsOf(first).length === 1 ? first : undefined;
  }

  /** The calls that can have made an action, and no other one. */
  #callsOf(number: number): Trace[] {
    return (this.#fitting[number] ?? []).filter((call) => !this.#acted.has(call));
  }

  #callsAt(action: Action): readonly Trace[] {
    return this.#calls.get(momentOf(action.agent, action)) ?? [];
  }
}

/** All lines, each action that no result has at its own place, but in the order of the actions. */
function placeActions(
  lines: readonly LogLine[],
  actions: readonly Action[],
  actionOf: ReadonlyMap<LogLine, Action>,
): LogLine[] {
  const placed: LogLine[] = [];
  const joined = new Set(actionOf.values());
  const arrived = new Set<LogLine>();
  let next = 0;
  for (const line of lines) {
    const own = actionOf.get(line);
    if (own !== undefined) {
      // Actions before that of the result, which stand later in time.
      for (; actions[next] !== own; next += 1) placed.push(actions[next] as Action);
      next += 1;
    }
    if (line.kind === 'action') arrived.add(line);
    else placed.push(line);
    for (let action = actions[next]; action !== undefined; action = actions[next]) {
      if (joined.has(action) || !arrived.has(action)) break;
      placed.push(action);
      next += 1;
    }
  }
  return placed;
}

/** The calls of the same agent and time that can have made an action: those with exactly its values, if there are any. */
function fittingCalls(action: Action, calls: readonly Trace[]): readonly Trace[] {
  const named = calls.filter((call) => areSameEvent(action, call));
  if (named.length > 0) return named;
  const unnamed = calls.filter((call) => areSameEvent(action, call) === null);
  const payload = JSON.stringify(action.payload);
  const exact = unnamed.filter(({ payload: { arguments: input = null } }) =>
    [JSON.stringify(input), JSON.stringify({ input })].includes(payload),
  );
  if (exact.length > 0) return exact;
  const shares = unnamed.map((call) => sharedFields(action, call));
  const most = Math.max(...shares);
  return unnamed.filter((_, at) => most >= 0 && shares[at] === most);
}

/**
 * Decides between calls of several tools that can have made an action: by the tools of those actions of the same type that only one call
 * can have made.
 */
function withUsualTools(
  actions: readonly Action[],
  fitting: readonly (readonly Trace[])[],
): readonly (readonly Trace[])[] {
  const usual = new Set<string>();
  const keyOf = (action: Action | undefined, { payload }: Trace) =>
    JSON.stringify([action?.actionType ?? null, payload.tool_name ?? null]);
  for (const [number, calls] of fitting.entries()) {
    const [call, other] = calls;
    if (call !== undefined && other === undefined) usual.add(keyOf(actions[number], call));
  }
  return fitting.map((calls, number) => {
    const likely = calls.filter((call) => usual.has(keyOf(actions[number], call)));
    return likely.length > 0 ? likely : calls;
  });
}

/**
 * How many fields an action and the input of a call have in common. -1: a value of the action is neither an argument of the call nor its
 * agent, nor null for an argument that is not there.
 */
function sharedFields({ agent, payload }: Action, call: Trace): number {
  const { arguments: input } = call.payload;
  const fields = isPlainObject(input) ? (input as JsonObject) : {};
  const known = new Set([agent, ...Object.values(fields)].map((value) => JSON.stringify(value)));
  let shared = 0;
  for (const [key, value] of Object.entries(payload)) {
    const text = JSON.stringify(value);
    if (Object.hasOwn(fields, key)) {
      if (JSON.stringify(fields[key]) !== text) return -1;
      shared += 1;
    } else if (value !== null && !known.has(text)) return -1;
  }
  return shared;
}

function isArgument({ payload: { arguments: input } }: Trace, text: string): boolean {
  return input === text || (isPlainObject(input) && Object.values(input).includes(text));
}

/** Whether two lines name the same event; null if one of them names none. */
function areSameEvent({ record }: LineOf<'action' | 'chat'>, { record: other }: Trace): boolean | null {
  if (typeof record.event_id !== 'string' || typeof other.event_id !== 'string') return null;
  return record.event_id === other.event_id && record.run_id === other.run_id;
}

function toolOf({ agent, payload }: Trace): string {
  return JSON.stringify([agent, payload.tool_name ?? null]);
}

function momentOf(agent: string, { order }: LogLine): string {
  return `${order} ${agent}`;
}

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
