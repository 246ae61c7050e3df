import type { ToolCall } from '@hansard/provider';
import type { Random } from './random.ts';
import type { Rest } from './rest.ts';
import type { TruthRecord } from './truth-record.ts';

interface CallsOfMessage {
  readonly calls: readonly string[];
  begun: number;
}

/** The tool calls of messages. Parallel calls run in turns that the play gives, so that a seed always gives the same session. */
export class BesideCalls {
  readonly #rest: Rest;
  readonly #truth: TruthRecord;
  readonly #atOnce: number;
  /** By tool call without a result in the log. */
  readonly #messages = new Map<string, CallsOfMessage>();
  /** Tool calls that wait for their turn. */
  readonly #turns = new Map<string, () => void>();
  /** How many messages had calls that ran beside each other. */
  count = 0;

  /** `atOnce`: as `parallelToolCalls` of the session. */
  constructor(rest: Rest, truth: TruthRecord, atOnce: number) {
    this.#rest = rest;
    this.#truth = truth;
    this.#atOnce = atOnce;
  }

  get haveTurns(): boolean {
    return this.#turns.size > 0;
  }

  /** A message with these calls is in the log: the first of them begin. */
  begin(calls: readonly string[]): void {
    if (calls.length === 0) return;
    const message = { calls, begun: Math.min(calls.length, this.#atOnce) };
    if (message.begun > 1) this.count += 1;
    for (const toolCallId of calls) this.#messages.set(toolCallId, message);
    this.#rest.begin(message.begun - 1);
  }

  /** A call that may run beside others waits until the play gives it a turn. */
  async turnOf({ toolCallId }: ToolCall): Promise<void> {
    if (this.#atOnce === 1 || (this.#messages.get(toolCallId)?.calls.length ?? 0) < 2) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turns.set(toolCallId, resolve);
    this.#rest.end();
    await promise;
  }

  async giveTurn(random: Random): Promise<void> {
    const [toolCallId, go] = random.pick([...this.#turns]);
    this.#turns.delete(toolCallId);
    await this.#rest.until(go);
  }

  /** A call has the result that its agent will get, after the results of the calls before it. */
  finished(toolCallId: string): void {
    if (!this.#truth.stateOf(toolCallId).isNext) this.#rest.end();
  }

  /** A result is in the log. The next call of the message begins. The agent continues after the last result, and the log with the next result if it exists. */
  recorded(toolCallId: string): void {
    this.#truth.loggedResult(toolCallId);
    const message = this.#messages.get(toolCallId);
    if (message === undefined) return;
    this.#messages.delete(toolCallId);
    const { calls, begun } = message;
    if (begun < calls.length) {
      message.begun += 1;
      this.#rest.begin();
    }
    const next = calls[calls.indexOf(toolCallId) + 1];
    if (next !== undefined && !this.#truth.stateOf(next).isFinished) this.#rest.end();
  }

  /** The process is gone, and with it every call that ran. */
  stop(): void {
    this.#messages.clear();
    this.#turns.clear();
  }
}
