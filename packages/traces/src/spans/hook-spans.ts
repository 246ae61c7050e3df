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
  // The reason first: it is never cut for the texts.
  const shown = (text: string | undefined) =>
    content !== 'spans' || text === undefined ? undefined : budget.text(text);
  const reason = shown(data.reason);
  const input = shown(data.input === undefined ? undefined : JSON.stringify(data.input));
  const made = shown(data.text);
  const given = shown(data.given);
  emit(
    factory.span({
      spanId,
      parentSpanId: toolSpanId ?? agent.spanId,
      operation: 'execute_hook',
      subject: data.hook,
      start: time,
      end: time,
      attributes: {
        ...agentAttributes(agent, envelope),
        [hansard.hookName]: data.hook,
        [hansard.hookOn]: data.on,
        [hansard.hookDecision]: data.decision,
        ...definedOnly({
          [hansard.hookSubject]: data.subject,
          [hansard.hookPrevious]: data.previous,
          [hansard.hookMadeFrom]: data.madeFrom,
        }),
        ...(budget.truncatedBytes === 0 ? {} : { [hansard.truncatedBytes]: budget.truncatedBytes }),
        [hansard.eventId]: event.id,
      },
      content: definedOnly({
        [hansard.hookReason]: reason,
        [hansard.hookInput]: input,
        [hansard.hookText]: made,
        [hansard.hookGiven]: given,
      }),
      links: links.links,
      droppedLinks: links.dropped,
    }),
  );
}
