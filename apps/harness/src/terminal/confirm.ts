import { createInterface } from 'node:readline';
import { CliError, exitCode } from './cli-error.ts';
import { type CliContext, note } from './context.ts';

/** The option by which a command goes ahead without a question. */
export const yesOption = ['-y, --yes', 'do not ask'] as const;

/**
 * Asks before a change that cannot be undone. Returns whether the answer is yes.
 * @throws CliError if nobody can answer, because the input is not a terminal
 */
export async function confirm(
  context: CliContext,
  question: string,
  { yes = false }: { readonly yes?: boolean },
): Promise<boolean> {
  if (yes) return true;
  if (context.stdin.isTTY !== true)
    throw new CliError(
      exitCode.usage,
      `${question} The input is not a terminal, so nobody can answer.`,
      'Add --yes to go ahead. Nothing was changed.',
    );
  note(context, `${question} [y/N]`);
  const lines = createInterface({ input: context.stdin, signal: context.signal });
  try {
    for await (const line of lines) return /^y(es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close();
  }
}
