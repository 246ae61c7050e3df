import {
  type CapturedEvent,
  definedOnly,
  type EventData,
  eventDataSchemas,
  isEventOf,
  type JsonObject,
  type KnownEventType,
} from '@hansard/events';
import { type Attributes, SeverityNumber } from '@opentelemetry/api';
import {
  ATTR_EXCEPTION_TYPE,
  ATTR_GEN_AI_TOOL_NAME,
  EVENT_GEN_AI_CLIENT_OPERATION_EXCEPTION,
} from '@opentelemetry/semantic-conventions/incubating';
import { hansard, logNames } from './attributes.ts';
import { ContentBudget } from './content.ts';
import { agentAttributes, type FoldContext, type FoldStep } from './fold-state.ts';
import { causesOf } from './links.ts';

const { INFO, WARN, ERROR } = SeverityNumber;

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

/** Types that have thoughts, or what a provider gets back of them, in fields of their own. */
const thoughtful: ReadonlySet<string> = new Set<KnownEventType>(['agent:thinking', 'agent:inference']);

/** The log record of an event: type, agent and place; its data only if content was requested. */
export function emitLog(context: FoldContext, { event, agent, time }: FoldStep, spanId: string): void {
  const { envelope, emit, factory } = context;
  const { name, severity, attributes } = logShapeOf(event);
  const budget = new ContentBudget();
  const data = dataToSend(context, event);
  const body = data === undefined ? undefined : budget.value(data);
  if (data === undefined && context.content !== 'none' && Object.keys(event.data).length > 0)
    context.onLeftOut(`data of ${event.type}`, 1);
  if (budget.truncatedBytes > 0) context.onLeftOut('bytes above the limit', budget.truncatedBytes);
  const causes = causesOf(event);
  emit(
    factory.log({
      spanId,
      name,
      severity,
      time,
      uid: [envelope.dispatchId, event.id],
      attributes: {
        ...agentAttributes(agent, envelope),
        ...attributes,
        [hansard.eventType]: event.type,
        [hansard.eventId]: event.id,
        ...definedOnly({
          [hansard.eventVersion]: event.v,
          [hansard.messageId]: event.messageId,
          [hansard.substanceId]: event.substance,
        }),
        ...(causes.length === 0 ? {} : { [hansard.causeIds]: causes }),
        ...definedOnly({ [hansard.deliveryVia]: event.via }),
        ...(event.timestamp === null ? { [hansard.timeNotRecorded]: true } : {}),
        ...(budget.truncatedBytes === 0 ? {} : { [hansard.truncatedBytes]: budget.truncatedBytes }),
      },
      body,
    }),
  );
}

function dataToSend(
  { content, reasoning, dataOf }: FoldContext,
  event: CapturedEvent,
): JsonObject | undefined {
  if (content === 'none') return undefined;
  return reasoning ? event.data : withoutThoughts(event, dataOf);
}

/**
 * The data of an event as far as it cannot have thoughts: the fields that its type defines. Other fields, such as
 * `details`, and data without defined fields can be a whole message of a model as another program recorded it. Undefined:
 * the type defines no fields, is not one of Hansard's, or its data does not match. `dataOf`: of which other types the data has none.
 */
function withoutThoughts(
  { type, data }: CapturedEvent,
  dataOf: (type: string) => boolean,
): JsonObject | undefined {
  if (!Object.hasOwn(eventDataSchemas, type)) return dataOf(type) ? data : undefined;
  if (thoughtful.has(type)) return undefined;
  const schema = eventDataSchemas[type as KnownEventType];
  if (!('shape' in schema)) return undefined;
  const result = schema.safeParse(data);
  return result.success ? (result.data as JsonObject) : undefined;
}

interface LogShape {
  readonly name: string;
  readonly severity: SeverityNumber;
  /** Never the text of an event: that is the body, which is written only if content was requested. */
  readonly attributes: Attributes;
}

/** The name of an event's log record, and its attributes without content. */
function logShapeOf(event: CapturedEvent): LogShape {
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
