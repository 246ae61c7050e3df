import { type CapturedEvent, isEventOf } from '@hansard/events';
import { givenThrough } from '@hansard/prompt';
import { LoggedString } from '@hansard/provider';

/**
 * What hooks may not have observed when the log ended, and what they did about it: a fold over a log that is loaded.
 *
 * Invariant: the hooks observed all that was recorded before a model call of an agent that is not a hook's, and before a
 * `session:complete` that nothing aborted. An answer says through which event its call was given, so what came until that event was observed.
 */
export class ObservationBacklog {
  #events: CapturedEvent[] = [];
  readonly #ofHooks = new Set<string>();

  /** Must be called for each event, in the order of the log. */
  observe(event: CapturedEvent): void {
    const { type, agentId, data } = event;
    if (type === 'agent:created' && data.hook !== undefined && agentId !== undefined)
      this.#ofHooks.add(agentId);
    this.#events.push(event);
    if (type === 'agent:inference' && !this.#ofHooks.has(agentId ?? '')) this.#dropGiven(event);
    else if (isEventOf(event, 'session:complete') && event.data.status === 'completed') this.#dropObserved();
  }

  /** The events that may not have been observed, in their order. */
  get events(): readonly CapturedEvent[] {
    return this.#events;
  }

  /** What hooks did because of these events. */
  acts(): RecordedActs {
    return new RecordedActs(this.#events);
  }

  #dropGiven(inference: CapturedEvent): void {
    const through = givenThrough(inference);
    if (through === null) return;
    const events = this.#events;
    const last =
      through === undefined
        ? // Not recorded: an answer of another program. What came before it is past.
          events.findIndex(({ messageId }) => messageId === inference.messageId) - 1
        : events.findLastIndex(({ id }) => id === through);
    if (last >= 0) events.splice(0, last + 1);
  }

  #dropObserved(): void {
    if (!this.#events.some(({ type }) => type === 'harness:abort')) this.#events = [];
  }
}

/** The messages that hooks sent, and the answers of their agents. A hook that observes an event again does not send them again. */
export class RecordedActs {
  /** By hook, receiver and link. In the order of the log. */
  readonly #messages = new Map<string, string[]>();
  /** By the message that an agent of a hook answered. */
  readonly #answers = new Map<string, LoggedString>();

  constructor(events: readonly CapturedEvent[]) {
    const pieces = new Map<string, CapturedEvent>();
    const asked = new Map<string, string[]>();
    const said = new Map<string, CapturedEvent>();
    for (const event of events) {
      const { type, id, agentId = '' } = event;
      if (type === 'agent:piece_of_text') pieces.set(id, event);
      else if (isEventOf(event, 'user:message') && event.data.source.hook !== undefined) {
        // Of a text that other hooks altered, the piece has the cause.
        const { cause, substance } = pieces.get(event.substance ?? '') ?? event;
        const key = keyOf(event.data.source.hook, agentId, substance ?? [cause ?? []].flat()[0]);
        this.#messages.set(key, [...(this.#messages.get(key) ?? []), id]);
        asked.set(agentId, [...(asked.get(agentId) ?? []), id]);
      } else if (type === 'agent:text') said.set(agentId, event);
      else if (type === 'agent:tool_call') said.delete(agentId);
      else if (type === 'agent:inference') {
        const answer = said.get(agentId);
        if (answer?.messageId !== event.messageId || answer === undefined) continue;
        for (const message of asked.get(agentId) ?? [])
          this.#answers.set(message, new LoggedString(String(answer.data.text), answer.id));
        asked.delete(agentId);
      }
    }
  }

  /** The next message that a hook sent to an agent because of an event. Null: it sent no more. */
  take(hook: string, agentId: string, link: string | undefined): string | null {
    return this.#messages.get(keyOf(hook, agentId, link))?.shift() ?? null;
  }

  /** The answer to a message. Null: it has none. */
  answerTo(messageId: string): LoggedString | null {
    return this.#answers.get(messageId) ?? null;
  }
}

function keyOf(...parts: readonly (string | undefined)[]): string {
  return JSON.stringify(parts);
}
