import type { claudeAgentErrors } from '@hansard/agent-claude';
import type { webErrors } from '@hansard/comm-web';
import { harnessErrors } from '@hansard/compose';
import type { dispatchErrors } from '@hansard/dispatch';
import {
  type ErrorOf,
  type eventErrors,
  type formatErrors,
  type HansardError,
  isHansardError,
  messageOf,
} from '@hansard/events';
import type { importErrors } from '@hansard/import';
import type { scenarioErrors } from '@hansard/model-scripted';
import type { contextErrors } from '@hansard/prompt';
import { pluginErrors, storeErrors } from '@hansard/provider';
import type { redactionErrors } from '@hansard/redaction';
import type { sessionErrors } from '@hansard/session';
import type { traceErrors } from '@hansard/traces';
import type { viewerErrors } from '@hansard/viewer';
import { CliError, type ExitCode, exitCode } from './cli-error.ts';
import { type CliContext, note } from './context.ts';

/** Advice for the command line, for codes whose own advice is for programs. */
const commandAdvice: Readonly<Partial<Record<HansardErrorCode, string>>> = {
  EVENT_ENVELOPE_INVALID: 'Correct the option that gives that field, such as --role.',
  STORE_DISPATCH_NOT_FOUND: '`hansard ls TASK` lists the sessions of a task.',
  STORE_LOCKED:
    'End it there first: /end or Ctrl-C in its terminal; or write to it: `hansard send SESSION "text"`. If its process is on another machine, or in a container that is gone, `hansard store unlock` ends its claim.',
  STORE_INVALID_PATH:
    'Name a task as PROJECT/SLUG. Neither part may begin with a dot or contain a backslash or "..".',
  STORE_UNSUPPORTED:
    'Choose a store with that capability in hansard.config.json; `hansard plugins` lists the loaded plugins.',
  PLUGIN_NOT_FOUND: '`hansard plugins` lists the configured plugins and where each was found.',
  PLUGIN_CONFIG_INVALID: 'Correct the "config" of that plugin in hansard.config.json.',
  SESSION_MODEL_FAILED:
    'The log has the session up to this point: `hansard chat --resume SESSION` asks the model again.',
  SESSION_AGENT_STOPPED:
    'The log says what the agent tried to do. `hansard chat --resume SESSION` lets you say something that helps it. `loopDetector` and `limits.stallMs` of the configuration set the limits.',
  FORMAT_NO_RECORDS: 'Nothing was imported. Check the path and the format (--as).',
  FORMAT_NOT_FULL:
    'Record with --fidelity full; sessions do unless they are asked not to. Nothing was written.',
  FORMAT_TOO_LARGE:
    'Name fewer agents (--agent) or one session, choose trl-chat or openai (one row per conversation), or raise the limit: --max-bytes 10GB. Nothing was written.',
  IMPORT_TASK_REQUIRED: 'Name it: --task PROJECT/SLUG.',
  IMPORT_FIDELITY_FIXED: 'Remove --fidelity, or import into another task (--task).',
  IMPORT_AMBIGUOUS: 'Import each into its own task: --task PROJECT/SLUG.',
  TRACE_ENDPOINT_INVALID: 'Name a receiver, such as --endpoint http://localhost:4318.',
  AGENT_CWD_MISSING: 'Create the folder, or name another with --cwd.',
};

export interface Explanation {
  readonly message: string;
  readonly advice: string;
  readonly exitCode: ExitCode;
}

export function explainError(error: unknown): Explanation {
  if (error instanceof CliError) return error;
  // Its words are those of the command.
  if (harnessErrors.is(error))
    return { message: error.message, advice: error.advice, exitCode: exitCodeOf(error.code) };
  // The error of the store says more than the plugin error around it.
  if (pluginErrors.is(error, 'PLUGIN_CREATE_FAILED') && storeErrors.is(error.cause))
    return explainError(error.cause);
  if (isHansardError(error)) {
    return {
      message: `${error.code}: ${error.message}`,
      advice: adviceFor(error),
      exitCode: exitCodeOf(error.code),
    };
  }
  return {
    message: `unexpected: ${messageOf(error)}`,
    advice:
      'This is a fault of Hansard. Run the command again with HANSARD_DEBUG=1 to get the stack, and report it.',
    exitCode: exitCode.failed,
  };
}

function adviceFor({ code, advice }: HansardError): string {
  const own = Object.hasOwn(commandAdvice, code) ? commandAdvice[code as HansardErrorCode] : undefined;
  return own ?? advice;
}

/** Reports an error that does not stop the command, with its consequence for the result. */
export function noteProblem(context: CliContext, error: unknown, consequence: string): void {
  note(context, `hansard: ${explainError(error).message}\n  ${consequence}`);
}

/** Every error code of Hansard. */
type HansardErrorCode = ErrorOf<
  | typeof claudeAgentErrors
  | typeof contextErrors
  | typeof dispatchErrors
  | typeof eventErrors
  | typeof formatErrors
  | typeof harnessErrors
  | typeof importErrors
  | typeof pluginErrors
  | typeof redactionErrors
  | typeof scenarioErrors
  | typeof sessionErrors
  | typeof storeErrors
  | typeof traceErrors
  | typeof viewerErrors
  | typeof webErrors
>['code'];

const { failed, usage, damaged } = exitCode;

/** The codes with an exit code of their own: the words of the command were wrong, or data is damaged. */
const exitCodes: Readonly<Partial<Record<HansardErrorCode, ExitCode>>> = {
  EVENT_ENVELOPE_INVALID: usage,
  STORE_INVALID_PATH: usage,
  STORE_CORRUPT: damaged,
  STORE_MISPLACED: damaged,
  STORE_NEWER: damaged,
  STORE_UNSUPPORTED: usage,
  PLUGIN_NOT_FOUND: usage,
  PLUGIN_CONFIG_INVALID: usage,
  FORMAT_NOT_JSONL: usage,
  FORMAT_MAPPING_MISSING: usage,
  IMPORT_FORMAT_UNKNOWN: usage,
  IMPORT_FORMAT_MISMATCH: usage,
  IMPORT_TASK_REQUIRED: usage,
  IMPORT_FIDELITY_FIXED: usage,
  HARNESS_FOLDER_MISSING: usage,
  HARNESS_CONFIG_INVALID: usage,
  HARNESS_NO_STORE: usage,
  HARNESS_PROVIDER_UNKNOWN: usage,
  HARNESS_NAME_INVALID: usage,
  HARNESS_OPTION_INVALID: usage,
  REDACTION_PATTERN_INVALID: usage,
  TRACE_ENDPOINT_INVALID: usage,
  AGENT_CWD_MISSING: usage,
  SCENARIO_INVALID: usage,
  VIEW_ADDRESS_UNKNOWN: usage,
  VIEW_TOKEN_NEEDED: usage,
};

/** The exit code for an error code, also of a third-party plugin. */
export function exitCodeOf(code: string): ExitCode {
  return (Object.hasOwn(exitCodes, code) ? exitCodes[code as HansardErrorCode] : undefined) ?? failed;
}
