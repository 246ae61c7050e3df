import type { CapturedEvent, EventData } from '@hansard/events';
import { shortened } from '@hansard/events/plain';

const longestTitle = 80;
const unreadable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu;

/** The titles that products give their sessions, by the kind of their `session:status`: the field, and which one counts more. */
const statusTitles: ReadonlyMap<unknown, readonly [field: string, rank: number]> = new Map([
  ['ai-title', ['aiTitle', 3]],
  ['custom-title', ['customTitle', 4]],
  ['thread_name_updated', ['thread_name', 4]],
  ['title', ['title', 4]],
]);
/** A message that a file watcher, a timer or a service sent is a title only until somebody says something. */
const rankOfTrigger = 1;
const rankOfPrompt = 2;

export interface FoundTitle {
  readonly text: string;
  /** Whether the title was given to the session, and is not only the beginning of a message. */
  readonly isGiven: boolean;
  /** The position of the event that has it. */
  readonly position: number;
}

/**
 * Finds a title for a dispatch in its events: the last one that a user or an engine gave the session, or else the beginning of
 * the first message that is not from the system.
 */
export class TitleFinder {
  #title: FoundTitle | null = null;
  #rank = 0;

  /** Null: none was found. */
  get title(): FoundTitle | null {
    return this.#title;
  }

  /** Whether a message can still become the title. */
  get needsPrompt(): boolean {
    return this.#rank < rankOfPrompt;
  }

  addMessage({ text, source, command }: EventData<'user:message'>, position: number): void {
    if (command === true) return;
    const { kind, what } = source;
    const rank = kind === 'external' && what !== undefined ? rankOfTrigger : rankOfPrompt;
    if (kind !== 'system' && rank > this.#rank) this.#offer(promptTitle(text), rank, position);
  }

  addStatus({ data }: CapturedEvent, position: number): void {
    const [field, rank] = statusTitles.get(data.kind) ?? [];
    if (field !== undefined && rank !== undefined && rank >= this.#rank)
      this.#offer(data[field], rank, position);
  }

  #offer(said: unknown, rank: number, position: number): void {
    const text = titleOf(said);
    if (text === '') return;
    this.#title = { text, isGiven: rank > rankOfPrompt, position };
    this.#rank = rank;
  }
}

const tag = /(<\/?[A-Za-z][\w-]*(?:\s[^<>]*)?>)/;
/** Elements that an engine puts beside what a person says. Their content is left out, too. */
const ofEngine =
  /^(?:(?:local-command|bash|ide)[\w-]*|command-message|system-reminder|task-notification|user-prompt-submit-hook)$/;
const interruption = /^\[Request interrupted by user(?: for tool use)?\]$/;
const bareCommand = /^\/[\w:.-]+$/;
const longestMarkup = 20_000;

/** What may be a title of a message: '' for an interruption, and for a slash command without arguments. */
function promptTitle(text: string): string {
  const said = withoutMarkup(text).trim();
  return interruption.test(said) || bareCommand.test(said) ? '' : said;
}

/** A text that begins with markup, without its tags and without the elements of an engine. Any other text is unchanged. */
function withoutMarkup(text: string): string {
  const start = text.slice(0, longestMarkup).trimStart();
  if (start.split(tag, 1)[0] !== '') return text;
  let said = '';
  let left: string | null = null;
  for (const [at, part] of start.split(tag).entries()) {
    const name = /^<\/?([A-Za-z][\w-]*)/.exec(part)?.[1] ?? '';
    if (at % 2 === 0) said += left === null ? part : '';
    else if (left === null && ofEngine.test(name) && !part.startsWith('</')) left = name;
    else if (part === `</${left}>`) left = null;
    else said += ' ';
  }
  return said;
}

/** The beginning of a text as a title: one line of at most 80 characters, without markup and control characters; '' if nothing is left. */
export function titleOf(text: unknown): string {
  if (typeof text !== 'string') return '';
  // A little more than a title, because white space becomes shorter.
  const line = shortened(withoutMarkup(text), 1_000).replace(unreadable, ' ').trim();
  const title = shortened(line, longestTitle).replace(/ …$/, '…');
  return title === '…' ? '' : title;
}
