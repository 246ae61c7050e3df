import type { MappingStep } from '../mapping/mapping-step.ts';
import { mapAssistant } from './map-assistant.ts';
import { mapInit } from './map-init.ts';
import { mapResult } from './map-result.ts';
import { mapStreamEvent } from './map-stream-event.ts';
import {
  mapCompaction,
  mapOther,
  mapPermissionDenied,
  mapRateLimit,
  mapStatus,
  mapTaskNotification,
  mapTaskStarted,
} from './map-system.ts';
import { mapUser } from './map-user.ts';

type Mapper = (step: MappingStep) => void;

/** The mapper of each kind of SDK message (`type`, or `type/subtype`). */
const mappers = {
  assistant: mapAssistant,
  user: mapUser,
  stream_event: mapStreamEvent,
  rate_limit_event: mapRateLimit,
  tool_progress: mapOther,
  tool_use_summary: mapOther,
  auth_status: mapOther,
  prompt_suggestion: mapOther,
  conversation_reset: mapOther,
  'result/success': mapResult,
  'result/error_during_execution': mapResult,
  'result/error_max_turns': mapResult,
  'result/error_max_budget_usd': mapResult,
  'result/error_max_structured_output_retries': mapResult,
  'system/init': mapInit,
  'system/status': mapStatus,
  'system/compact_boundary': mapCompaction,
  'system/permission_denied': mapPermissionDenied,
  'system/task_started': mapTaskStarted,
  'system/task_notification': mapTaskNotification,
  'system/task_progress': mapOther,
  'system/task_updated': mapOther,
  'system/background_tasks_changed': mapOther,
  'system/files_persisted': mapOther,
  'system/hook_started': mapOther,
  'system/hook_progress': mapOther,
  'system/hook_response': mapOther,
  'system/api_retry': mapOther,
  'system/control_request_progress': mapOther,
  'system/model_refusal_fallback': mapOther,
  'system/model_refusal_no_fallback': mapOther,
  'system/local_command_output': mapOther,
  'system/plugin_install': mapOther,
  'system/thinking_tokens': mapOther,
  'system/session_state_changed': mapOther,
  'system/worker_shutting_down': mapOther,
  'system/commands_changed': mapOther,
  'system/notification': mapOther,
  'system/memory_recall': mapOther,
  'system/elicitation_complete': mapOther,
  'system/mirror_error': mapOther,
  'system/informational': mapOther,
  'system/session_writes_lost': mapOther,
} as const satisfies Readonly<Record<string, Mapper>>;

export type ClaudeMessageKind = keyof typeof mappers;

const byKind: ReadonlyMap<string, Mapper> = new Map(Object.entries(mappers));

/** The mapper of a message. An unknown kind is kept unchanged; an unknown subtype of `result` is an end. */
export function mapperOf(type: string, subtype: unknown): Mapper {
  if (type === 'result') return mapResult;
  return (
    (typeof subtype === 'string' ? byKind.get(`${type}/${subtype}`) : undefined) ??
    byKind.get(type) ??
    mapOther
  );
}
