import { type CapturedEvent, definedOnly, type JsonObject } from '@hansard/events';
import { agentAttributes } from './agent-attributes.ts';
import { hansard } from './attributes.ts';
import { ContentBudget } from './content.ts';
import type { FoldContext, FoldStep } from './fold-context.ts';
import { causesOf } from './links.ts';
import { logShapeOf } from './log-shapes.ts';
import { withoutThoughts } from './without-thoughts.ts';

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
