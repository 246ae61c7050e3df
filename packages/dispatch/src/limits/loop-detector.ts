import {
  type CapturedEvent,
  type EventData,
  type EventOf,
  isEventOf,
  isPlainObject,
  type JsonObject,
} from '@hansard/events';

export interface LoopLimits {
  /** The number of an agent's latest tool calls that are compared. */
  readonly window: number;
  /** The number of equal calls among them, or of repetitions of two to four calls in a row, that records a warning. */
  readonly warnAt: number;
  /** The number of equal calls, or of repetitions, that stops the agent. */
  readonly killAt: number;
}

/** An agent that alternates edits and tests makes ten equal test calls in twenty: that records a warning and stops nothing. */
export const defaultLoopLimits: LoopLimits = { window: 20, warnAt: 8, killAt: 15 };

export interface LoopFinding {
  readonly act: 'warn' | 'kill';
  readonly data: EventData<'harness:loop_warning'>;
}

/** A loop repeats at most this many different calls. */
const longestPeriod = 4;
/** A cycle that was repeated this often is judged as a cycle, so that one loop does not cause a warning for each of its calls. */
const cycleBegins = 3;
/** The agents whose calls are remembered: those that called last. */
const mostAgents = 100;

/** A call with its result, once that is known. It has prints of input and output, which can be large, and not themselves. */
interface Step {
  readonly toolCallId: string;
  readonly call: Pick<LoopFinding['data'], 'tool' | 'target'>;
  readonly callPrint: string;
  result: { readonly id: string; readonly print: string } | null;
}

interface AgentCalls {
  /** The latest ones, oldest first. */
  readonly steps: Step[];
  /** The loops of which a warning was given. */
  readonly warned: Set<string>;
}

/**
 * Finds agents that repeat themselves. Two calls are equal when tool, target, metadata and input are equal, apart from the
 * order of keys and from a description beside a command. There are two kinds of loop:
 *
 * 1. `limits.killAt` equal calls among the latest `limits.window` of the agent, whatever their results are.
 * 2. Two to four calls in a row, repeated `limits.killAt` times without another call between them. Their results must be
 *    equal too, apart from durations, because a cycle whose results change makes progress. A result that is not known, or
 *    not yet, is not compared.
 */
export class LoopDetector {
  readonly #limits: LoopLimits;
  readonly #agents = new Map<string, AgentCalls>();

  constructor(limits: LoopLimits) {
    this.#limits = limits;
  }

  observe(event: CapturedEvent): LoopFinding | null {
    if (isEventOf(event, 'agent:tool_call')) return this.#observeCall(event);
    if (isEventOf(event, 'agent:tool_result')) this.#observeResult(event);
    return null;
  }

  /** Forgets the calls of an agent so far. */
  forget(agentId: string): void {
    this.#agents.delete(agentId);
  }

  #observeCall({ agentId = '', data }: EventOf<'agent:tool_call'>): LoopFinding | null {
    const agent = this.#callsOf(agentId);
    const { steps } = agent;
    steps.push({
      toolCallId: data.toolCallId,
      call: { tool: data.tool, ...(data.target === undefined ? {} : { target: data.target }) },
      callPrint: printOfCall(data),
      result: null,
    });
    if (steps.length > Math.max(this.#limits.window, longestPeriod * this.#limits.killAt)) steps.shift();
    const cycle = findCycle(steps);
    const inTurn = this.#judgeCycle(agent, cycle);
    if (inTurn?.act === 'kill') return inTurn;
    const isCycle = inTurn !== null || (cycle !== null && cycle.repetitions >= cycleBegins);
    return this.#judgeEqualCalls(agent, isCycle) ?? inTurn;
  }

  #observeResult({ id, agentId = '', data }: EventOf<'agent:tool_result'>): void {
    const { toolCallId, durationMs, ...outcome } = data;
    const step = this.#agents
      .get(agentId)
      ?.steps.findLast((candidate) => candidate.toolCallId === toolCallId);
    if (step !== undefined) step.result = { id, print: printOf(outcome) };
  }

  #callsOf(agentId: string): AgentCalls {
    const agent = this.#agents.get(agentId) ?? { steps: [], warned: new Set() };
    this.#agents.delete(agentId);
    this.#agents.set(agentId, agent);
    for (const oldest of this.#agents.keys()) {
      if (this.#agents.size <= mostAgents) break;
      this.#agents.delete(oldest);
    }
    return agent;
  }

  #judgeCycle(agent: AgentCalls, cycle: Cycle | null): LoopFinding | null {
    if (cycle === null) return null;
    const count = cycle.repetitions;
    const window = count * cycle.steps.length;
    const calls = cycle.steps.map(({ call }) => call);
    return this.#judge(agent, cycle.steps, { count, window, calls }, cycle.results);
  }

  /** If the calls are judged as a cycle, equal calls among them do not cause a warning, but stop the agent. */
  #judgeEqualCalls(agent: AgentCalls, isCycle: boolean): LoopFinding | null {
    const { steps } = agent;
    const { window, killAt } = this.#limits;
    const last = steps.at(-1);
    if (last === undefined) return null;
    const equal = steps.slice(-window).filter(({ callPrint }) => callPrint === last.callPrint);
    if (isCycle && equal.length < killAt) return null;
    return this.#judge(
      agent,
      [last],
      { count: equal.length, window },
      repeatedResult(equal, equal.length - 1, 1),
    );
  }

  #judge(
    { warned }: AgentCalls,
    steps: readonly Step[],
    found: Pick<LoopFinding['data'], 'count' | 'window' | 'calls'>,
    results: readonly string[],
  ): LoopFinding | null {
    const { warnAt, killAt } = this.#limits;
    const isKill = found.count >= killAt;
    const last = steps.at(-1);
    if (last === undefined || found.count < warnAt) return null;
    const prints = steps.map(({ callPrint }) => callPrint).sort();
    const loop = prints.join(' ');
    if (!isKill && warned.has(loop)) return null;
    warned.add(loop);
    return {
      act: isKill ? 'kill' : 'warn',
      data: {
        ...last.call,
        limit: isKill ? killAt : warnAt,
        ...found,
        ...(results.length === 0 ? {} : { results: [...results] }),
      },
    };
  }
}

interface Cycle {
  readonly repetitions: number;
  /** The last repetition. */
  readonly steps: readonly Step[];
  /** For each of its steps, the latest result that equals the one before it, where both are known. */
  readonly results: readonly string[];
}

/**
 * The cycle of two to four calls, not all equal, with which the steps end: the most repeated one, and of several the shortest.
 * The shortest alone is not enough: while the latest results are not known, the end of a longer cycle can look like a
 * shorter one.
 */
function findCycle(steps: readonly Step[]): Cycle | null {
  let found: { readonly period: number; readonly repetitions: number } | null = null;
  for (let period = 2; period <= longestPeriod; period += 1) {
    let repeated = 0;
    while (isRepeated(steps.at(-1 - repeated), steps.at(-1 - repeated - period))) repeated += 1;
    const latest = steps.slice(-period);
    if (repeated < period || latest.every(({ callPrint }) => callPrint === latest[0]?.callPrint)) continue;
    const repetitions = Math.floor(repeated / period) + 1;
    if (found === null || repetitions > found.repetitions) found = { period, repetitions };
  }
  if (found === null) return null;
  const { period, repetitions } = found;
  const latest = steps.slice(-period);
  return {
    repetitions,
    steps: latest,
    results: latest.flatMap((_, index) => repeatedResult(steps, steps.length - period + index, period)),
  };
}

function repeatedResult(steps: readonly Step[], index: number, period: number): string[] {
  const known = steps[index]?.result === null ? index - period : index;
  const [latest, before] = [steps[known]?.result, steps[known - period]?.result];
  return latest != null && before?.print === latest.print ? [latest.id] : [];
}

function isRepeated(step: Step | undefined, before: Step | undefined): boolean {
  if (step === undefined || before === undefined || step.callPrint !== before.callPrint) return false;
  return step.result === null || before.result === null || step.result.print === before.result.print;
}

function printOfCall({ tool, target, metadata, input }: EventData<'agent:tool_call'>): string {
  return printOf([tool, target ?? null, withoutDescription(metadata), withoutDescription(input)]);
}

/** A description beside a command only explains it: models write a new one for the same command. */
function withoutDescription(fields: unknown): unknown {
  if (typeof fields !== 'object' || fields === null || !('command' in fields)) return fields ?? null;
  const { description, ...others } = fields as JsonObject;
  return others;
}

function printOf(value: unknown): string {
  // Loaded with the first call: it takes longer to load than the rest of this package.
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(JSON.stringify(value, sortKeys)).digest('base64');
}

function sortKeys(_key: string, value: unknown): unknown {
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
