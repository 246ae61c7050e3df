import { type CapturedEvent, isEventOf } from '@hansard/events';
import type { HookObservation } from '@hansard/provider';

export type Observed = Pick<HookObservation, 'what' | 'event'>;

/** The latest message of an agent. */
interface LatestMessage {
  readonly messageId: string;
  /** Its texts, until it is known that they are an utterance; null: it has a tool call. */
  texts: CapturedEvent[] | null;
}

/**
 * Finds what hooks observe, in the order of the log. A text is an utterance when its message is over without a tool call, so it comes
 * with the event after its message.
 */
export class ObservationFinder {
  readonly #latest = new Map<string, LatestMessage>();

  /** What is known with this event, the utterance before it included. */
  observe(event: CapturedEvent): readonly Observed[] {
    const what = kindOf(event);
    const utterance = this.#follow(event);
    return what === null ? utterance : [...utterance, { what, event }];
  }

  /** The utterances with which the log ends. */
  finish(): readonly Observed[] {
    return [...this.#latest.keys()].flatMap((agentId) => this.#release(agentId));
  }

  #follow(event: CapturedEvent): readonly Observed[] {
    const { type, id, agentId = '', messageId = id } = event;
    if (type === 'session:complete') return this.finish();
    switch (type) {
      case 'agent:text':
      case 'agent:thinking':
      case 'agent:tool_call': {
        const isNew = this.#latest.get(agentId)?.messageId !== messageId;
        const before = isNew ? this.#release(agentId) : none;
        if (isNew) this.#latest.set(agentId, { messageId, texts: [] });
        const latest = this.#latest.get(agentId);
        if (type === 'agent:tool_call' && latest !== undefined) latest.texts = null;
        else if (type === 'agent:text') latest?.texts?.push(event);
        return before;
      }
      case 'agent:inference':
      case 'agent:tool_result':
      case 'agent:terminated':
        return this.#release(agentId);
      default:
        return none;
    }
  }

  #release(agentId: string): readonly Observed[] {
    const latest = this.#latest.get(agentId);
    if (latest?.texts == null || latest.texts.length === 0) return none;
    const { texts } = latest;
    latest.texts = [];
    return texts.map((event) => ({ what: 'utterance', event }));
  }
}

const none: readonly Observed[] = [];

function kindOf(event: CapturedEvent): HookObservation['what'] | null {
  const { type } = event;
  if (isEventOf(event, 'user:message')) return event.data.source.kind === 'agent' ? 'delivery' : 'message';
  switch (type) {
    case 'agent:tool_call':
      return 'call';
    case 'agent:tool_result':
      return 'result';
    case 'agent:terminated':
    case 'session:complete':
      return 'end';
    case 'harness:error':
      return event.data.hook === undefined ? 'notification' : null;
    default:
      return /^(?:harness|system|session):/.test(type) ? 'notification' : null;
  }
}
