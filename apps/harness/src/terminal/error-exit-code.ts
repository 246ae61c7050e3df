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

/** The exit code of the command, by error code. */
export const exitCodeByErrorCode: Readonly<Record<HansardErrorCode, ExitCode>> = {
  EVENT_INVALID: failed,
  EVENT_NOT_JSON: failed,
  EVENT_EPHEMERAL: failed,
  EVENT_ENVELOPE_INVALID: usage,
  EVENT_TASK_INVALID: failed,
  STORE_DISPATCH_EXISTS: failed,
  STORE_DISPATCH_NOT_FOUND: failed,
  STORE_EVENT_CONFLICT: failed,
  STORE_INVALID_CURSOR: failed,
  STORE_INVALID_PATH: usage,
  STORE_LOCKED: failed,
  STORE_CORRUPT: damaged,
  STORE_UNAVAILABLE: failed,
  STORE_TOO_LARGE: failed,
  STORE_UNSUPPORTED: usage,
  STORE_CONTRACT_VERSION: failed,
  STORE_CLOSED: failed,
  PLUGIN_NOT_FOUND: usage,
  PLUGIN_MANIFEST_UNREADABLE: failed,
  PLUGIN_MANIFEST_INVALID: failed,
  PLUGIN_API_VERSION: failed,
  PLUGIN_DUPLICATE_ID: failed,
  PLUGIN_NOT_TRUSTED: failed,
  PLUGIN_CONFIG_SCHEMA_INVALID: failed,
  PLUGIN_CONFIG_INVALID: usage,
  PLUGIN_IMPORT_FAILED: failed,
  PLUGIN_EXPORT_MISMATCH: failed,
  PLUGIN_CREATE_FAILED: failed,
  PLUGIN_CREATE_TIMEOUT: failed,
  PLUGIN_METHOD_MISSING: failed,
  PLUGIN_CLOSE_FAILED: failed,
  DISPATCH_ENDED: failed,
  DISPATCH_AGENT_NOT_FOUND: failed,
  DISPATCH_HOOK_CHAIN: failed,
  DISPATCH_HOOK_OVER: failed,
  DISPATCH_HOOK_TIMEOUT: failed,
  DISPATCH_WORKER_LIMIT: failed,
  SESSION_NOT_FULL: failed,
  SESSION_LOG_INVALID: failed,
  SESSION_NO_ROOT: failed,
  SESSION_AGENT_NOT_FOUND: failed,
  SESSION_AGENT_EXISTS: failed,
  SESSION_AGENT_IS_ROOT: failed,
  SESSION_AGENT_TERMINATED: failed,
  SESSION_AGENT_BUSY: failed,
  SESSION_COMPACTION_INVALID: failed,
  SESSION_MODEL_FAILED: failed,
  SESSION_TURN_LIMIT: failed,
  SESSION_CALL_OVER: failed,
  SESSION_DELIVERY_DENIED: failed,
  SESSION_HOOK_AGENT: failed,
  SESSION_CLOSED: failed,
  CONTEXT_BUDGET_TOO_SMALL: failed,
  CONTEXT_MANIFEST_UNKNOWN: failed,
  FORMAT_UNREADABLE: failed,
  FORMAT_EMPTY: failed,
  FORMAT_NOT_JSONL: usage,
  FORMAT_NO_RECORDS: failed,
  FORMAT_OTHER_DIALECT: failed,
  FORMAT_NOT_FULL: failed,
  FORMAT_TOO_LARGE: failed,
  FORMAT_VERDICT_INVALID: failed,
  FORMAT_MAPPING_INVALID: failed,
  FORMAT_MAPPING_MISSING: usage,
  FORMAT_NAME_TOO_LONG: failed,
  IMPORT_NO_LOGS: failed,
  IMPORT_LINK_OUTSIDE: failed,
  IMPORT_FORMAT_UNKNOWN: usage,
  IMPORT_PRODUCT_UNSUPPORTED: failed,
  IMPORT_FOREIGN: failed,
  IMPORT_FORMAT_MISMATCH: usage,
  IMPORT_TASK_REQUIRED: usage,
  IMPORT_FIDELITY_FIXED: usage,
  IMPORT_AMBIGUOUS: failed,
  IMPORT_PRICES_INVALID: failed,
  HARNESS_FOLDER_MISSING: usage,
  HARNESS_FOLDER_FOREIGN: failed,
  HARNESS_CONFIG_INVALID: usage,
  HARNESS_NO_STORE: usage,
  HARNESS_PROVIDER_UNKNOWN: usage,
  HARNESS_NAME_INVALID: usage,
  HARNESS_NOT_FOUND: failed,
  HARNESS_AMBIGUOUS: failed,
  HARNESS_OPTION_INVALID: usage,
  HARNESS_FILE_UNUSABLE: failed,
  HARNESS_NOT_RESUMABLE: failed,
  REDACTION_PATTERN_INVALID: usage,
  TRACE_ENDPOINT_INVALID: usage,
  TRACE_RECEIVER_FAILED: failed,
  TRACE_RECEIVER_REJECTED: failed,
  AGENT_SDK_MISSING: failed,
  AGENT_ENGINE_MISSING: failed,
  AGENT_CWD_MISSING: usage,
  AGENT_NOT_LOGGED_IN: failed,
  AGENT_SESSION_MISSING: failed,
  AGENT_ENGINE_FAILED: failed,
  SCENARIO_UNREADABLE: failed,
  SCENARIO_INVALID: usage,
  SCENARIO_NO_ANSWER: failed,
  SCENARIO_MODEL_FAILED: failed,
  COMM_WEB_NO_STORE: failed,
  COMM_WEB_PORT_IN_USE: failed,
  VIEW_MESSAGE_INVALID: failed,
  VIEW_REQUEST_REFUSED: failed,
  VIEW_RUN_NOT_HERE: failed,
  VIEW_TOKEN_NEEDED: usage,
};

/** The exit code for an error code; `failed` for a code of a third-party plugin. */
export function exitCodeOf(code: string): ExitCode {
  return Object.hasOwn(exitCodeByErrorCode, code) ? exitCodeByErrorCode[code as HansardErrorCode] : failed;
}
