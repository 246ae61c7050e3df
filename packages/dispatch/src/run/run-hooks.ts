import { type CapturedEvent, isEventOf, type NewEvent, newEvent } from '@hansard/events';
import type { HookProvider, LoggedString } from '@hansard/provider';
import { HookChains } from '../hooks/hook-chains.ts';
import { HookObservers } from '../hooks/hook-observers.ts';
import { type HookPart, HookTime, hookLinks } from '../hooks/hook-part.ts';
import type { AnswerTime } from '../tools/answer-in-time.ts';

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
