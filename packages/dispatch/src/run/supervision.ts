import { type CapturedEvent, type NewEvent, newEvent } from '@hansard/events';
import type { Clock } from '@hansard/provider';
import { defaultLoopLimits, LoopDetector } from '../limits/loop-detector.ts';
import { type StallWatch, watchStall, watchTime } from '../limits/watchdogs.ts';
import type { Dispatch } from '../store/dispatch.ts';
import type { RunDispatchOptions } from './run-options.ts';

/** What the supervision of a dispatch may do. */
export interface Interventions {
  /** Stops the agent for the reason in the event. */
  kill(event: NewEvent): void;
  warn(event: NewEvent): Promise<void>;
  /** Whether the agent is silent because it waits for others. */
  isWaiting(): boolean;
}

/** Enforces the limits of one dispatch: time, silence, cost and repetition. */
export class Supervision {
  readonly #options: RunDispatchOptions;
  readonly #clock: Clock;
  readonly #act: Interventions;
  readonly #loops: LoopDetector | null;
  readonly #dispatch: Pick<Dispatch, 'facts'>;
  /** In US dollars. */
  #spent = 0;
  #stall: StallWatch | null = null;
  #stopTime = () => {};

  /** The facts of `dispatch` already include an event when it is observed here. */
  constructor(
    options: RunDispatchOptions,
    clock: Clock,
    dispatch: Pick<Dispatch, 'facts'>,
    act: Interventions,
  ) {
    const { loopDetector } = options;
    this.#options = options;
    this.#clock = clock;
    this.#dispatch = dispatch;
    this.#act = act;
    this.#loops = loopDetector === false ? null : new LoopDetector(loopDetector ?? defaultLoopLimits);
  }

  start(): void {
    const { timeMs, stallMs } = this.#options.limits ?? {};
    if (timeMs !== undefined) {
      this.#stopTime = watchTime(this.#clock, timeMs, (elapsedMs) =>
        this.#act.kill(newEvent('harness:timeout', { elapsedMs, limitMs: timeMs })),
      );
    }
    if (stallMs !== undefined) {
      const onTimeout = (idleMs: number) =>
        this.#act.kill(newEvent('harness:stall', { idleMs, limitMs: stallMs }));
      this.#stall = watchStall(this.#clock, stallMs, onTimeout, () => this.#act.isWaiting());
    }
  }

  stop(): void {
    this.#stopTime();
    this.#stall?.stop();
  }

  /** Something happened. */
  touch(): void {
    this.#stall?.touch();
  }

  /** Observes an event of the agent after it was recorded. */
  async observe(event: CapturedEvent): Promise<void> {
    await this.#checkLoop(event);
    this.#checkCost(event);
  }

  async #checkLoop(event: CapturedEvent): Promise<void> {
    const finding = this.#loops?.observe(event) ?? null;
    if (finding === null) return;
    const links = { cause: event.id, ...(event.agentId === undefined ? {} : { agentId: event.agentId }) };
    if (finding.act === 'kill') this.#act.kill(newEvent('harness:loop_kill', finding.data, links));
    else await this.#act.warn(newEvent('harness:loop_warning', finding.data, links));
  }

  /** Stops only an agent that continues above the limit: a completed one spends nothing more. */
  #checkCost(event: CapturedEvent): void {
    // A total that falls refunds nothing.
    this.#spent = Math.max(this.#spent, this.#dispatch.facts.costUsd ?? 0);
    const limit = this.#options.limits?.costUsd;
    const spent = this.#spent;
    if (limit === undefined || spent <= limit || !event.type.startsWith('agent:')) return;
    const reason = `cost limit: ${Number(spent.toFixed(6))} of ${limit} US dollars spent`;
    this.#act.kill(newEvent('harness:abort', { reason, by: 'harness' }));
  }
}
