import type { EventLinks } from '@hansard/events';
import type { HookHost, LoggedString } from '@hansard/provider';
import { dispatchErrors } from '../dispatch-errors.ts';

/** What a hook may do in one question or observation, until `end`. */
export interface HookPart {
  readonly host: HookHost;
  end(): void;
}

/** The time in which a hook may act. */
export class HookTime {
  readonly #hook: string;
  #isOver = false;

  constructor(hook: string) {
    this.#hook = hook;
  }

  /** Rejects with DISPATCH_HOOK_OVER after `end`. */
  act<T>(action: () => Promise<T>): Promise<T> {
    const done = this.#act(action);
    // A hook that does not wait for it must not end the process when it fails.
    done.catch(() => {});
    return done;
  }

  async #act<T>(action: () => Promise<T>): Promise<T> {
    this.assertOpen();
    return action();
  }

  /** @throws DISPATCH_HOOK_OVER */
  assertOpen(): void {
    if (!this.#isOver) return;
    throw dispatchErrors.error(
      'DISPATCH_HOOK_OVER',
      `The hook ${this.#hook} has answered, or its time is over; a hook must await everything that it does.`,
      { details: { hook: this.#hook } },
    );
  }

  end(): void {
    this.#isOver = true;
  }
}

/** The links of what a hook says: the content that it passes on, or else what brought it about. */
export function hookLinks(
  text: string | LoggedString,
  causes: readonly string[],
): Pick<EventLinks, 'substance' | 'cause'> {
  if (typeof text !== 'string') return { substance: text.messageId };
  const [first, ...more] = causes;
  if (first === undefined) return {};
  return { cause: more.length === 0 ? first : [first, ...more] };
}
