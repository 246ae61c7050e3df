import { type FoundRows, rowReach } from '../../answers.ts';
import { type DispatchName, pathOf } from '../api.ts';

/** The rows that are looked for. */
export interface Query {
  readonly text: string;
  /** Null: of every agent. */
  readonly agentId: string | null;
  readonly kind: string | null;
  readonly failed: boolean;
}

/** The kinds of rows, each with a word for people. */
export const kinds = [
  ['said', 'said'],
  ['message', 'received'],
  ['call', 'calls'],
  ['thought', 'thoughts'],
  ['aside', 'beside calls'],
  ['noise', 'harness records'],
  ['event', 'others'],
] as const;

export const everything: Query = { text: '', agentId: null, kind: null, failed: false };

export function isEverything({ text, agentId, kind, failed }: Query): boolean {
  return text === '' && agentId === null && kind === null && !failed;
}

export function isSameQuery(one: Query, other: Query): boolean {
  return (
    one.text === other.text &&
    one.agentId === other.agentId &&
    one.kind === other.kind &&
    one.failed === other.failed
  );
}

/** Milliseconds. */
const continueMs = 1_000;

/** The rows of a dispatch that match a query, as they are found. */
export class Search {
  /** In order. */
  readonly positions: number[] = [];
  scanned = 0;
  isDone = false;
  problem: string | null = null;
  readonly query: Query;
  readonly #name: DispatchName;
  readonly #onChange: () => void;
  #source: EventSource | null = null;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  /** Whether events arrived since the reading that is under way began: it may have passed the end of the log before them. */
  #isBehind = false;

  constructor(name: DispatchName, query: Query, onChange: () => void) {
    this.#name = name;
    this.query = query;
    this.#onChange = onChange;
    this.#read(0);
  }

  /** After more events: reads on from where rows could still change. */
  continue(): void {
    this.#isBehind = !this.isDone;
    if (!this.isDone || this.#waiting !== undefined) return;
    this.#waiting = setTimeout(() => {
      this.#waiting = undefined;
      this.#read(Math.max(0, this.scanned - rowReach));
    }, continueMs);
  }

  /** The first hit after a position, or the last one before it; undefined: there is none. */
  from(position: number, direction: 1 | -1): number | undefined {
    return direction === 1
      ? this.positions.find((hit) => hit > position)
      : this.positions.findLast((hit) => hit < position);
  }

  close(): void {
    clearTimeout(this.#waiting);
    this.#source?.close();
  }

  #read(from: number): void {
    const { text, agentId, kind, failed } = this.query;
    const parameters = new URLSearchParams({
      from: String(from),
      ...(text === '' ? {} : { text }),
      ...(agentId === null ? {} : { agent: agentId }),
      ...(kind === null ? {} : { kind }),
      ...(failed ? { failed: '1' } : {}),
    });
    const source = new EventSource(`${pathOf(this.#name)}/find?${parameters}`);
    this.#source = source;
    this.isDone = false;
    this.problem = null;
    let isFirst = true;
    const add = ({ data }: MessageEvent<string>) => {
      const { positions, scanned } = JSON.parse(data) as FoundRows;
      // What was found from there on is found again.
      while (isFirst && (this.positions.at(-1) ?? -1) >= from) this.positions.pop();
      isFirst = false;
      for (const position of positions) this.positions.push(position);
      this.scanned = scanned;
      this.#onChange();
    };
    const end = (problem: string | null) => {
      this.isDone = true;
      this.problem = problem;
      source.close();
      this.#onChange();
      if (this.#isBehind) this.continue();
    };
    source.onmessage = add;
    source.addEventListener('done', (message) => {
      add(message);
      end(null);
    });
    source.addEventListener('failed', ({ data }) => end((JSON.parse(data) as { message: string }).message));
    // The browser would begin again, and find everything twice.
    source.onerror = () => {
      end('The connection was lost before the end of the log. Trying again.');
      this.continue();
    };
  }
}
