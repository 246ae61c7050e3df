import type { AgentActivity } from '@hansard/provider';

interface Waiter {
  readonly position: number;
  readonly go: () => void;
}

/**
 * What the engine did, on its way to the log. The log takes one activity after the other; who must not run ahead of it
 * waits here until a tool call, and all that came before it, is recorded.
 */
export class ActivityQueue implements AsyncIterable<AgentActivity> {
  readonly #activities: AgentActivity[] = [];
  #added = 0;
  /** Taken, and recorded: the next one was asked for. */
  #recorded = 0;
  #end: { readonly error: unknown } | { readonly error?: never } | null = null;
  #wake = () => {};
  #waiters: Waiter[] = [];
  /** Calls without a result: where they stand, or who waits for them to come. */
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

  /** Nobody takes anything any more, and nobody waits. */
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
