import { isCodedError } from '@hansard/events';
import { isPluginError, isStoreError } from '@hansard/provider';
import { CliError, type ExitCode, exitCode } from './cli-error.ts';

/** What to do next, and how to exit, by error code. `docs/errors.md` says more of each. */
const advice: Readonly<Record<string, readonly [ExitCode, string]>> = {
  STORE_CORRUPT: [exitCode.damaged, 'Nothing was changed. Copy the file before you repair it.'],
  STORE_LOCKED: [
    exitCode.failed,
    'Wait until that process is done, or stop it. The claim of a process that has exited is free.',
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
  CONTEXT_BUDGET_TOO_SMALL: [exitCode.failed, 'Raise the budget of the context, or lower its reserve.'],
  CONTEXT_MANIFEST_UNKNOWN: [
    exitCode.failed,
    '`hansard context TASK DISPATCH ID --policy full` shows what the model could have seen.',
  ],
  SESSION_MODEL_FAILED: [
    exitCode.failed,
    'The session is in the log up to there: `hansard resume TASK` asks the model again.',
  ],
  AGENT_SDK_MISSING: [exitCode.failed, 'npm install @anthropic-ai/claude-agent-sdk, beside Hansard.'],
  AGENT_ENGINE_MISSING: [exitCode.failed, 'Install the SDK with its optional dependencies.'],
  AGENT_NOT_LOGGED_IN: [exitCode.failed, 'Set ANTHROPIC_API_KEY, or log in with `claude` and /login.'],
  AGENT_CWD_MISSING: [exitCode.usage, 'Create the folder, or name another with --cwd.'],
  SCENARIO_INVALID: [exitCode.usage, 'Correct the scenario at that place.'],
  SCENARIO_UNREADABLE: [exitCode.failed, 'Check the path, and that you may read the file.'],
  FORMAT_EMPTY: [exitCode.failed, 'Nothing was recorded in that file. Check that it is the one you meant.'],
  FORMAT_NOT_JSONL: [
    exitCode.usage,
    'A stream or a transcript is a .jsonl file with one message or record on each line.',
  ],
  FORMAT_NO_RECORDS: [
    exitCode.failed,
    'Nothing was imported. Check that it is the file you meant, and its format (--as).',
  ],
  FORMAT_NOT_FULL: [exitCode.failed, 'Record with --fidelity full; sessions always do. Nothing was written.'],
  FORMAT_VERDICT_INVALID: [
    exitCode.failed,
    'Correct those lines and import the file again. Nothing was taken in.',
  ],
  TRACE_ENDPOINT_INVALID: [exitCode.usage, 'Name a receiver, such as --endpoint http://localhost:4318.'],
  TRACE_RECEIVER_FAILED: [
    exitCode.failed,
    'Check that the receiver runs and takes OTLP over HTTP. Export again: what it has already, it keeps once.',
  ],
  TRACE_RECEIVER_REJECTED: [exitCode.failed, 'The receiver says why; what it took, it keeps.'],
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
