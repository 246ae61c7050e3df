import { type CapturedEvent, definedOnly, type EventData, isEventOf } from '@hansard/events';
import { type Attributes, SeverityNumber } from '@opentelemetry/api';
import {
  ATTR_EXCEPTION_TYPE,
  ATTR_GEN_AI_TOOL_NAME,
  EVENT_GEN_AI_CLIENT_OPERATION_EXCEPTION,
} from '@opentelemetry/semantic-conventions/incubating';
import { hansard, logNames } from './attributes.ts';

export interface LogShape {
  readonly name: string;
  readonly severity: SeverityNumber;
  /** Never the text of an event: that is the body, which is written only if content was requested. */
  readonly attributes: Attributes;
}

const { INFO, WARN, ERROR } = SeverityNumber;

/** The name of an event's log record, and its attributes without content. */
export function logShapeOf(event: CapturedEvent): LogShape {
  if (isEventOf(event, 'user:message')) return messageShape(event.data.source, event.substance);
  if (isEventOf(event, 'session:compaction')) {
    const { trigger, preTokens, postTokens } = event.data;
    return shape(logNames.compaction, INFO, {
      [hansard.compactionTrigger]: trigger,
      ...definedOnly({
        [hansard.compactionPreTokens]: preTokens,
        [hansard.compactionPostTokens]: postTokens,
      }),
    });
  }
  if (isEventOf(event, 'harness:loop_warning')) return loopShape(logNames.loopWarning, WARN, event.data);
  if (isEventOf(event, 'harness:loop_kill')) return loopShape(logNames.loopKill, ERROR, event.data);
  if (isEventOf(event, 'harness:stall')) {
    const { idleMs, limitMs } = event.data;
    return shape(logNames.stall, WARN, { [hansard.elapsedMs]: idleMs, [hansard.limit]: limitMs });
  }
  if (isEventOf(event, 'harness:timeout')) {
    const { elapsedMs, limitMs } = event.data;
    return shape(logNames.timeout, ERROR, { [hansard.elapsedMs]: elapsedMs, [hansard.limit]: limitMs });
  }
  if (isEventOf(event, 'harness:error')) return errorShape(event.data.code);
  const [name = logNames.other, severity = INFO] =
    (Object.hasOwn(plain, event.type) ? plain[event.type] : undefined) ?? [];
  return shape(name, severity);
}

const plain: Readonly<Record<string, readonly [name: string, severity?: SeverityNumber]>> = {
  'agent:piece_of_text': [logNames.created],
  'agent:output': [logNames.output],
  'agent:tool_call': [logNames.toolCall],
  'agent:tool_result': [logNames.toolResult],
  'session:rate_limit': [logNames.rateLimit, WARN],
  'session:status': [logNames.status],
  'harness:abort': [logNames.abort, WARN],
  'harness:hook_decision': [logNames.hookDecision],
  'system:files_persisted': [logNames.filesPersisted],
};

function messageShape(
  { kind, what, agentId, dispatchId }: EventData<'user:message'>['source'],
  substance: string | undefined,
): LogShape {
  const delivered = substance !== undefined || kind === 'agent';
  return shape(delivered ? logNames.delivered : logNames.received, INFO, {
    [hansard.source]: kind,
    ...definedOnly({
      [hansard.sourceWhat]: what,
      [hansard.sourceAgentId]: agentId,
      [hansard.sourceDispatchId]: dispatchId,
    }),
  });
}

function loopShape(
  name: string,
  severity: SeverityNumber,
  { tool, count, limit }: { tool: string; count: number; limit: number },
): LogShape {
  return shape(name, severity, {
    [ATTR_GEN_AI_TOOL_NAME]: tool,
    [hansard.count]: count,
    [hansard.limit]: limit,
  });
}

/** A failed model call has a name in the conventions, which require the severity warning. */
function errorShape(code: string | undefined): LogShape {
  const failedCall = code === 'SESSION_MODEL_FAILED';
  return shape(
    failedCall ? EVENT_GEN_AI_CLIENT_OPERATION_EXCEPTION : logNames.error,
    failedCall ? WARN : ERROR,
    { [ATTR_EXCEPTION_TYPE]: code ?? '_OTHER' },
  );
}

function shape(name: string, severity: SeverityNumber, attributes: Attributes = {}): LogShape {
  return { name, severity, attributes };
}
