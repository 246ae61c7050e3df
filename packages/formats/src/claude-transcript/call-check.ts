import type { TranscriptStep } from './transcript-step.ts';

const mostRemembered = 10_000;

/** Finds results without a call before them, and second results of a call, among the latest ten thousand results and more. */
export class CallCheck {
  /** Ids of tool calls that have a result and do not stand before it. */
  readonly #awaited = new Set<string>();
  #answered = new Set<string>();
  /** Those before the latest ten thousand: a set that drops its oldest one by one gets slow. */
  #answeredBefore = new Set<string>();

  called(step: TranscriptStep, toolCallId: string): void {
    if (this.#awaited.delete(toolCallId))
      step.report('reference_ahead', `The result of the tool call ${toolCallId} stands before the call.`);
  }

  answered(step: TranscriptStep, toolCallId: string): void {
    if (this.#answered.has(toolCallId) || this.#answeredBefore.has(toolCallId)) {
      step.report('call_answered_twice', `Another result of the tool call ${toolCallId}; both are kept.`);
      return;
    }
    this.#remember(toolCallId);
    if (step.state.calls.get(toolCallId) !== undefined) return;
    if (this.#awaited.size < mostRemembered) this.#awaited.add(toolCallId);
    step.report('call_missing', `A result of the tool call ${toolCallId}, which does not stand before it.`);
  }

  #remember(toolCallId: string): void {
    if (this.#answered.size === mostRemembered) {
      this.#answeredBefore = this.#answered;
      this.#answered = new Set();
    }
    this.#answered.add(toolCallId);
  }
}
