import type { AgentActivity } from '@hansard/provider';

interface Waiter {
  readonly position: number;
  readonly go: () => void;
}

/**
 * The activities of the engine on their way to the log, which takes one after the other. Code that must not run ahead of the
 * log waits here until a tool call, and everything before it, is recorded.
 */
export class ActivityQueue implements AsyncIterable<AgentActivity> {
  readonly #activities: AgentActivity[] = [];
  #added = 0;
  /** The number of recorded activities: an activity is recorded when the next one is requested. */
  #recorded = 0;
  #end: { readonly error: unknown } | { readonly error?: never } | null = null;
  #wake = () => {};
  #waiters: Waiter[] = [];
  /** Calls without a result: their position, or the waiters for it. */
  readonly #calls = new Map<string, number>();
  readonly #awaited = new Map<string, () => void>();

  add(activities: readonly AgentActivity[]): void {
    for (const activity of activities) {
      this.#activities.push(activity);
      this.#added += 1;
      if (activity.kind === 'event') this.#note(activity.event);
    }
    this.#wake();
  }

  /** Ends the queue. An error is thrown after the last activity is taken. */
  end(failure?: { readonly error: unknown }): void {
    this.#end ??= failure ?? {};
    this.#wake();
  }

  /** Stops the queue: no activity is taken any more, and no waiter is kept. */
  leave(): void {
    this.end();
    this.#activities.length = 0;
    this.#recorded = Number.POSITIVE_INFINITY;
    this.#release();
    for (const come of this.#awaited.values()) come();
    this.#awaited.clear();
  }

  /** Resolves when the call is recorded, or after `patienceMs` if the engine does not report it. */
  async whenRecorded(toolCallId: string, patienceMs: number): Promise<void> {
    if (!this.#calls.has(toolCallId)) await this.#untilTold(toolCallId, patienceMs);
    const position = this.#calls.get(toolCallId) ?? this.#added;
    if (this.#recorded >= position) return;
    await new Promise<void>((go) => this.#waiters.push({ position, go }));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AgentActivity> {
    for (;;) {
      const activity = this.#activities.shift();
      if (activity !== undefined) {
        yield activity;
        this.#recorded += 1;
        this.#release();
      } else if (this.#end !== null) {
        if ('error' in this.#end) throw this.#end.error;
        return;
      } else {
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
      }
    }
  }

  #note({ type, data }: { readonly type: string; readonly data: { readonly [key: string]: unknown } }): void {
    const toolCallId = String(data.toolCallId);
    if (type === 'agent:tool_call') {
      this.#calls.set(toolCallId, this.#added);
      this.#awaited.get(toolCallId)?.();
    } else if (type === 'agent:tool_result') {
      this.#calls.delete(toolCallId);
    }
  }

  async #untilTold(toolCallId: string, patienceMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, patienceMs);
      this.#awaited.set(toolCallId, () => {
        clearTimeout(timer);
        resolve();
      });
    });
    this.#awaited.delete(toolCallId);
  }

  #release(): void {
    const ready = this.#waiters.filter(({ position }) => position <= this.#recorded);
    if (ready.length === 0) return;
    this.#waiters = this.#waiters.filter(({ position }) => position > this.#recorded);
    for (const { go } of ready) go();
  }
}
