import { askHooks, decides, type HookAsking, textOfDecision } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { type TranscriptMessage, takeApart } from '@hansard/prompt';
import { inWords } from '../agents/agent-record.ts';
import { refuseMessage } from '../agents/create-agent.ts';
import { logTranscriptEntry, type TranscriptLinks } from '../log/log-transcript-entry.ts';
import type { SessionRecord } from '../log/session-record.ts';
import { sessionErrors } from '../session-errors.ts';

/** A message for an agent. */
export interface ReceivedMessage extends TranscriptMessage {
  readonly role: 'user';
  readonly content: string;
}

interface ReceivedOptions {
  readonly links?: TranscriptLinks;
  /** Of the message. */
  readonly id?: string;
  /** Called when the log has accepted it, before it is durable. */
  readonly onAccepted?: () => void;
}

/**
 * Records the messages that agents receive from people, programs and the outside world. Hooks that decide on inputs are asked first; the messages of an agent
 * are recorded in the order in which they came.
 */
export class SessionInputs {
  readonly #record: SessionRecord;
  readonly #asking: () => HookAsking;
  /** The last message of each agent that hooks are asked about. It never rejects. */
  readonly #latest = new Map<string, Promise<unknown>>();

  constructor(record: SessionRecord, asking: () => HookAsking) {
    this.#record = record;
    this.#asking = asking;
  }

  /**
   * Records a message. Without hooks it is accepted at once.
   * @throws SESSION_INPUT_DENIED, SESSION_AGENT_TERMINATED, SESSION_CLOSED
   */
  receive(
    agentId: string,
    message: ReceivedMessage,
    received: ReceivedOptions = {},
  ): { readonly messageId: string; readonly recorded: Promise<readonly CapturedEvent[]> } {
    const { links = {}, id = this.#record.log.createId(), onAccepted = () => {} } = received;
    const kind = message.source?.kind ?? 'user';
    const isInput = kind === 'user' || kind === 'external';
    if (!isInput || !this.#asking().hooks.some((hook) => decides(hook, 'input'))) {
      const logged = logTranscriptEntry(this.#record, agentId, message, links, id);
      onAccepted();
      return logged;
    }
    const before = this.#latest.get(agentId) ?? Promise.resolve();
    const recorded = before.then(() => this.#ask(agentId, message, { links, id, onAccepted }));
    this.#latest.set(
      agentId,
      recorded.catch(() => {}),
    );
    return { messageId: id, recorded };
  }

  async #ask(
    agentId: string,
    message: ReceivedMessage,
    { links, id, onAccepted }: Required<ReceivedOptions>,
  ): Promise<readonly CapturedEvent[]> {
    const { log, registry, dispatch } = this.#record;
    const { dispatchId } = dispatch;
    log.assertOpen();
    const { content: text, parts } = message;
    const { denied, events, via, value } = await askHooks(this.#asking(), {
      value: text,
      ask: (asked) => ({ on: 'input', dispatchId, agentId, text: asked, agents: registry.list() }),
      alteredBy: textOfDecision,
      made: (made) => ({ text: made }),
      data: {},
      given: { given: text },
      links: { agentId },
    });
    if (denied !== null) {
      // The decision is what the log has of the message.
      await log.append(
        events.map((event, index) => (index === events.length - 1 ? { ...event, id } : event)),
      );
      const { hook, reason } = denied;
      const agent = inWords(registry.get(agentId));
      throw sessionErrors.error(
        'SESSION_INPUT_DENIED',
        `The message did not reach ${agent}: the hook ${hook} denied it: ${reason}`,
        { details: { agentId, hook } },
      );
    }
    if (registry.get(agentId).isTerminated) {
      const { source = { kind: 'user' } } = message;
      const attached = parts === undefined ? {} : { parts: [...parts] };
      await refuseMessage(this.#record, agentId, { text: value, source, ...attached }, events);
    }
    const decision = via === null ? links : { ...links, via };
    const recorded = log.append([
      ...events,
      ...takeApart({ ...message, content: value }, { id, agentId, ...decision }),
    ]);
    onAccepted();
    return recorded;
  }
}
