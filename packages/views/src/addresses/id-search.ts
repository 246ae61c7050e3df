import type { CapturedEvent } from '@hansard/events';
import type { FoundEvent } from './found-event.ts';

/** The most ids that are kept as choices. */
const mostChoices = 10;

/** Finds an event or a message by its id, its end or its beginning, given the events one by one. It keeps a few of them. */
export class IdSearch {
  readonly #wanted: string;
  #message: FoundEvent | null = null;
  /** One more than can be shown, so that it is known whether there are more. */
  readonly #endings = new Map<string, FoundEvent>();
  readonly #beginnings = new Map<string, FoundEvent>();

  constructor(wanted: string) {
    this.#wanted = wanted;
  }

  /** Reads the next event; true if its id is the wanted one, so that no other event can be meant. */
  isFoundIn(event: CapturedEvent, position: number): boolean {
    const { id, messageId } = event;
    if (id === this.#wanted) return true;
    this.#consider({ position, event, id });
    if (messageId === undefined || messageId === id) return false;
    const message = { position, event, id: messageId };
    if (messageId === this.#wanted) this.#message ??= message;
    else this.#consider(message);
    return false;
  }

  /** What is meant, after the last event. The first choice alone if there is no other. */
  end(): { readonly choices: readonly FoundEvent[]; readonly isMore: boolean } {
    if (this.#message !== null) return { choices: [this.#message], isMore: false };
    const fitting = [...(this.#endings.size > 0 ? this.#endings : this.#beginnings).values()];
    return { choices: fitting.slice(0, mostChoices), isMore: fitting.length > mostChoices };
  }

  #consider(found: FoundEvent): void {
    if (found.id.endsWith(this.#wanted)) keep(this.#endings, found);
    else if (found.id.startsWith(this.#wanted)) keep(this.#beginnings, found);
  }
}

function keep(choices: Map<string, FoundEvent>, found: FoundEvent): void {
  if (choices.size <= mostChoices && !choices.has(found.id)) choices.set(found.id, found);
}
