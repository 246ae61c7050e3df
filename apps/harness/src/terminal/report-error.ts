import type { ExitCode } from './cli-error.ts';
import { type CliContext, note } from './context.ts';
import { explainError } from './explain-error.ts';

/** Prints an error that ended the command, with the advice, and returns the exit code. */
export function reportError(context: CliContext, error: unknown): ExitCode {
  const explained = explainError(error);
  note(context, `hansard: ${explained.message}\n  ${explained.advice}`);
  if (context.env.HANSARD_DEBUG !== undefined) note(context, String((error as Error).stack));
  return explained.exitCode;
}
