import {
  type CapturedEvent,
  type DispatchEnvelope,
  type ModelUsage,
  type NewEvent,
  newEvent,
} from '@hansard/events';
import { type Clock, systemClock } from '@hansard/provider';
import { leavableIterator } from '../async/leavable-iterator.ts';
import { Notifier } from '../async/notifier.ts';
import { describeFailure } from '../describe-failure.ts';
import { defaultLoopLimits, LoopDetector } from '../limits/loop-detector.ts';
import type { Dispatch } from '../store/dispatch.ts';
import type { MessageSource } from './dispatch-run.ts';
import type { WatchedOptions } from './run-options.ts';
import type { RunPlace } from './run-place.ts';
import { defaultMaxDepth } from './worker-options.ts';
import { Workers } from './workers.ts';

/** What a watch may do to its dispatch. */
export interface Interventions {
  /** Stops the dispatch, or the agent that the event names, for the reason in the event, which is to be recorded. */
  kill(event: NewEvent): void;
  warn(event: NewEvent): Promise<void>;
  /** Records a failure. Returns false if the dispatch has ended. */
  report(event: NewEvent): Promise<boolean>;
  /** Records an event of an agent that sends a message. */
  record(event: NewEvent): Promise<CapturedEvent>;
  /** The event of a tool call, if it is known. */
  callEvent(toolCallId: string, agentId?: string): Promise<string | undefined>;
}

/** How a dispatch takes part in what people, and other dispatches, do. */
export interface Attachment {
  /** Absent: it takes no messages. Returns false if it takes no more. `cause`: the event of the dispatch that sent the message. */
  readonly deliver?: (text: string, source: MessageSource, cause?: string) => Promise<boolean>;
  /** Whether it takes messages now. */
  readonly isOpen: () => boolean;
  readonly abort: (reason?: string) => void;
}

/**
 * Watches one dispatch, a run or a session: its limits of time, silence, cost and repetition, its workers, and the messages that reach
 * it from outside.
 */
export class Watch {
  /** What was delivered, after it was recorded. */
  readonly messages = new MessageInbox();
  /** Null where the dispatch can have none. */
  readonly workers: Workers | null;
  readonly #options: WatchedOptions;
  readonly #place: RunPlace;
  readonly #clock: Clock;
  readonly #act: Interventions;
  readonly #loops: LoopDetector | null;
  readonly #dispatch: Pick<Dispatch, 'facts' | 'dispatchId' | 'envelope'>;
  /** In US dollars. */
  #spent = 0;
  #hasWarnedOfCost = false;
  readonly #silences = new Set<StallWatch>();
  #stopTime = () => {};

  /** The facts of `dispatch` already include an event when it is observed here. */
  constructor(
    options: WatchedOptions,
    place: RunPlace,
    dispatch: Pick<Dispatch, 'facts' | 'dispatchId' | 'envelope'>,
    act: Interventions,
  ) {
    const { loopDetector, clock = systemClock } = options;
    this.#options = options;
    this.#place = place;
    this.#clock = clock;
    this.#dispatch = dispatch;
    this.#act = act;
    this.#loops = loopDetector === false ? null : new LoopDetector(loopDetector ?? defaultLoopLimits);
    this.workers = this.#createWorkers();
  }

  /** Begins the time of the dispatch. */
  start(): void {
    const { timeMs } = this.#options.limits ?? {};
    if (timeMs === undefined) return;
    this.#stopTime = watchTime(this.#clock, timeMs, (elapsedMs) =>
      this.#act.kill(newEvent('harness:timeout', { elapsedMs, limitMs: timeMs })),
    );
  }

  /**
   * Stops what is silent for too long, until the returned object is stopped. Null without such a limit. It waits while workers run.
   * `isWaiting`: whether it is silent because it waits for others. `kill`: absent, that of the dispatch.
   */
  watchSilence(
    isWaiting: () => boolean,
    kill: (event: NewEvent) => void = (event) => this.#act.kill(event),
  ): StallWatch | null {
    const { stallMs } = this.#options.limits ?? {};
    if (stallMs === undefined) return null;
    const watch = watchStall(
      this.#clock,
      stallMs,
      (idleMs) => kill(newEvent('harness:stall', { idleMs, limitMs: stallMs })),
      // Each worker has its own watch.
      () => this.workers?.areRunning === true || isWaiting(),
    );
    this.#silences.add(watch);
    return {
      touch: () => watch.touch(),
      stop: () => {
        this.#silences.delete(watch);
        watch.stop();
      },
    };
  }

  /** Shows the dispatch to people, who may write to it and stop it, until the returned function is called. */
  attach({ deliver, isOpen, abort }: Attachment): () => void {
    const { communication } = this.#options;
    const { dispatchId, envelope } = this.#dispatch;
    const { members } = this.#place.family;
    members.set(dispatchId, {
      role: envelope.role,
      accepts: () => deliver !== undefined && isOpen(),
      deliver: async (...message) => (await deliver?.(...message)) === true,
    });
    const detach = communication?.attach(this.#dispatch.dispatchId, deliver ?? (async () => false), {
      isWorker: this.#place.depth > 0,
      messages: deliver !== undefined,
      abort,
    });
    return () => {
      members.set(dispatchId, null);
      detach?.();
    };
  }

  /** A message was recorded that is for the agents. */
  received(message: CapturedEvent): void {
    this.touch();
    this.workers?.heard(message);
    this.messages.push(message);
  }

  /** Takes no more messages, and starts no more workers; running ones continue. */
  close(): void {
    this.messages.close();
    this.workers?.close();
  }

  /** Ends the timers. */
  stop(): void {
    this.#stopTime();
    for (const silence of this.#silences) silence.stop();
    this.#silences.clear();
  }

  /** Something happened. */
  touch(): void {
    for (const silence of this.#silences) silence.touch();
  }

  /** Observes an event of an agent after it was recorded, with the content by which calls differ. */
  async observe(event: CapturedEvent): Promise<void> {
    const finding = this.#loops?.observe(event) ?? null;
    if (finding === null) return;
    const links = { cause: event.id, ...(event.agentId === undefined ? {} : { agentId: event.agentId }) };
    if (finding.act === 'kill') this.#act.kill(newEvent('harness:loop_kill', finding.data, links));
    else await this.#act.warn(newEvent('harness:loop_warning', finding.data, links));
  }

  /** Forgets the calls of an agent so far, in which its loops began. */
  forgetCalls(agentId: string): void {
    this.#loops?.forget(agentId);
  }

  /** Called where an agent continues: one that has ended spends nothing more, and is not stopped. */
  checkCost(): void {
    // A total that falls refunds nothing.
    this.#spent = Math.max(this.#spent, this.#dispatch.facts.costUsd ?? 0);
    const limit = this.#options.limits?.costUsd;
    const spent = this.#spent;
    if (limit === undefined || spent <= limit) return;
    const reason = `cost limit: ${Number(spent.toFixed(6))} of ${limit} US dollars spent`;
    this.#act.kill(newEvent('harness:abort', { reason, by: 'harness' }));
  }

  /** The event that reports that the limit of cost does not count these models. Null: it was reported before, or no limit is set. */
  costWarning(models: readonly ModelUsage[]): NewEvent | null {
    const limit = this.#options.limits?.costUsd;
    if (limit === undefined || models.length === 0 || this.#hasWarnedOfCost) return null;
    this.#hasWarnedOfCost = true;
    const names = models.map(({ model }) => model).join(', ');
    const message = `The cost limit of ${limit} US dollars does not count ${names}: the log does not state what its calls cost.`;
    return newEvent('harness:error', { message, code: 'DISPATCH_COST_UNKNOWN' });
  }

  /** Of this dispatch: see {@link uncountedModels}. */
  get uncountedModels(): readonly ModelUsage[] {
    return uncountedModels(this.#dispatch.facts.models);
  }

  #createWorkers(): Workers | null {
    const { workers } = this.#options;
    if (workers === undefined) return null;
    // A worker can write to its parent, whatever its level.
    if (this.#place.depth === 0 && (workers.maxDepth ?? defaultMaxDepth) === 0) return null;
    return new Workers({
      options: this.#options,
      place: this.#place,
      caller: () => this.#dispatch.envelope,
      reportFailure: (worker, error) => this.#reportFailure(worker, error),
      onEnd: () => this.touch(),
      record: (event) => this.#act.record(event),
      callEvent: (toolCallId, agentId) => this.#act.callEvent(toolCallId, agentId),
    });
  }

  #reportFailure({ dispatchId, role }: DispatchEnvelope, error: unknown): Promise<boolean> {
    const failure = describeFailure(error);
    const message = `The store failed for the worker ${role} ${dispatchId}, or below it: ${failure.message}`;
    return this.#act.report(newEvent('harness:error', { ...failure, message }));
  }
}

/** The models that used tokens without a cost in the log. A limit of cost does not count these models. */
export function uncountedModels(models: readonly ModelUsage[] | null): readonly ModelUsage[] {
  return (models ?? []).filter(
    ({ calls, costUsd, inputTokens, outputTokens }) =>
      calls > 0 && costUsd === undefined && inputTokens + outputTokens > 0,
  );
}

/** Messages for a running agent, in order. Ends after it was closed and the agent has taken all of them. */
class MessageInbox implements AsyncIterable<CapturedEvent> {
  readonly #messages: CapturedEvent[] = [];
  readonly #notifier = new Notifier();
  #closed = false;

  push(message: CapturedEvent): void {
    this.#messages.push(message);
    this.#notifier.notify();
  }

  close(): void {
    this.#closed = true;
    this.#notifier.notify();
  }

  [Symbol.asyncIterator](): AsyncIterator<CapturedEvent, undefined> {
    const listener = { hasLeft: false };
    return leavableIterator(this.#take(listener), () => {
      listener.hasLeft = true;
      this.#notifier.notify();
    });
  }

  async *#take(listener: { readonly hasLeft: boolean }): AsyncGenerator<CapturedEvent, undefined> {
    while (!listener.hasLeft) {
      const message = this.#messages.shift();
      if (message !== undefined) yield message;
      else if (this.#closed) return;
      else await this.#notifier.wait();
    }
  }
}

/** Calls `onTimeout` once, after `limitMs`. Returns a function that cancels it. */
function watchTime(clock: Clock, limitMs: number, onTimeout: (elapsedMs: number) => void): () => void {
  const startedAt = clock.now();
  return clock.after(limitMs, () => onTimeout(Math.max(limitMs, clock.now() - startedAt)));
}

interface StallWatch {
  /** Something happened. */
  touch(): void;
  stop(): void;
}

/**
 * Calls `onTimeout` once, when nothing has happened for `limitMs`; if `isExcused` then, the time starts again. A touch sets
 * no timer: the timer reads the time of the last touch.
 */
function watchStall(
  clock: Clock,
  limitMs: number,
  onTimeout: (idleMs: number) => void,
  isExcused: () => boolean,
): StallWatch {
  let touchedAt = clock.now();
  const look = () => {
    const now = clock.now();
    // The clock may have been set back since.
    touchedAt = isExcused() ? now : Math.min(touchedAt, now);
    const idleMs = now - touchedAt;
    if (idleMs >= limitMs) onTimeout(idleMs);
    else cancel = clock.after(limitMs - idleMs, look);
  };
  let cancel = clock.after(limitMs, look);
  return {
    touch: () => {
      touchedAt = clock.now();
    },
    stop: () => cancel(),
  };
}
