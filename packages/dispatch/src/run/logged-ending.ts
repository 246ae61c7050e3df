import { type CapturedEvent, type EventData, isEventOf } from '@hansard/events';
import { DispatchTotals } from '@hansard/views/basics';
import type { DispatchEnd } from '../store/dispatch.ts';
import { completionUpdates } from './completion.ts';

const stops: ReadonlySet<string> = new Set([
  'harness:abort',
  'harness:timeout',
  'harness:stall',
  'harness:loop_kill',
]);

/**
 * How a dispatch ended as far as its log tells, for one whose process died before the envelope said so: a fold over its
 * events.
 */
export class LoggedEnding {
  /** `stopped`: by somebody or some limit, whatever the agent said of it then. */
  #state: 'running' | 'stopped' | 'complete' = 'running';
  #completion: EventData<'session:complete'> | null = null;
  readonly #totals = new DispatchTotals();
  /** Whether the last activity has its `session:complete`. */
  #isComplete = false;
  #latest: string | null = null;
  /** What goes on in the background, also behind a `session:complete`, by the ids of the agent's engine. */
  readonly #tasks = new Set<unknown>();

  observe(event: CapturedEvent): void {
    this.#latest = event.timestamp;
    this.#totals.observe(event);
    if (isEventOf(event, 'session:complete')) {
      this.#completion = event.data;
      this.#isComplete = true;
      if (this.#state === 'running') this.#state = 'complete';
    } else if (stops.has(event.type)) {
      this.#state = 'stopped';
      this.#isComplete = false;
    } else if (event.type === 'system:task_started') this.#tasks.add(event.data.task_id);
    else if (event.type === 'system:task_notification') this.#tasks.delete(event.data.task_id);
    // Most often what ended the run; but the log does not tell it from a hook that failed.
    else if (event.type === 'harness:error' && this.#state === 'complete') this.#state = 'running';
    else if (this.#isAskedMore(event) || (this.#isComplete && isActivity(event))) {
      this.#state = 'running';
      this.#isComplete = false;
    }
  }

  /** What completes the envelope; null where the log does not say that the dispatch ended. */
  get updates(): DispatchEnd | null {
    if (this.#state === 'running' || this.#latest === null) return null;
    if (this.#state === 'complete' && this.#tasks.size > 0) return null;
    const ending = this.#state === 'stopped' ? 'aborted' : 'ended';
    return completionUpdates(this.#completion, ending, this.#latest, this.#totals);
  }

  /** What completes the envelope of a dispatch that ended with its process. */
  crashedAt(time: string): DispatchEnd {
    return completionUpdates(this.#completion, 'crashed', time, this.#totals);
  }

  /** An engine that is stopped notes that, too, as a message of the system. */
  #isAskedMore(event: CapturedEvent): boolean {
    if (!isEventOf(event, 'user:message')) return false;
    return this.#state !== 'stopped' || event.data.source.kind !== 'system';
  }
}

/** Not what is only said of a session, also behind its end. */
function isActivity({ type }: CapturedEvent): boolean {
  return type === 'session:init' || !/^(session|system|harness):/.test(type);
}
