import type { ConversationItem, ConversationPage } from '../../answers.ts';
import { ask, type DispatchName, pathOf } from '../api.ts';

/** Positions of a page. */
const positionsOfPage = 200;

/** Pages that are kept. Those that are furthest from the last one that was read are forgotten. */
const mostPages = 20;

/** What is shown as one: a prompt or an answer, whole, or a run of calls, thoughts and records. */
export interface Turn {
  /** The position of its first row. */
  readonly position: number;
  readonly said: ConversationItem | null;
  /** Of a run. */
  readonly run: readonly ConversationItem[];
}

/** Whether a reader of the conversation can do without a row: records of the harness, thoughts that say nothing, states. */
function isAside({ kind, text, tone, isFailed }: ConversationItem): boolean {
  if (isFailed) return false;
  return kind === 'noise' || (kind === 'thought' && text === '') || (kind === 'event' && tone !== 'notice');
}

/** The rows as turns. Without `isAll`, the rows that a reader can do without are left out. */
export function turnsOf(items: readonly ConversationItem[], isAll: boolean): Turn[] {
  const turns: Turn[] = [];
  let run: ConversationItem[] = [];
  const endRun = () => {
    const [first] = run;
    if (first !== undefined) turns.push({ position: first.position, said: null, run });
    run = [];
  };
  for (const item of items) {
    if (!isAll && isAside(item)) continue;
    if (item.words === null) {
      run.push(item);
      continue;
    }
    endRun();
    turns.push({ position: item.position, said: item, run: [] });
  }
  endRun();
  return turns;
}

/** The pages of a conversation around the place that is shown. They follow each other without a gap. */
export class ConversationState {
  problem: string | null = null;
  isReading = false;
  /** No row follows those that are known. */
  isAtEnd = false;
  /** It runs in a process that writes this log: what comes is shown. */
  isLive = false;
  /** Positions in branches that are shown. */
  opened: readonly number[] = [];
  readonly #name: DispatchName;
  readonly #onChange: () => void;
  #pages: { readonly page: number; readonly items: readonly ConversationItem[] }[] = [];
  #isClosed = false;
  #turn = 0;

  constructor(name: DispatchName, onChange: () => void) {
    this.#name = name;
    this.#onChange = onChange;
  }

  get items(): readonly ConversationItem[] {
    return this.#pages.flatMap(({ items }) => items);
  }

  get isAtStart(): boolean {
    return (this.#pages[0]?.page ?? 0) === 0;
  }

  has(position: number): boolean {
    return this.#pages.some(({ page }) => page === pageOf(position));
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Shows the page with a position, without those before, if it is not there. */
  async show(position: number): Promise<void> {
    if (this.has(position)) return;
    this.#turn += 1;
    this.#pages = [];
    this.isAtEnd = false;
    await this.#read(pageOf(position), 'end');
  }

  async more(direction: 'start' | 'end'): Promise<void> {
    if (this.isReading || this.#pages.length === 0) return;
    const page = direction === 'end' ? (this.#pages.at(-1)?.page ?? -1) + 1 : (this.#pages[0]?.page ?? 0) - 1;
    if (page < 0 || (direction === 'end' && this.isAtEnd)) return;
    await this.#read(page, direction);
  }

  /** Reads the last page again, after the log has grown. */
  async grown(): Promise<void> {
    const last = this.#pages.at(-1);
    if (last === undefined || !this.isAtEnd || this.isReading) return;
    await this.#read(last.page, 'end');
  }

  /** Shows the rows of a branch in the place of the row that stands for them. */
  async openBranch(position: number): Promise<void> {
    this.opened = [...this.opened, position];
    this.#turn += 1;
    this.#pages = [];
    await this.#read(pageOf(position), 'end');
  }

  async #read(page: number, direction: 'start' | 'end'): Promise<void> {
    const turn = this.#turn;
    this.isReading = true;
    this.#onChange();
    try {
      const from = page * positionsOfPage;
      const path = `${pathOf(this.#name)}/conversation?from=${from}&n=${positionsOfPage}&open=${this.opened.join(',')}`;
      const answer = await ask<ConversationPage>(path);
      if (this.#isClosed || turn !== this.#turn) return;
      this.problem = null;
      const read = { page, items: answer.items };
      const others = this.#pages.filter((one) => one.page !== page);
      this.#pages =
        direction === 'end' ? [...others, read].slice(-mostPages) : [read, ...others].slice(0, mostPages);
      const isLast = this.#pages.at(-1)?.page === page;
      if (isLast) this.isAtEnd = answer.size < positionsOfPage;
      else if (direction === 'start' && others.length >= mostPages) this.isAtEnd = false;
      // A log that ends with a page has an empty one after it.
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      if (turn === this.#turn) this.isReading = false;
      if (!this.#isClosed) this.#onChange();
    }
  }
}

function pageOf(position: number): number {
  return Math.floor(position / positionsOfPage);
}
