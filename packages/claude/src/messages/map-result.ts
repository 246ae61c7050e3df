import type { EventData, JsonObject } from '@hansard/events';
import type { MappingStep } from '../mapping/mapping-step.ts';
import {
  asAmount,
  asCount,
  asList,
  asName,
  asObject,
  asText,
  withoutUndefined,
} from '../values/json-fields.ts';
import { writeDenial } from './write-denial.ts';

const namedFields = ['is_error', 'result', 'structured_output', 'errors'];

/** The end of a run or of a turn: `session:complete` with the totals so far, and denials that were not reported before. */
export function mapResult(step: MappingStep): void {
  const { message, state, events } = step;
  state.inferences.end(undefined);
  step.writeInferences();
  const named = [...namedFields, ...countedFields(message)];
  if (writeDenials(step)) named.push('permission_denials');
  step.keepOthers(named);
  const errors = asList(message.errors)?.map((error) => asText(error) ?? JSON.stringify(error));
  const outcome = outcomeOf(message);
  const result = asText(message.result);
  events.event(
    'session:complete',
    withoutUndefined({
      ...outcome,
      result,
      structuredResult: message.structured_output,
      ...state.totals.add(message),
      errors: errors ?? (outcome.status === 'failed' && result !== undefined ? [result] : undefined),
    }),
  );
}

type Outcome = Pick<EventData<'session:complete'>, 'status' | 'reason'>;

/** Depends on `is_error` too: a run that ended with an API error also has the subtype `success`. */
function outcomeOf({ subtype, is_error, terminal_reason }: JsonObject): Outcome {
  const ended = asText(terminal_reason) ?? '';
  if (subtype === 'error_max_turns' || subtype === 'error_max_budget_usd') {
    return { status: 'aborted', reason: subtype };
  }
  if (ended.startsWith('aborted')) return { status: 'aborted', reason: ended };
  if (subtype === 'success' && is_error !== true) return { status: 'completed' };
  const reason = subtype === 'success' ? asName(terminal_reason) : asName(subtype);
  return { status: 'failed', reason: reason ?? 'error' };
}

/** The fields that are included in the totals. */
function countedFields({ total_cost_usd, duration_ms, num_turns }: JsonObject): string[] {
  const counted = {
    total_cost_usd: asAmount(total_cost_usd),
    duration_ms: asAmount(duration_ms),
    num_turns: asCount(num_turns),
  };
  return Object.keys(withoutUndefined(counted));
}

/** Writes the denials; whether each of them has its event now. */
function writeDenials(step: MappingStep): boolean {
  const denials = asList(step.message.permission_denials) ?? [];
  for (const denial of denials) {
    const { tool_name: tool, tool_use_id, tool_input: input } = asObject(denial) ?? {};
    const toolCallId = asName(tool_use_id);
    if (toolCallId === undefined) return false;
    const details = withoutUndefined({ tool, input });
    writeDenial(step, toolCallId, {}, step.state.calls.get(toolCallId)?.agentId, details);
  }
  return Array.isArray(step.message.permission_denials);
}
