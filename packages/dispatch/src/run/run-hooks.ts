import { type CapturedEvent, isEventOf, type NewEvent, newEvent } from '@hansard/events';
import type { HookProvider, LoggedString } from '@hansard/provider';
import { dispatchErrors } from '../dispatch-errors.ts';
import { HookObservers } from '../hooks/hook-observers.ts';
import { type HookPart, HookTime, hookLinks } from '../hooks/hook-part.ts';
import type { AnswerTime } from '../tools/answer-in-time.ts';

const defaultMaxHookChain = 8;

export interface RunHooksOptions {
  readonly hooks: readonly HookProvider[];
  readonly dispatchId: string;
  readonly time: AnswerTime;
  readonly maxHookChain: number | undefined;
  readonly record: (event: NewEvent) => Promise<CapturedEvent>;
  /** Records a message and gives it to the agent. @throws DISPATCH_ENDED */
  readonly send: (message: NewEvent) => Promise<CapturedEvent>;
}

/** How the hooks of a run take part in it, besides deciding. */
export class RunHooks {
  readonly #options: RunHooksOptions;
  readonly #chains: HookChains;
  readonly #observers: HookObservers;

  constructor(options: RunHooksOptions) {
    const { hooks, dispatchId, time, record } = options;
    this.#options = options;
    this.#chains = new HookChains(options.maxHookChain);
    this.#observers = new HookObservers({
      hooks,
      dispatchId,
      time,
      part: (hook, event) => (isOwn(hook, event) ? null : this.part(hook, [event.id])),
      record,
    });
  }

  /** Adds a recorded event, in the order of the log. */
  observe(event: CapturedEvent): void {
    this.#chains.observe(event);
    this.#observers.add([event]);
  }

  /** No event follows. Resolves when the hooks have observed all. */
  finish(): Promise<void> {
    this.#observers.finish();
    return this.#observers.drained();
  }

  /** The part of a hook in what these events bring about. */
  part({ name }: HookProvider, causes: readonly string[]): HookPart {
    const time = new HookTime(name);
    const inform = async (text: string | LoggedString) => {
      this.#chains.assertNext(name, causes);
      const source = { kind: 'system', hook: `${name}` } as const;
      const links = hookLinks(text, causes);
      const { id } = await this.#options.send(
        newEvent('user:message', { text: String(text), source }, links),
      );
      return id;
    };
    return {
      host: { inform: (_agentId, text) => time.act(() => inform(text)) },
      end: () => time.end(),
    };
  }
}

function isOwn({ name }: HookProvider, event: CapturedEvent): boolean {
  if (isEventOf(event, 'user:message')) return event.data.source.hook === name;
  return isEventOf(event, 'harness:hook_decision') && event.data.hook === name;
}

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
