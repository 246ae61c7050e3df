import { preview } from '@hansard/events';
import type { AgentHost, AgentInfo, Delivery, DeliveryOutcome, LoggedString } from '@hansard/provider';
import { labelOf } from './agents.ts';

/** What one agent said, as others read it. */
export function quote(speaker: AgentInfo, text: string): string {
  return `[${labelOf(speaker)}]: ${text}`;
}

/** Delivers an utterance to each; gives back a line for each whom it did not reach. */
export function deliverUtterance(
  host: AgentHost,
  recipients: readonly AgentInfo[],
  speaker: AgentInfo,
  said: LoggedString,
): Promise<string[]> {
  return deliver(host, recipients, speaker, said, () => quote(speaker, said.text));
}

/** Delivers a text of the caller: unchanged to its children, which expect it; to others with its name. */
export function deliverOwnWords(
  host: AgentHost,
  recipients: readonly AgentInfo[],
  words: LoggedString,
): Promise<string[]> {
  const { caller } = host;
  return deliver(host, recipients, caller, words, ({ parentAgentId }) =>
    parentAgentId === caller.agentId ? words.text : quote(caller, words.text),
  );
}

async function deliver(
  host: AgentHost,
  recipients: readonly AgentInfo[],
  from: AgentInfo,
  content: LoggedString,
  textFor: (recipient: AgentInfo) => string,
): Promise<string[]> {
  const denials: string[] = [];
  for (const recipient of recipients) {
    const { status, reason } = await tryToDeliver(host, recipient.agentId, {
      text: textFor(recipient),
      substance: content.messageId,
      from: from.agentId,
    });
    if (status === 'denied')
      denials.push(`Not delivered to ${labelOf(recipient)}: ${reason ?? 'no reason was given'}`);
  }
  return denials;
}

/** A recipient that fails, such as one that was terminated meanwhile, does not stop the delivery to the others. */
async function tryToDeliver(
  host: AgentHost,
  agentId: string,
  delivery: Delivery,
): Promise<Pick<DeliveryOutcome, 'status' | 'reason'>> {
  try {
    return await host.deliver(agentId, delivery);
  } catch (error) {
    return { status: 'denied', reason: messageOf(error) };
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : preview(error);
}
