import { CliError, exitCode } from '../../terminal/cli-error.ts';

/** Asks for what was said by its id: an id of anything else, or of what was compiled from several lines, is explained. */
export function explainSaying<Rows>(ask: () => Rows): Rows {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CliError(
      exitCode.failed,
      error.message,
      '`hansard dialog TASK` shows the ids of what was said.',
      { cause: error },
    );
  }
}
