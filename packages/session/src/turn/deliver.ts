import { askHooks, textOfDecision } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { newEvent } from '@hansard/events';
import { takeApart } from '@hansard/prompt';
import type { DeliveryOutcome } from '@hansard/provider';
import { refuseMessage } from '../agents/create-agent.ts';
import type { TurnResources } from './turn-resources.ts';

export interface AgentDelivery {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** Absent: the text is new. */
  readonly substance?: string | undefined;
  /** The tool call that delivers it; of a hook, what brought the message about. */
  readonly cause?: string | readonly string[] | undefined;
  /** The hook whose agent sends it. */
  readonly hook?: string | undefined;
}

/**
 * Delivers text from one agent to the transcript of another, through the hooks. If a hook alters or denies new text, the
 * original is kept as a piece of text of the agent that said it.
 *
 * @throws SESSION_AGENT_NOT_FOUND, SESSION_AGENT_TERMINATED, SESSION_CLOSED
 */
export async function deliver(turn: TurnResources, delivery: AgentDelivery): Promise<DeliveryOutcome> {
  const { log, registry, dispatch, asking } = turn;
  const { dispatchId } = dispatch;
  const { from, to, text, hook } = delivery;
  log.assertOpen();
  registry.get(from);
  const caused = delivery.cause === undefined ? {} : { cause: delivery.cause };
  const source = { kind: 'agent', agentId: from, ...(hook === undefined ? {} : { hook }) } as const;
  const subject = delivery.substance ?? log.createId();
  const isNew = delivery.substance === undefined;
  // Of new text, the original is kept where it is not delivered as it is.
  const piece = newEvent('agent:piece_of_text', { text }, { id: subject, agentId: from, ...caused });
  const refuse = (sent: string, before: readonly NewEvent[]) =>
    refuseMessage(turn, to, { text: sent, source, substance: subject }, before);
  if (registry.get(to).isTerminated) await refuse(text, isNew ? [piece] : []);
  const verdict = await askHooks(asking, {
    value: text,
    ask: (value) => ({ on: 'delivery', dispatchId, from, to, text: value, agents: registry.list() }),
    alteredBy: textOfDecision,
    made: (made) => ({ text: made }),
    data: { subject },
    // The piece of text that is kept of a new text is its subject.
    given: isNew ? undefined : { given: text },
    links: { agentId: to, ...caused },
    ...(isNew ? {} : { causes: [subject] }),
  });
  const { via, denied, value } = verdict;
  const events: NewEvent[] = [];
  if (isNew && via !== null) events.push(piece);
  events.push(...verdict.events);
  if (denied !== null) {
    await log.append(events);
    return { status: 'denied', text: null, messageId: null, reason: denied.reason };
  }
  // It may have ended while the hooks were asked.
  if (registry.get(to).isTerminated) await refuse(value, isNew && via === null ? [piece] : events);
  const message = { role: 'user', content: value, source } as const;
  const messageId = log.createId();
  const links = isNew && via === null ? caused : { substance: subject };
  events.push(
    ...takeApart(message, { id: messageId, agentId: to, ...links, ...(via === null ? {} : { via }) }),
  );
  await log.append(events);
  return { status: via === null ? 'delivered' : 'altered', text: value, messageId };
}
