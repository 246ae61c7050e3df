import { createRedactor } from '@hansard/redaction';
import type { ExitCode } from './cli-error.ts';
import { type CliContext, note } from './context.ts';
import { explainError } from './explain-error.ts';

/**
 * Prints an error that ended the command, with the advice, and returns the exit code. A message can quote an argument or a
 * record: secrets of known formats are replaced.
 */
export function reportError(context: CliContext, error: unknown): ExitCode {
  const explained = explainError(error);
  const { text } = createRedactor();
  const noteText = (line: string) => note(context, text(line).text);
  noteText(`hansard: ${explained.message}\n  ${explained.advice}`);
  if (context.env.HANSARD_DEBUG !== undefined) noteText(String((error as Error).stack));
  return explained.exitCode;
}
