import type { CapturedEvent, EventData } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';

/** The events that record who or what stopped a dispatch. */
export const stops: ReadonlySet<string> = new Set([
  'harness:abort',
  'harness:timeout',
  'harness:stall',
  'harness:loop_kill',
]);

/** How a log says that its dispatch ended. `stopped`: by an abort or a limit, whatever the agent reported afterwards. */
export type LoggedEnd = 'stopped' | 'complete';

/** How a dispatch ended according to its log: a fold over its events. */
export class LoggedEnding {
  #state: LoggedEnd | 'running' = 'running';
  #completion: EventData<'session:complete'> | null = null;
  /** Whether the last activity has its `session:complete`. */
  #isComplete = false;
  /** The background tasks, by the ids of the agent's engine. They may continue after a `session:complete`. */
  readonly #tasks = new Set<unknown>();

  /**
   * Whether an event of any type can change the answer. Otherwise only those that end a dispatch, or begin or end a task, can. Set here
   * only.
   */
  isOver = false;

  observe(event: CapturedEvent): void {
    this.#observe(event);
    this.isOver = this.#isComplete || this.#state !== 'running';
  }

  #observe(event: CapturedEvent): void {
    if (isReadableAs(event, 'session:complete')) {
      this.#completion = event.data;
      this.#isComplete = true;
      if (this.#state === 'running') this.#state = 'complete';
    } else if (stops.has(event.type)) {
      this.#state = 'stopped';
      this.#isComplete = false;
    } else if (event.type === 'system:task_started') this.#tasks.add(event.data.task_id);
    else if (event.type === 'system:task_notification') this.#tasks.delete(event.data.task_id);
    // This ended the run, unless a hook failed.
    else if (event.type === 'harness:error') {
      if (this.#state === 'complete' && event.data.hook === undefined) this.#state = 'running';
    } else if (this.#isAwaitedMore(event) || (this.#isComplete && isActivity(event))) {
      this.#state = 'running';
      this.#isComplete = false;
    }
  }

  /** Null: the log does not say that the dispatch ended, or work of its agent continues. */
  get end(): LoggedEnd | null {
    if (this.#state === 'running' || (this.#state === 'complete' && this.#tasks.size > 0)) return null;
    return this.#state;
  }

  /** The last one, whatever followed. */
  get completion(): EventData<'session:complete'> | null {
    return this.#completion;
  }

  /** A stopped engine also records that, as a system message. */
  #isAwaitedMore(event: CapturedEvent): boolean {
    if (!isReadableAs(event, 'user:message')) return false;
    return this.#state !== 'stopped' || event.data.source.kind !== 'system';
  }
}

/** False for facts about a session that may also follow its end. */
function isActivity({ type }: CapturedEvent): boolean {
  return type === 'session:init' || !/^(session|system|harness):/.test(type);
}
