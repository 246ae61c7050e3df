import { type CapturedEvent, type EventData, isEventOf } from '@hansard/events';
import type { DispatchEnd } from '../store/dispatch.ts';
import { completionUpdates } from './completion.ts';

const stops: ReadonlySet<string> = new Set([
  'harness:abort',
  'harness:timeout',
  'harness:stall',
  'harness:loop_kill',
]);

/**
 * How a dispatch ended according to its log, if its process exited before it completed the envelope. A fold over its events.
 */
export class LoggedEnding {
  /** `stopped`: by an abort or a limit, whatever the agent reported afterwards. */
  #state: 'running' | 'stopped' | 'complete' = 'running';
  #completion: EventData<'session:complete'> | null = null;
  /** Whether the last activity has its `session:complete`. */
  #isComplete = false;
  #latest: string | null = null;
  /** The background tasks, by the ids of the agent's engine. They may continue after a `session:complete`. */
  readonly #tasks = new Set<unknown>();

  observe(event: CapturedEvent): void {
    this.#latest = event.timestamp;
    if (isEventOf(event, 'session:complete')) {
      this.#completion = event.data;
      this.#isComplete = true;
      if (this.#state === 'running') this.#state = 'complete';
    } else if (stops.has(event.type)) {
      this.#state = 'stopped';
      this.#isComplete = false;
    } else if (event.type === 'system:task_started') this.#tasks.add(event.data.task_id);
    else if (event.type === 'system:task_notification') this.#tasks.delete(event.data.task_id);
    // Usually this ended the run. The log does not distinguish it from the failure of a hook.
    else if (event.type === 'harness:error' && this.#state === 'complete') this.#state = 'running';
    else if (this.#isAwaitedMore(event) || (this.#isComplete && isActivity(event))) {
      this.#state = 'running';
      this.#isComplete = false;
    }
  }

  /** The updates that complete the envelope; null if the log does not say that the dispatch ended. */
  get updates(): DispatchEnd | null {
    if (this.#state === 'running' || this.#latest === null) return null;
    if (this.#state === 'complete' && this.#tasks.size > 0) return null;
    const ending = this.#state === 'stopped' ? 'aborted' : 'ended';
    return completionUpdates(this.#completion, ending, this.#latest);
  }

  /** The updates that complete the envelope of a dispatch that ended with its process. */
  crashedAt(time: string): DispatchEnd {
    return completionUpdates(this.#completion, 'crashed', time);
  }

  /** A stopped engine also records that, as a system message. */
  #isAwaitedMore(event: CapturedEvent): boolean {
    if (!isEventOf(event, 'user:message')) return false;
    return this.#state !== 'stopped' || event.data.source.kind !== 'system';
  }
}

/** False for facts about a session that may also follow its end. */
function isActivity({ type }: CapturedEvent): boolean {
  return type === 'session:init' || !/^(session|system|harness):/.test(type);
}
