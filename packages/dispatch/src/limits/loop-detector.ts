import {
  type CapturedEvent,
  type EventData,
  type EventOf,
  isEventOf,
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

/** A call with its result, once that is known. */
interface Step {
  readonly call: EventOf<'agent:tool_call'>;
  readonly callPrint: string;
  result: { readonly id: string; readonly print: string } | null;
}

/**
 * Finds agents that repeat themselves. Two calls are equal when tool, target, metadata and input are equal, apart from a
 * description beside a command. There are two kinds of loop:
 *
 * 1. `limits.killAt` equal calls among the latest `limits.window` of the agent, whatever their results are.
 * 2. Two to four calls in a row, repeated `limits.killAt` times without another call between them. Their results must be
 *    equal too, apart from durations, because a cycle whose results change makes progress.
 */
export class LoopDetector {
  readonly #limits: LoopLimits;
  readonly #stepsByAgent = new Map<string, Step[]>();
  readonly #warned = new Set<string>();

  constructor(limits: LoopLimits) {
    this.#limits = limits;
  }

  observe(event: CapturedEvent): LoopFinding | null {
    if (isEventOf(event, 'agent:tool_call')) return this.#observeCall(event);
    if (isEventOf(event, 'agent:tool_result')) this.#observeResult(event);
    return null;
  }

  #observeCall(call: EventOf<'agent:tool_call'>): LoopFinding | null {
    const steps = this.#stepsOf(call.agentId ?? '');
    steps.push({ call, callPrint: printOfCall(call), result: null });
    if (steps.length > Math.max(this.#limits.window, longestPeriod * this.#limits.killAt)) steps.shift();
    return this.#judgeCycle(steps) ?? this.#judgeEqualCalls(steps);
  }

  #observeResult({ id, agentId = '', data }: EventOf<'agent:tool_result'>): void {
    const steps = this.#stepsByAgent.get(agentId) ?? [];
    const step = steps.findLast(({ call }) => call.data.toolCallId === data.toolCallId);
    if (step === undefined) return;
    const { toolCallId, durationMs, ...outcome } = data;
    step.result = { id, print: printOf(outcome) };
  }

  #stepsOf(agentId: string): Step[] {
    const steps = this.#stepsByAgent.get(agentId) ?? [];
    this.#stepsByAgent.delete(agentId);
    this.#stepsByAgent.set(agentId, steps);
    for (const oldest of this.#stepsByAgent.keys()) {
      if (this.#stepsByAgent.size <= mostAgents) break;
      this.#stepsByAgent.delete(oldest);
    }
    return steps;
  }

  #judgeCycle(steps: readonly Step[]): LoopFinding | null {
    const cycle = findCycle(steps);
    if (cycle === null || !cycle.isWhole) return null;
    const count = cycle.repetitions;
    const window = count * cycle.steps.length;
    const calls = cycle.steps.map(({ call }) => describeCall(call));
    return this.#judge(cycle.steps, { count, window, calls }, cycle.results);
  }

  #judgeEqualCalls(steps: readonly Step[]): LoopFinding | null {
    const { window, killAt } = this.#limits;
    const last = steps.at(-1);
    if (last === undefined) return null;
    const equal = steps.slice(-window).filter(({ callPrint }) => callPrint === last.callPrint);
    const cycle = findCycle(steps);
    if (equal.length < killAt && cycle !== null && cycle.repetitions >= cycleBegins) return null;
    return this.#judge([last], { count: equal.length, window }, repeatedResult(equal, equal.length - 1, 1));
  }

  #judge(
    steps: readonly Step[],
    found: Pick<LoopFinding['data'], 'count' | 'window' | 'calls'>,
    results: readonly string[],
  ): LoopFinding | null {
    const { warnAt, killAt } = this.#limits;
    const isKill = found.count >= killAt;
    const last = steps.at(-1);
    if (last === undefined || found.count < warnAt) return null;
    const prints = steps.map(({ callPrint }) => callPrint).sort();
    const loop = `${last.call.agentId ?? ''} ${prints.join(' ')}`;
    if (!isKill && this.#warned.has(loop)) return null;
    this.#warned.add(loop);
    return {
      act: isKill ? 'kill' : 'warn',
      data: {
        ...describeCall(last.call),
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
  /** Whether the last call ends a repetition. */
  readonly isWhole: boolean;
}

/** The shortest cycle of two to four calls, not all equal, with which the steps end. */
function findCycle(steps: readonly Step[]): Cycle | null {
  for (let period = 2; period <= longestPeriod; period += 1) {
    let repeated = 0;
    while (isRepeated(steps.at(-1 - repeated), steps.at(-1 - repeated - period))) repeated += 1;
    const latest = steps.slice(-period);
    if (repeated < period || latest.every(({ callPrint }) => callPrint === latest[0]?.callPrint)) continue;
    return {
      repetitions: Math.floor(repeated / period) + 1,
      steps: latest,
      results: latest.flatMap((_, index) => repeatedResult(steps, steps.length - period + index, period)),
      isWhole: repeated % period === 0,
    };
  }
  return null;
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

function describeCall({
  data: { tool, target },
}: EventOf<'agent:tool_call'>): Pick<LoopFinding['data'], 'tool' | 'target'> {
  return { tool, ...(target === undefined ? {} : { target }) };
}

function printOfCall({ data: { tool, target, metadata, input } }: EventOf<'agent:tool_call'>): string {
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
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}
