import type { Diagnostic } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import type { TreeProblemCode } from '@hansard/prompt';

type LogDiagnosticCode =
  | 'id_repeated'
  | 'event_unreadable'
  | 'agent_not_created'
  | 'agent_created_twice'
  | 'agent_name_shared'
  | 'reference_lost'
  | 'reference_ahead'
  | TreeProblemCode;

/** Something wrong in a log, with the first event that shows it. The views still use the rest of the log. */
export interface LogDiagnostic extends Diagnostic<LogDiagnosticCode> {
  readonly eventId: string;
}

/** One line for each diagnostic. */
export function renderDiagnostics(diagnostics: readonly LogDiagnostic[]): string {
  return diagnostics.map(({ message }) => neutraliseControlsInLine(message)).join('\n');
}
