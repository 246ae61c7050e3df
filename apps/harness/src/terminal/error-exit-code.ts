import type { claudeAgentErrors } from '@hansard/agent-claude';
import type { webErrors } from '@hansard/comm-web';
import type { harnessErrors } from '@hansard/compose';
import type { dispatchErrors } from '@hansard/dispatch';
import type { ErrorOf, eventErrors, formatErrors } from '@hansard/events';
import type { importErrors } from '@hansard/import';
import type { scenarioErrors } from '@hansard/model-scripted';
import type { contextErrors } from '@hansard/prompt';
import type { pluginErrors, storeErrors } from '@hansard/provider';
import type { redactionErrors } from '@hansard/redaction';
import type { sessionErrors } from '@hansard/session';
import type { traceErrors } from '@hansard/traces';
import type { viewerErrors } from '@hansard/viewer';
import { type ExitCode, exitCode } from './cli-error.ts';

/** Every error code of Hansard. */
export type HansardErrorCode = ErrorOf<
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
