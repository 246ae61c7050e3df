import { isCodedError } from '@hansard/events';
import { isPluginError, isStoreError } from '@hansard/provider';
import { CliError, type ExitCode, exitCode } from './cli-error.ts';

/** What to do next, and how to exit, by error code. `docs/errors.md` says more of each. */
const advice: Readonly<Record<string, readonly [ExitCode, string]>> = {
  STORE_CORRUPT: [exitCode.damaged, 'Nothing was changed. Copy the file before you repair it.'],
  STORE_LOCKED: [
    exitCode.failed,
    'Wait until that process is done, or stop it. A lock of a process that died is taken over by itself.',
  ],
  STORE_INVALID_PATH: [
    exitCode.usage,
    'Name a task as PROJECT/SLUG, both without dots in front, backslashes or "..".',
  ],
  STORE_UNAVAILABLE: [exitCode.failed, 'What was recorded before is safe.'],
  STORE_UNSUPPORTED: [
    exitCode.usage,
    'Choose a store with that capability in hansard.config.json; `hansard plugins` lists what is loaded.',
  ],
  STORE_DISPATCH_NOT_FOUND: [exitCode.failed, '`hansard ls TASK` lists the dispatches of a task.'],
  EVENT_ENVELOPE_INVALID: [exitCode.usage, 'Correct the option that gives that field, such as --role.'],
  PLUGIN_NOT_FOUND: [
    exitCode.usage,
    '`hansard plugins` shows each plugin of the configuration, and where it was found.',
  ],
  PLUGIN_CONFIG_INVALID: [exitCode.usage, 'Correct the "config" of that plugin in hansard.config.json.'],
  SESSION_NOT_FULL: [
    exitCode.failed,
    'Only a dispatch of fidelity "full" holds a whole transcript; a recorded stream without tool input and output does not.',
  ],
  SESSION_MODEL_FAILED: [
    exitCode.failed,
    'The session is in the log up to there: `hansard resume TASK` asks the model again.',
  ],
  SCENARIO_INVALID: [exitCode.usage, 'Correct the scenario at that place.'],
  SCENARIO_UNREADABLE: [exitCode.failed, 'Check the path, and that you may read the file.'],
  FORMAT_EMPTY: [
    exitCode.failed,
    'Nothing was recorded in that file. Check that it is the stream you meant.',
  ],
  FORMAT_NOT_JSONL: [
    exitCode.usage,
    'A stream is a .jsonl file with one message of the Agent SDK on each line.',
  ],
  FORMAT_NO_RECORDS: [
    exitCode.failed,
    'Nothing was imported. Check that it is the file you meant, and its format (--as).',
  ],
  FORMAT_UNREADABLE: [exitCode.failed, 'Check the path, and that you may read the file.'],
};

export interface Explanation {
  readonly message: string;
  readonly advice: string;
  readonly exitCode: ExitCode;
}

export function explainError(error: unknown): Explanation {
  if (error instanceof CliError) return error;
  // A store that can't be opened says more itself than that its plugin failed.
  if (isPluginError(error, 'PLUGIN_CREATE_FAILED') && isStoreError(error.cause))
    return explainError(error.cause);
  if (isCodedError(error)) {
    const [code, text] = advice[error.code] ?? [
      exitCode.failed,
      `docs/errors.md in Hansard's repository has a row for ${error.code}.`,
    ];
    return { message: `${error.code}: ${error.message}`, advice: text, exitCode: code };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    message: `unexpected: ${message}`,
    advice: 'This is a fault of Hansard. Run it again with HANSARD_DEBUG=1 for the stack, and report it.',
    exitCode: exitCode.failed,
  };
}
