import { isCodedError } from '@hansard/events';
import { CliError, type ExitCode, exitCode } from './cli-error.ts';

/** What to do next, and how to exit, by error code. `docs/errors.md` says more of each. */
const advice: Readonly<Record<string, readonly [ExitCode, string]>> = {
  STORE_CORRUPT: [
    exitCode.damaged,
    'The file was left as it is. Copy it, repair or remove the damaged part, and run the command again.',
  ],
  STORE_LOCKED: [
    exitCode.failed,
    'Wait until that process is done, or stop it. A lock of a process that died is taken over by itself.',
  ],
  STORE_INVALID_PATH: [
    exitCode.usage,
    'Name a task as PROJECT/SLUG, both without dots in front, backslashes or "..".',
  ],
  STORE_UNAVAILABLE: [exitCode.failed, 'Check that the folder exists, has space, and may be written by you.'],
  STORE_UNSUPPORTED: [
    exitCode.usage,
    'Choose a store with that capability in hansard.config.json; `hansard plugins` lists what is loaded.',
  ],
  STORE_DISPATCH_NOT_FOUND: [exitCode.failed, '`hansard ls TASK` lists the dispatches of a task.'],
  PLUGIN_NOT_FOUND: [
    exitCode.usage,
    'Install the package beside your hansard.config.json, or correct its name or path there.',
  ],
  PLUGIN_CONFIG_INVALID: [exitCode.usage, 'Correct the "config" of that plugin in hansard.config.json.'],
  FORMAT_EMPTY: [
    exitCode.failed,
    'Nothing was recorded in that file. Check that it is the stream you meant.',
  ],
  FORMAT_NOT_JSONL: [
    exitCode.usage,
    'A stream is a .jsonl file with one message of the Agent SDK on each line.',
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
  if (isCodedError(error)) {
    const [code, text] = advice[error.code] ?? [exitCode.failed, `See docs/errors.md, ${error.code}.`];
    return { message: `${error.code}: ${error.message}`, advice: text, exitCode: code };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    message: `unexpected: ${message}`,
    advice: 'This is a fault of Hansard. Run it again with HANSARD_DEBUG=1 for the stack, and report it.',
    exitCode: exitCode.failed,
  };
}
