import type { ClaudeDiagnosticCode } from '../json-lines/claude-diagnostic.ts';
import type { MappingState } from '../mapping/mapping-state.ts';
import { RecentMap } from '../values/recent-map.ts';

const mostRemembered = 10_000;

/** The record that holds a call or a result. */
interface CheckedRecord {
  readonly state: Pick<MappingState, 'calls'>;
  report(code: ClaudeDiagnosticCode, message: string): void;
}

/** Finds results without a call before them and second results of a call, among at least the latest ten thousand results. */
export class CallCheck {
  /** Ids of tool calls that have a result but were not seen before it. */
  readonly #awaited = new Set<string>();
  readonly #answered = new RecentMap<true>(mostRemembered);

  called(step: CheckedRecord, toolCallId: string): void {
    if (this.#awaited.delete(toolCallId))
      step.report('reference_ahead', `The result of the tool call ${toolCallId} comes before the call.`);
  }

  answered(step: CheckedRecord, toolCallId: string): void {
    if (this.#answered.has(toolCallId)) {
      step.report('call_answered_twice', `Another result of the tool call ${toolCallId}; both are kept.`);
      return;
    }
    this.#answered.set(toolCallId, true);
    if (step.state.calls.get(toolCallId) !== undefined) return;
    if (this.#awaited.size < mostRemembered) this.#awaited.add(toolCallId);
    step.report('call_missing', `A result of the tool call ${toolCallId}, which does not come before it.`);
  }
}
