import type { JsonValue } from '@hansard/events';
import type { Row, RowKind } from './row.ts';
import type { RowGroup } from './row-group.ts';
import { rowText } from './row-line.ts';

/** The rows that are wanted. An absent condition holds for every row. */
export interface RowConditions {
  /** Part of the text that the row shows (`rowText`), ignoring case. */
  readonly text?: string | undefined;
  readonly agentId?: string | undefined;
  readonly kind?: RowKind | undefined;
  readonly failed?: boolean | undefined;
  /** The row begins at this position or later. */
  readonly from?: number | undefined;
  /** The row begins before this position. */
  readonly to?: number | undefined;
}

/** Kinds of rows that never are failures. */
const neverFailed: ReadonlySet<RowKind> = new Set(['said', 'aside', 'thought', 'message', 'noise']);

/** What a row can show that is not in its events: words of its kind and head, labels, figures. */
const ownWords =
  'agent call characters edit false from infinity message nan null of piece system text thinking true user';

/** Fewer letters are in most texts. */
const fewestLetters = 3;

/** Chooses rows: `couldMatch` once for each, by its events, then `matches` for those that were made. */
export interface RowChoice {
  couldMatch(group: RowGroup): boolean;
  matches(row: Row): boolean;
  /** Called after the last row. `make`: makes a row that was not chosen before. */
  atEnd?(make: (group: RowGroup) => Row): void;
}

/**
 * Finds rows. `couldMatch` answers from the events of a row, before the row is made, which costs ten times as much.
 * Invariant: it is true for the events of every row for which `matches` is true.
 */
export class RowQuery implements RowChoice {
  readonly #conditions: RowConditions;
  readonly #text: string;
  readonly #letters: string | null;

  constructor(conditions: RowConditions) {
    this.#conditions = conditions;
    this.#text = (conditions.text ?? '').toLowerCase();
    this.#letters = lettersOf(this.#text);
  }

  matches(row: Row): boolean {
    const { agentId, kind, failed = false } = this.#conditions;
    return (
      this.#isInRange(row) &&
      (!failed || row.isFailed) &&
      (kind === undefined || row.kind === kind) &&
      (agentId === undefined || row.agent.agentId === agentId) &&
      (this.#text === '' || rowText(row).toLowerCase().includes(this.#text))
    );
  }

  couldMatch(group: RowGroup): boolean {
    const { agentId, kind, failed = false } = this.#conditions;
    return (
      this.#isInRange(group) &&
      (kind === undefined || group.kind === kind) &&
      (agentId === undefined || group.agent.agentId === agentId) &&
      (!failed || couldBeFailed(group)) &&
      (this.#letters === null || couldShow(group, this.#letters))
    );
  }

  #isInRange({ position }: { readonly position: number }): boolean {
    const { from = 0, to = Number.POSITIVE_INFINITY } = this.#conditions;
    return position >= from && position < to;
  }
}

function couldBeFailed({ kind, result, decisions }: RowGroup): boolean {
  if (kind === 'event') return true;
  if (neverFailed.has(kind)) return false;
  return (
    result?.event.data.status === 'error' || decisions.some(({ event }) => event.data.decision === 'deny')
  );
}

/**
 * Letters that one text of an event must have if the row shows a text: the longest run of them. Texts of events are shown whole, between
 * characters that are not letters, except that an escape in JSON can end in letters: `\n`, `\u00ff`. So the letters that can belong to one are
 * left out. Null: the text has too few letters, or the row can show them by itself.
 */
function lettersOf(text: string): string | null {
  const runs = (text.match(/[a-z]+/g) ?? []).map((run) => run.replace(/^u?[a-f]{0,4}[nrt]?/, ''));
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  return longest.length < fewestLetters || ownWords.includes(longest) ? null : longest;
}

function couldShow({ kind, main, agent, result, decisions, folded }: RowGroup, letters: string): boolean {
  // These are described in words of their own.
  if (kind === 'event' || kind === 'noise' || decisions.length > 0 || folded.length > 0) return true;
  // The name of its author is not in the event.
  if (kind === 'message' && isFromAgent(main.event.data.source)) return true;
  return (
    has(agent.name, letters) ||
    has(main.event.data, letters) ||
    (result !== null && has(result.event.data, letters))
  );
}

function isFromAgent(source: JsonValue | undefined): boolean {
  return (source as { readonly kind?: unknown } | undefined)?.kind === 'agent';
}

function has(value: JsonValue | undefined, letters: string): boolean {
  if (typeof value === 'string') return value.toLowerCase().includes(letters);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => has(item, letters));
  for (const key in value) if (key.toLowerCase().includes(letters) || has(value[key], letters)) return true;
  return false;
}
