import type { ClaudeDiagnosticCode } from '../json-lines/claude-diagnostic.ts';
import type { MappingState } from '../mapping/mapping-state.ts';
import { RecentMap } from '../values/recent-map.ts';
import { usualDistance } from './parent-check.ts';

const mostRemembered = 10_000;

/** The record that holds a call or a result. */
interface CheckedRecord {
  readonly line: number;
  readonly state: Pick<MappingState, 'calls'>;
  report(code: ClaudeDiagnosticCode, message: string): void;
}

/**
 * Finds results of a file without a call, and second results of a call, among at least the latest ten thousand results. A call
 * may come a few lines after its result, because Claude Code writes records out of order.
 */
export class CallCheck {
  /** The results that came before their call, by tool call. */
  readonly #awaited = new Map<string, CheckedRecord>();
  readonly #answered = new RecentMap<true>(mostRemembered);

  called(step: CheckedRecord, toolCallId: string): void {
    const result = this.#awaited.get(toolCallId);
    if (result === undefined) return;
    this.#awaited.delete(toolCallId);
    const distance = step.line - result.line;
    if (distance > usualDistance)
      step.report(
        'reference_ahead',
        `The result of the tool call ${toolCallId} comes ${distance} lines before the call.`,
      );
  }

  answered(step: CheckedRecord, toolCallId: string): void {
    if (this.#answered.has(toolCallId)) {
      step.report('call_answered_twice', `Another result of the tool call ${toolCallId}; both are kept.`);
      return;
    }
    this.#answered.set(toolCallId, true);
    if (step.state.calls.get(toolCallId) !== undefined) return;
    if (this.#awaited.size < mostRemembered) this.#awaited.set(toolCallId, step);
    else reportMissing(step, toolCallId);
  }

  /** Reports the results whose calls have not come. */
  end(): void {
    for (const [toolCallId, step] of this.#awaited) reportMissing(step, toolCallId);
    this.#awaited.clear();
  }
}

function reportMissing(step: CheckedRecord, toolCallId: string): void {
  step.report('call_missing', `A result of the tool call ${toolCallId}, which is not in the transcript.`);
}
