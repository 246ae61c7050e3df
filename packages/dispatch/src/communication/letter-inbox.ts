import type { DispatchLetter } from '@hansard/events';
import type { Dispatch } from '../store/dispatch.ts';
import type { DispatchStore } from '../store/dispatch-store.ts';

/**
 * Milliseconds between two looks. A watch of the store would cost every append of its process more than a look at an empty inbox costs in a
 * second.
 */
const lookEveryMs = 1_000;

interface LetterInboxParts {
  readonly store: DispatchStore;
  readonly dispatch: Dispatch;
  /**
   * Records the event of a letter, with `from` as its id. False: it cannot be taken now, and stays. Only the owner of the dispatch calls this.
   */
  readonly take: (letter: DispatchLetter) => Promise<boolean>;
}

/**
 * The letters to a dispatch that this process owns. Each letter whose `from` is not in the log is taken, in the order in which they are
 * seen. Letters are never changed.
 *
 * 1. Only the claimant takes letters, one look after the other, so nobody else adds a `from` to the log.
 * 2. Before the first letter is taken, the whole log is read: an earlier owner may have taken it.
 */
export class LetterInbox {
  readonly #parts: LetterInboxParts;
  /** The letters that the log has. */
  readonly #taken = new Set<string>();
  #looking: Promise<void> | null = null;
  #hasReadLog = false;
  #isDue = false;
  #isOver = false;
  #cancel = () => {};

  constructor(parts: LetterInboxParts) {
    this.#parts = parts;
  }

  /** Looks now and from then on. Resolves after the first look. Never rejects. */
  start(): Promise<void> {
    return this.#look();
  }

  /** Looks once more, then never again. */
  async end(): Promise<void> {
    if (this.#isOver) return;
    await this.#look();
    this.stop();
    await this.#looking;
  }

  stop(): void {
    this.#isOver = true;
    this.#cancel();
  }

  /** Resolves when everything that was there at the call was seen. Never rejects. */
  async #look(): Promise<void> {
    if (this.#isOver) return;
    this.#isDue = true;
    this.#looking ??= this.#lookWhileDue().finally(() => {
      this.#looking = null;
    });
    await this.#looking;
  }

  async #lookWhileDue(): Promise<void> {
    this.#cancel();
    while (this.#isDue && !this.#isOver) {
      this.#isDue = false;
      try {
        await this.#takeAll();
      } catch {
        // The store, or the dispatch, has failed: its next write reports that. The letters stay.
      }
    }
    if (this.#isOver) return;
    // Real time, whatever the clock of the dispatch is. It keeps no process alive.
    const timer = setTimeout(() => void this.#look(), lookEveryMs).unref();
    this.#cancel = () => clearTimeout(timer);
  }

  async #takeAll(): Promise<void> {
    const { store, dispatch, take } = this.#parts;
    const letters = await store.readLetters(dispatch);
    if (letters.length > 0 && !this.#hasReadLog) {
      const written = new Set(letters.map(({ from }) => from));
      for await (const { event } of dispatch.events()) if (written.has(event.id)) this.#taken.add(event.id);
      this.#hasReadLog = true;
    }
    for (const letter of letters) {
      if (this.#isOver) return;
      if (!this.#taken.has(letter.from) && (await take(letter))) this.#taken.add(letter.from);
    }
  }
}
