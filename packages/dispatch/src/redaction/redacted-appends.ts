import type { CapturedEvent, Delta, NewEvent } from '@hansard/events';
import { type Awaitable, storeErrors } from '@hansard/provider';
import type { Redactor } from '@hansard/redaction';
import { isPromise } from '../async/is-promise.ts';
import type { PositionedEvent } from '../store/dispatch-log.ts';
import type { ProviderDispatch } from '../store/provider-dispatch.ts';

/** The event that holds a text once it is complete. */
const ownEvents: Readonly<Record<Delta['type'], string>> = {
  'delta:text': 'agent:text',
  'delta:thinking': 'agent:thinking',
  'delta:tool_input': 'agent:tool_call',
};

/** Characters that all growing texts of a dispatch withhold together, at most. */
const mostHeld = 4 * 1024 * 1024;

/** Above this length, held text is searched again when it has grown by an eighth. */
const alwaysSearched = 256;

/**
 * White space inside a secret and what introduces it, such as `Authorization: Bearer TOKEN`, divides it into seven words at most: those of a
 * command with a password.
 */
const words = 8;

/** White space, characters that no token has, what stands before a value that can have them, and what introduces many values. */
const marks = /\s+|["'`=:>%]|[^\0-\x7f]|ookie(?=["'\\]{0,8}[ \t]{0,2}[:=]|[ \t]{1,4}["'])/gu;

const keyBegins = /-----BEGIN (?:[A-Z]{1,10} ){0,2}PRIVATE KEY|Private-Lines:/g;

/** On a line of its own: an END in a header of the key does not end it. */
const keyEnds =
  /(?:\n|\\[nr])[ \t]{0,40}-----END (?:[A-Z]{1,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----|(?:\n|\\[nr])Private-MAC:/g;

/**
 * Appends to a dispatch whose events are redacted. An event whose stored form differs only in what was redacted is stored
 * already: a log that is imported again under newer patterns has no conflict.
 */
export class RedactedAppends {
  readonly #stored: ProviderDispatch;
  readonly #redactor: Redactor;
  /** The stored events in which something is or would be redacted, by their ids. Null: no append had a conflict. */
  #redacted: ReadonlyMap<string, PositionedEvent> | null = null;

  constructor(stored: ProviderDispatch, redactor: Redactor) {
    this.#stored = stored;
    this.#redactor = redactor;
  }

  /** Returns the position of the event. */
  appendOne(event: CapturedEvent): Awaitable<number> {
    const again = async (error: unknown) => {
      const [position] = await this.#again([event], error);
      return position as number;
    };
    return orElse(() => this.#stored.appendEvent(event), again);
  }

  /** Returns the position of each event. */
  append(events: readonly CapturedEvent[]): Awaitable<readonly number[]> {
    return orElse(
      () => this.#stored.appendEvents(events),
      (error) => this.#again(events, error),
    );
  }

  async #again(events: readonly CapturedEvent[], conflict: unknown): Promise<readonly number[]> {
    if (!storeErrors.is(conflict, 'STORE_EVENT_CONFLICT')) throw conflict;
    const { differsInSecretsOnly } = await import('@hansard/redaction');
    this.#redacted ??= await this.#findRedacted();
    const known = events.map((event) => {
      const stored = this.#redacted?.get(event.id);
      return stored !== undefined && differsInSecretsOnly(stored.event, event, this.#redactor)
        ? stored.position
        : null;
    });
    return appendMissing(events, known, (missing) => this.#stored.appendEvents(missing), conflict);
  }

  async #findRedacted(): Promise<ReadonlyMap<string, PositionedEvent>> {
    const found = new Map<string, PositionedEvent>();
    for (let after = -1; ; ) {
      const { events, first, next } = await this.#stored.readPage({ after });
      if (events.length === 0) return found;
      for (const [index, event] of events.entries())
        if (JSON.stringify(event.data).includes('[REDACTED:') || this.#redactor.event(event) !== event)
          found.set(event.id, { position: first + index, event });
      after = next;
    }
  }
}

/** The answer of a call, or that of `again` if the call fails. A synchronous answer stays synchronous. */
function orElse<T>(call: () => Awaitable<T>, again: (error: unknown) => Promise<T>): Awaitable<T> {
  try {
    const answer = call();
    return isPromise(answer) ? answer.catch(again) : answer;
  } catch (error) {
    return again(error);
  }
}

/** Appends the events without a known position, and returns the position of each. Throws `conflict` if no position is known. */
async function appendMissing(
  events: readonly CapturedEvent[],
  known: readonly (number | null)[],
  append: (missing: readonly CapturedEvent[]) => Awaitable<readonly number[]>,
  conflict: unknown,
): Promise<readonly number[]> {
  const missing = events.filter((_, index) => known[index] === null);
  if (missing.length === events.length) throw conflict;
  const added = missing.length > 0 ? await append(missing) : [];
  let next = 0;
  return known.map((position) => position ?? (added[next++] as number));
}

/** Appends events and returns the position of each. */
interface Appends {
  append(events: readonly CapturedEvent[]): Awaitable<readonly number[]>;
}

/**
 * Appends to a dispatch that may have contents whose bytes were redacted. A content with the digest of a stored one is stored already,
 * also if its bytes are gone: an import of the same source does not bring them back.
 */
export class ContentAppends implements Appends {
  readonly #stored: ProviderDispatch;
  readonly #appends: Appends;
  /** The positions of the stored contents through `#searched`. */
  readonly #found = new Map<string, number>();
  #searched = -1;

  constructor(stored: ProviderDispatch, appends: Appends) {
    this.#stored = stored;
    this.#appends = appends;
  }

  append(events: readonly CapturedEvent[]): Awaitable<readonly number[]> {
    try {
      const positions = this.#appends.append(events);
      return isPromise(positions) ? positions.catch((error) => this.#again(events, error)) : positions;
    } catch (error) {
      return this.#again(events, error);
    }
  }

  async #again(events: readonly CapturedEvent[], conflict: unknown): Promise<readonly number[]> {
    if (!events.some(isContent) || !storeErrors.is(conflict, 'STORE_EVENT_CONFLICT')) throw conflict;
    const found = await this.#find();
    const known = events.map((event) => (isContent(event) ? (found.get(event.id) ?? null) : null));
    return appendMissing(events, known, (missing) => this.#appends.append(missing), conflict);
  }

  /** The positions of all stored contents. */
  async #find(): Promise<ReadonlyMap<string, number>> {
    for (;;) {
      const { events, first, next } = await this.#stored.readPage({ after: this.#searched });
      if (events.length === 0) return this.#found;
      for (const [index, event] of events.entries())
        if (isContent(event) && event.data.sha256 === event.id) this.#found.set(event.id, first + index);
      this.#searched = next;
    }
  }
}

function isContent({ type }: CapturedEvent): boolean {
  return type === 'content:stored';
}

interface GrowingText {
  /** Everything of its deltas but the text. */
  readonly block: Delta;
  /** The end of the text, as the model wrote it: what was not published. */
  held: string;
  hasPublished: boolean;
  /** The length of `held` at which it is searched next. */
  nextSearch: number;
  /** Whether nothing more of it is published: the event has the text. */
  isMuted: boolean;
}

/**
 * Removes secrets from streamed texts. A growing text is one type of deltas of one agent, message and tool call.
 * Invariant: what was published of a text, joined, is a beginning of the redacted whole text. For each delta:
 * 1. Its text is added to the held text. 2. `findCut` finds a place that no secret spans as soon as it is visible. 3. If the held text,
 * redacted, is the same as its two parts, redacted, then no secret spans the place. 4. The part before the place is published and forgotten.
 * The rest is published before the event that holds the whole text; other events change nothing. A text is muted if it must hold too
 * much, or if an event of its kind does not hold it: it may continue, in the middle of a secret. The next event of its kind ends that.
 */
export class RedactedDeltas {
  readonly #redactor: Pick<Redactor, 'text' | 'reach'>;
  readonly #growing = new Map<string, GrowingText>();
  #held = 0;

  constructor(redactor: Pick<Redactor, 'text' | 'reach'>) {
    this.#redactor = redactor;
  }

  /** What is published in place of a delta. */
  take(delta: Delta): Delta[] {
    const key = JSON.stringify([delta.agentId ?? '', delta.type, delta.messageId, delta.toolCallId]);
    const growing = this.#growing.get(key) ?? begin(delta);
    this.#growing.set(key, growing);
    if (growing.isMuted) return [];
    this.#hold(growing, growing.held + delta.text);
    if (this.#held > mostHeld) {
      this.#mute(growing);
      return [];
    }
    return this.#release(growing);
  }

  /** The rest of the text that an event holds, before the event is recorded. It can be any value: it is not checked yet. */
  finish(event: NewEvent): Delta[] {
    const published: Delta[] = [];
    for (const [key, growing] of this.#growing) {
      if (!isOfKind(event, growing.block)) continue;
      if (!growing.isMuted && !isWhole(event, growing)) {
        this.#mute(growing);
        continue;
      }
      const text = this.#redactor.text(growing.held).text;
      this.#hold(growing, '');
      this.#growing.delete(key);
      if (text !== '') published.push({ ...growing.block, text });
    }
    return published;
  }

  #release(growing: GrowingText): Delta[] {
    const { held } = growing;
    if (held.length < growing.nextSearch) return [];
    const cut = findCut(held, this.#redactor.reach);
    const text = cut === 0 ? null : this.#before(held, cut);
    if (text !== null) this.#hold(growing, held.slice(cut));
    const { length } = growing.held;
    growing.nextSearch = length < alwaysSearched ? 0 : length + Math.floor(length / 8);
    if (text === null || text === '') return [];
    growing.hasPublished = true;
    return [{ ...growing.block, text }];
  }

  /** The text before a place, redacted. Null: a secret spans the place. */
  #before(text: string, cut: number): string | null {
    const redacted = this.#redactor.text(text).text;
    const before = text.slice(0, cut);
    if (redacted === text) return before;
    const first = this.#redactor.text(before).text;
    return redacted === first + this.#redactor.text(text.slice(cut)).text ? first : null;
  }

  #mute(growing: GrowingText): void {
    this.#hold(growing, '');
    growing.isMuted = true;
  }

  #hold(growing: GrowingText, held: string): void {
    this.#held += held.length - growing.held.length;
    growing.held = held;
  }
}

function begin(delta: Delta): GrowingText {
  return { block: delta, held: '', hasPublished: false, nextSearch: 0, isMuted: false };
}

/** Whether an event is of the agent and kind of a text, and no id of it is another. */
function isOfKind(event: NewEvent, { type, agentId, messageId, toolCallId }: Delta): boolean {
  if (event?.type !== ownEvents[type] || (event.agentId ?? '') !== (agentId ?? '')) return false;
  const isOther = (id: unknown, own: string | undefined) =>
    id !== undefined && own !== undefined && id !== own;
  return !isOther(event.messageId, messageId) && !isOther(event.data?.toolCallId, toolCallId);
}

/** Whether an event shows that a text is complete. White space around the text may differ. */
function isWhole({ data }: NewEvent, { block, held, hasPublished }: GrowingText): boolean {
  const end = held.trim();
  // The input of a call is an object, and can be written in many ways.
  if (block.type === 'delta:tool_input')
    return block.toolCallId !== undefined && (end.endsWith('}') || (end === '' && !hasPublished));
  if (typeof data?.text !== 'string') return false;
  const text = data.text.trim();
  return hasPublished ? text.endsWith(end) : text === end;
}

/**
 * The last place in a growing text such that a secret that begins before it can be recognized, however the text continues: 1. At least four whole
 * words follow. 2. At least the longest other secret (`reach`), but one character, follows. 3. No private key without its
 * end is before it. 4. It is after white space, or after a character that no secret can have there. 0: there is none.
 */
function findCut(text: string, reach: number): number {
  const beforeReach = text.length - Math.max(0, reach - 1);
  if (beforeReach <= 0) return 0;
  const most = Math.min(beforeReach, openKey(text));
  const places = endsOfWords(text);
  for (let at = places.length - 1 - words; at >= 0; at -= 1) {
    const place = places[at] as number;
    if (place <= most) return place;
  }
  return 0;
}

function endsOfWords(text: string): number[] {
  const places: number[] = [];
  // Passwords in JSON, in URLs and behind a key can have any character.
  let mayBePassword = false;
  // The cookies of a header are one line.
  let areCookies = false;
  for (const { 0: found, index } of text.matchAll(marks)) {
    const isSpace = found.trim() === '';
    if (found === 'ookie') areCookies = true;
    else if (found.includes('\n')) areCookies = false;
    if (isSpace) mayBePassword = false;
    else if (found <= '\x7f') mayBePassword = true;
    // A key and its value stay together: a value that is not a secret can itself be a key.
    if (!mayBePassword && !areCookies && text[index - 1] !== ':') places.push(index + found.length);
  }
  return places;
}

/** Where the first private key begins that has no end yet. */
function openKey(text: string): number {
  keyBegins.lastIndex = 0;
  for (let begin = keyBegins.exec(text); begin !== null; begin = keyBegins.exec(text)) {
    keyEnds.lastIndex = keyBegins.lastIndex;
    if (keyEnds.exec(text) === null) return begin.index;
    keyBegins.lastIndex = keyEnds.lastIndex;
  }
  return text.length;
}
