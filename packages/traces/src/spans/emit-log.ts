import {
  type CapturedEvent,
  definedOnly,
  eventDataSchemas,
  type JsonObject,
  type KnownEventType,
} from '@hansard/events';
import { agentAttributes } from './agent-attributes.ts';
import { hansard } from './attributes.ts';
import { ContentBudget } from './content.ts';
import type { FoldContext, FoldStep } from './fold-context.ts';
import { causesOf } from './links.ts';
import { logShapeOf } from './log-shapes.ts';

/** Types that have thoughts, or what a provider gets back of them, in fields of their own. */
const thoughtful: ReadonlySet<string> = new Set<KnownEventType>(['agent:thinking', 'agent:inference']);

/** The log record of an event: type, agent and place; its data only if content was requested. */
export function emitLog(context: FoldContext, { event, agent, time }: FoldStep, spanId: string): void {
  const { envelope, emit, factory } = context;
  const { name, severity, attributes } = logShapeOf(event);
  const budget = new ContentBudget();
  const data = dataToSend(context, event);
  const body = data === undefined ? undefined : budget.value(data);
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
