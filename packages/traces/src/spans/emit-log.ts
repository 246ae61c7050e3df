import { definedOnly } from '@hansard/events';
import { ATTR_LOG_RECORD_UID } from '@opentelemetry/semantic-conventions/incubating';
import { agentAttributes } from './agent-attributes.ts';
import { hansard } from './attributes.ts';
import { ContentBudget } from './content.ts';
import type { FoldContext, FoldStep } from './fold-context.ts';
import { causesOf } from './links.ts';
import { logShapeOf } from './log-shapes.ts';

/** The log record of an event: type, agent and place; its data only if content was requested. */
export function emitLog(context: FoldContext, { event, agent, time }: FoldStep, spanId: string): void {
  const { envelope, content, emit, factory } = context;
  const { name, severity, attributes } = logShapeOf(event);
  const budget = new ContentBudget();
  const body = content === 'none' ? undefined : budget.value(event.data);
  const causes = causesOf(event);
  emit(
    factory.log({
      spanId,
      name,
      severity,
      time,
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
        // Receivers may drop a second record of the same uid (semantic conventions, log.record.uid).
        [ATTR_LOG_RECORD_UID]: `${envelope.dispatchId}:${event.id}`,
      },
      body,
    }),
  );
}
