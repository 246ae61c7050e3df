import { definedOnly, type EventData } from '@hansard/events';
import { agentAttributes } from './agent-attributes.ts';
import { hansard } from './attributes.ts';
import { ContentBudget } from './content.ts';
import type { FoldContext, FoldStep } from './fold-context.ts';
import { spanIdOf } from './identity.ts';
import { LinkList } from './links.ts';

/** A decision of a hook: a span of zero length, below the tool call of the decision. */
export function emitHookDecision(
  context: FoldContext,
  { event, agent, data, time }: FoldStep<EventData<'harness:hook_decision'>>,
  toolSpanId: string | undefined,
): void {
  const { envelope, recent, emit, factory, find, content } = context;
  const spanId = spanIdOf(envelope.dispatchId, event.id);
  const links = new LinkList();
  links.take(event, find, spanId);
  recent.set(envelope.dispatchId, event.id, spanId);
  const budget = new ContentBudget();
  const reason = content !== 'spans' || data.reason === undefined ? undefined : budget.text(data.reason);
  const input =
    content !== 'spans' || data.input === undefined ? undefined : budget.text(JSON.stringify(data.input));
  emit(
    factory.span({
      spanId,
      parentSpanId: toolSpanId ?? agent.spanId,
      name: `execute_hook ${data.hook}`,
      start: time,
      end: time,
      attributes: {
        ...agentAttributes(agent, envelope),
        [hansard.hookName]: data.hook,
        [hansard.hookOn]: data.on,
        [hansard.hookDecision]: data.decision,
        ...definedOnly({
          [hansard.hookSubject]: data.subject,
          [hansard.hookReason]: reason,
          [hansard.hookInput]: input,
        }),
        ...(budget.truncatedBytes === 0 ? {} : { [hansard.truncatedBytes]: budget.truncatedBytes }),
        [hansard.eventId]: event.id,
      },
      links: links.links,
      droppedLinks: links.dropped,
    }),
  );
}
