import { type DispatchLetter, isHansardError, type NewEvent, newEvent } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import type { Dispatch } from '../store/dispatch.ts';
import type { DispatchStore, StoredLetter } from '../store/dispatch-store.ts';

/**
 * Milliseconds between two looks. A watch of the store would cost every append of its process more than a look at an empty inbox costs in a
 * second.
 */
const lookEveryMs = 1_000;
/** How many letters one notice names. It counts all. */
const mostNamed = 20;

interface LetterInboxParts {
  readonly store: DispatchStore;
  readonly dispatch: Dispatch;
  /**
   * Records the event of a letter, with `from` as its id. False: it cannot be taken now, and stays. Only the owner of the dispatch calls this.
   */
  readonly take: (letter: DispatchLetter) => Promise<boolean>;
  /** Records a notice about letters that cannot be taken. */
  readonly report: (notice: NewEvent) => Promise<unknown>;
}

/**
 * The letters to a dispatch that this process owns. Each letter whose `from` is not in the log is taken, in the order in which they are
 * seen. Letters are never changed.
 *
 * 1. Only the claimant takes letters, one look after the other, so nobody else adds a `from` to the log.
 * 2. Before the first letter is taken, the whole log is read for events whose id begins with `letter_`: an earlier owner may have taken it. No
 *    other event has such an id, so the log needs no second reading.
 * 3. A letter that cannot be taken keeps no other letter waiting. It is reported once.
 */
export class LetterInbox {
  readonly #parts: LetterInboxParts;
  /** The letters that the log has. */
  readonly #taken = new Set<string>();
  /** The letters that a notice has named, and the inbox itself (null) while it cannot be listed. */
  readonly #reported = new Set<string | null>();
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
        // The dispatch has failed, or is over: its next write reports that. The letters stay.
      }
    }
    if (this.#isOver) return;
    // Real time, whatever the clock of the dispatch is. It keeps no process alive.
    const timer = setTimeout(() => void this.#look(), lookEveryMs).unref();
    this.#cancel = () => clearTimeout(timer);
  }

  async #takeAll(): Promise<void> {
    const problems = new Map<string | null, string>();
    try {
      const letters = await this.#newLetters(problems);
      if (letters.length > 0) await this.#readLog();
      for (const letter of letters) {
        if (this.#isOver) return;
        if (this.#taken.has(letter.from)) continue;
        try {
          if (await this.#parts.take(letter)) this.#taken.add(letter.from);
        } catch (error) {
          problems.set(letter.from, codeOf(error));
        }
      }
      if (!problems.has(null)) this.#reported.delete(null);
    } catch (error) {
      // `onOutage` of the store reports what passes by itself, and a closed store or a lost claim ends the dispatch.
      if (!isOfStoreAsAWhole(error)) problems.set(null, codeOf(error));
    }
    await this.#report(problems);
  }

  /** The letters that are not known to be taken. */
  async #newLetters(problems: Map<string | null, string>): Promise<DispatchLetter[]> {
    const { store, dispatch } = this.#parts;
    const letters: DispatchLetter[] = [];
    for await (const found of store.readLetters(dispatch)) {
      const { letterId, letter, error } = found satisfies StoredLetter;
      if (letter === null) problems.set(letterId, codeOf(error));
      else if (!this.#taken.has(letter.from)) letters.push(letter);
    }
    return letters;
  }

  async #readLog(): Promise<void> {
    if (this.#hasReadLog) return;
    for await (const { event } of this.#parts.dispatch.events())
      if (event.id.startsWith('letter_')) this.#taken.add(event.id);
    this.#hasReadLog = true;
  }

  async #report(problems: ReadonlyMap<string | null, string>): Promise<void> {
    const unreported = [...problems].filter(([letterId]) => !this.#reported.has(letterId));
    if (unreported.length === 0 || this.#isOver) return;
    for (const [letterId] of unreported) this.#reported.add(letterId);
    const letters = unreported.slice(0, mostNamed).map(([letterId, code]) => ({ letterId, code }));
    const isInbox = unreported.some(([letterId]) => letterId === null);
    const problem = isInbox
      ? 'the letters to this dispatch could not be listed, so none was taken'
      : 'letters to this dispatch could not be taken; they stay in its inbox';
    await this.#parts.report(newEvent('system:notice', { problem, letters, count: unreported.length }));
  }
}

function isOfStoreAsAWhole(error: unknown): boolean {
  return (
    storeErrors.is(error) &&
    (error.isTransient || ['STORE_CLOSED', 'STORE_LOCKED', 'STORE_DISPATCH_NOT_FOUND'].includes(error.code))
  );
}

/** Of an error only the code: a message can quote what is stored. */
function codeOf(error: unknown): string {
  return isHansardError(error) ? error.code : 'unknown';
}
