import type { DispatchEnvelope } from '@hansard/events';
import type { LiveRows, RunControls, TreeEntry, WritingMessage, WritingPiece } from '../answers.ts';
import { type DispatchName, pathOf } from './api.ts';

export interface LiveListener {
  /** The rows that the events up to `end` began or completed. `first` is the first of these events. */
  onRows(rows: LiveRows, first: number): void;
  onEnvelope(envelope: DispatchEnvelope): void;
  /** Other rows are folded now. */
  onFolds(): void;
  onTree(tree: readonly TreeEntry[]): void;
  /** What agents are writing, of a dispatch that runs in the process of the viewer. */
  onWriting(message: WritingMessage): void;
  /** The viewer does not answer, and why; null: it answers again, and nothing is missing. */
  onConnection(problem: string | null): void;
  /** The rows end, and why. */
  onEnd(message: string): void;
}

/** Milliseconds between attempts to reach a viewer that does not answer. */
const againMs = 1_000;

/** Milliseconds. A page that nobody sees gives its connection back: a browser has six for one address. */
const hiddenMs = 30_000;

/**
 * Follows a dispatch from a position, also over lost connections and a viewer that was ended and started again. It continues after the last
 * event that it has, so that no row is lost or comes twice. Returns the function that ends it.
 */
export function followRows(name: DispatchName, after: number, listener: LiveListener): () => void {
  const rows = new FollowedRows(name, after, listener);
  rows.begin();
  return () => rows.stop();
}

class FollowedRows {
  readonly #name: DispatchName;
  readonly #listener: LiveListener;
  #position: number;
  #source: EventSource | null = null;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  #isLost = false;
  #isOver = false;

  constructor(name: DispatchName, after: number, listener: LiveListener) {
    this.#name = name;
    this.#position = after;
    this.#listener = listener;
  }

  begin(): void {
    document.addEventListener('visibilitychange', this.#onVisibility);
    this.#open();
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#hiding);
    document.removeEventListener('visibilitychange', this.#onVisibility);
    this.#close();
  }

  readonly #onVisibility = (): void => {
    clearTimeout(this.#hiding);
    if (document.visibilityState === 'visible') this.#open();
    else this.#hiding = setTimeout(() => this.#close(), hiddenMs);
  };

  #close(): void {
    clearTimeout(this.#waiting);
    this.#source?.close();
    this.#source = null;
  }

  #end(message: string): void {
    this.stop();
    this.#listener.onEnd(message);
  }

  async #lost(): Promise<void> {
    this.#close();
    const answer = await whyLost(this.#name);
    // Meanwhile the page can be closed, or hidden and shown again.
    if (this.#isOver || this.#source !== null) return;
    if (answer.isGone) return this.#end(answer.problem);
    if (answer.problem !== '') {
      this.#isLost = true;
      this.#listener.onConnection(answer.problem);
    }
    this.#openLater();
  }

  #openLater(): void {
    this.#waiting = setTimeout(() => this.#open(), againMs);
  }

  #open(): void {
    if (this.#source !== null) return;
    clearTimeout(this.#waiting);
    const source = new EventSource(`${pathOf(this.#name)}/live?after=${this.#position}`);
    this.#source = source;
    const listener = this.#listener;
    source.onerror = () => void this.#lost();
    // A store that cannot be read is known only after the connection is open.
    source.addEventListener('caught_up', () => {
      if (this.#isLost) listener.onConnection(null);
      this.#isLost = false;
    });
    source.onmessage = ({ data }) => this.#take(JSON.parse(data));
    source.addEventListener('envelope', ({ data }) => listener.onEnvelope(JSON.parse(data)));
    source.addEventListener('folds', () => listener.onFolds());
    source.addEventListener('tree', ({ data }) => listener.onTree(JSON.parse(data)));
    source.addEventListener('writing', ({ data }) => listener.onWriting(JSON.parse(data)));
    source.addEventListener('over', () =>
      this.#end('The run has ended, and its page with it. `hansard view` shows the log.'),
    );
    source.addEventListener('gone', () => this.#end('This dispatch was deleted.'));
    source.addEventListener('reset', () => this.#end('This dispatch was replaced. Load the page again.'));
    source.addEventListener('failed', ({ data }) => {
      this.#close();
      this.#isLost = true;
      listener.onConnection(`${(JSON.parse(data) as { message: string }).message} Trying again.`);
      this.#openLater();
    });
  }

  #take(rows: LiveRows): void {
    if (rows.end <= this.#position) return;
    const first = this.#position + 1;
    this.#position = rows.end;
    this.#listener.onRows(rows, first);
  }
}

interface Lost {
  /** '': the viewer answers. */
  readonly problem: string;
  /** There is no such dispatch any more. */
  readonly isGone: boolean;
}

/** An event source does not say what was answered. */
async function whyLost(name: DispatchName): Promise<Lost> {
  try {
    const answer = await fetch(pathOf(name));
    if (answer.ok) return { problem: '', isGone: false };
    if (answer.status === 404) return { problem: 'This dispatch was deleted.', isGone: true };
    if (answer.status === 401)
      return {
        problem:
          'The viewer was started again. Open the address that it printed in this browser; this page then continues.',
        isGone: false,
      };
    const { message } = (await answer.json().catch(() => ({}))) as { readonly message?: string };
    const reason = message ?? `The viewer answered ${answer.status}.`;
    return { problem: `${reason} Trying again.`, isGone: false };
  } catch {
    return { problem: 'The viewer does not answer. This page continues when it does.', isGone: false };
  }
}

/** Characters of a text that are shown; the beginning of a longer one is left out. */
const mostShown = 20_000;

interface GrowingText extends Pick<WritingPiece, 'key' | 'agentId' | 'kind' | 'end'> {
  readonly text: string;
  /** Whether its beginning is left out. */
  readonly isCut: boolean;
}

/** A dispatch that runs in the process of the viewer: what its agents are writing, until the rows have it. */
export class RunState {
  /** Null: it does not run. */
  controls: RunControls | null = null;
  /** Whether it ran while the page was open. */
  wasRunning = false;
  readonly #texts = new Map<number, GrowingText>();
  /** The texts that a row will have, with the position of its event. */
  readonly #ended = new Map<number, number>();
  #rowsTo = -1;

  get texts(): readonly GrowingText[] {
    return [...this.#texts.values()];
  }

  received({ isFirst, controls, texts, ended }: WritingMessage): void {
    if (isFirst) {
      this.#texts.clear();
      this.#ended.clear();
    }
    this.controls = controls;
    this.wasRunning ||= controls !== null;
    for (const piece of texts) this.#texts.set(piece.key, this.#grown(piece));
    for (const { key, position } of ended) {
      if (position === null) this.#texts.delete(key);
      else this.#ended.set(key, position);
    }
    this.#forget();
  }

  /** The page has the rows up to a position. */
  rowsTo(position: number): void {
    this.#rowsTo = Math.max(this.#rowsTo, position);
    this.#forget();
  }

  #grown({ key, agentId, kind, from, end, text: piece }: WritingPiece): GrowingText {
    const before = this.#texts.get(key);
    const text = before?.end === from ? before.text + piece : piece;
    const isCut = text.length > mostShown || (before?.end === from ? before.isCut : from > 0);
    return { key, agentId, kind, end, text: text.slice(-mostShown), isCut };
  }

  #forget(): void {
    for (const [key, position] of this.#ended) {
      if (position > this.#rowsTo) continue;
      this.#ended.delete(key);
      this.#texts.delete(key);
    }
  }
}
