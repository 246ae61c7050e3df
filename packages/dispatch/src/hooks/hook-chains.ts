import { type CapturedEvent, isEventOf } from '@hansard/events';
import { dispatchErrors } from '../dispatch-errors.ts';

const defaultMaxHookChain = 8;

/**
 * How many messages of hooks brought each other about, for each agent and event: a fold over the log. A message of a person or of the
 * outside world begins at zero again, and a message between agents passes on what its sender has.
 */
export class HookChains {
  readonly #limit: number;
  readonly #ofAgents = new Map<string, number>();
  /** Only events above zero. */
  readonly #ofEvents = new Map<string, number>();

  constructor(limit: number = defaultMaxHookChain) {
    this.#limit = limit;
  }

  observe(event: CapturedEvent): void {
    const { id, agentId = '' } = event;
    const length = this.#lengthOf(event);
    if (event.type === 'user:message' || event.type === 'agent:created') this.#ofAgents.set(agentId, length);
    if (length === 0) return;
    this.#ofEvents.set(id, length);
    if (event.messageId !== undefined) this.#ofEvents.set(event.messageId, length);
  }

  /** @throws DISPATCH_HOOK_CHAIN if a message that these events bring about would be too far along */
  assertNext(hook: string, causes: readonly string[]): void {
    const length = this.#longest(causes) + 1;
    if (length <= this.#limit) return;
    throw dispatchErrors.error(
      'DISPATCH_HOOK_CHAIN',
      `The hook ${hook} would send the ${length}th message in a row that messages of hooks brought about. The limit is ${this.#limit}.`,
      { details: { hook, limit: this.#limit } },
    );
  }

  #lengthOf(event: CapturedEvent): number {
    if (event.type === 'agent:created') return this.#longest([event.cause ?? []].flat());
    if (!isEventOf(event, 'user:message')) return this.#ofAgents.get(event.agentId ?? '') ?? 0;
    const { hook, kind, agentId = '', dispatchId } = event.data.source;
    // What an agent of another dispatch has is in that dispatch; `maxMessages` bounds messages between dispatches.
    const ofSender = kind === 'agent' && dispatchId === undefined ? (this.#ofAgents.get(agentId) ?? 0) : 0;
    if (hook === undefined) return ofSender;
    return Math.max(ofSender, event.cause === undefined ? 0 : this.#longest([event.cause].flat()) + 1);
  }

  #longest(ids: readonly string[]): number {
    return Math.max(0, ...ids.map((id) => this.#ofEvents.get(id) ?? 0));
  }
}
