import { CliError, exitCode } from '../../terminal/cli-error.ts';

/** Looks up an utterance by id. @throws CliError for the id of another event, or of text compiled from several utterances */
export function explainSaying<Rows>(ask: () => Rows): Rows {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CliError(
      exitCode.failed,
      error.message,
      '`hansard dialog TASK` prints the positions of what was said.',
      { cause: error },
    );
  }
}
