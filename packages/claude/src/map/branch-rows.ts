import { IdTable } from './ids.ts';

/** The row before the first one. */
export const head = 0;
/** In place of a row: none is known. */
export const unknown = -1;

interface PromptRow {
  readonly row: number;
  readonly time: unknown;
}

/** A compaction, and the rows that the model still saw after it. */
interface CompactionRow {
  readonly row: number;
  summary: number;
  readonly keptFrom: number;
  readonly keptThrough: number;
}

/** A branch of the conversation. Its path is that of the branch below it through `start`, and then its own rows. */
export class RowBranch {
  /** The branch with the row `start`. Null: the path begins with this branch. */
  readonly below: RowBranch | null;
  readonly start: number;
  /** The entry at its end. */
  end: number;
  readonly prompts: PromptRow[] = [];
  readonly compactions: CompactionRow[] = [];
  /** Whether it has an entry of its own. */
  isListed = false;
  /** Its last row, and the last of its rows that is an entry. */
  last: number;
  extended = unknown;
  /** The last row of the file when it stopped being the current branch. */
  leftAt = Number.POSITIVE_INFINITY;
  /** Whether it stopped being current because a prompt continued another branch, and not because it was left. */
  isLive = false;

  constructor(below: RowBranch | null, start: number, end: number) {
    this.below = below;
    this.start = start;
    this.end = end;
    this.last = start;
  }
}

/** What is known of a row when it is added. */
export interface NewRow {
  /** The id of its first event. */
  readonly id: string;
  /** How many events follow under `id.1`, `id.2` … */
  readonly more: number;
  readonly uuid: string | undefined;
  /** The row that it names as its parent, `head` or `unknown`. */
  readonly parent: number;
  /** The nearest prompt, answer or compaction at its parent or above. */
  readonly said: number;
  /** Whether it is a prompt, an answer or a compaction itself. */
  readonly isSaid: boolean;
  /** Whether a prompt is made of it. */
  readonly isEntry: boolean;
}

/**
 * The rows of the dispatched agent in a file, and the branches that they make. Each row has a number, counted from 1. The branches are those that
 * `TranscriptTree` of `@hansard/prompt` makes of the events; this keeps a few numbers for a row, and no event.
 */
export class BranchRows {
  readonly #byUuid = new IdTable();
  readonly #ids = [''];
  readonly #more = [0];
  readonly #parents = [unknown];
  readonly #said = [head];
  readonly #entries = [head];
  readonly #branchOf: RowBranch[];
  /** Those with entries. */
  readonly #listed: RowBranch[] = [];
  current = new RowBranch(null, head, head);
  /** The last prompt on the current branch. */
  lastPrompt = head;
  isStraight = true;

  constructor() {
    this.#branchOf = [this.current];
  }

  /** The last row. */
  get last(): number {
    return this.#ids.length - 1;
  }

  find(uuid: string | undefined): number {
    return uuid === undefined ? unknown : (this.#byUuid.get(uuid) ?? unknown);
  }

  /** The id of the last event of a row. */
  eventOf(row: number): string {
    const [id = '', more = 0] = [this.#ids[row], this.#more[row]];
    return more === 0 ? id : `${id}.${more}`;
  }

  idOf(row: number): string {
    return this.#ids[row] ?? '';
  }

  saidOf(row: number): number {
    return this.#said[row] ?? unknown;
  }

  parentOf(row: number): number {
    return this.#parents[row] ?? unknown;
  }

  entryOf(row: number): number {
    return this.#entries[row] ?? head;
  }

  branchOf(row: number): RowBranch {
    return this.#branchOf[row] ?? this.current;
  }

  /** Adds the next row at the end of a branch. */
  add({ id, more, uuid, parent, said, isSaid, isEntry }: NewRow, branch: RowBranch): number {
    const row = this.#ids.length;
    if (uuid !== undefined) this.#byUuid.add(uuid, row);
    this.#ids.push(id);
    this.#more.push(more);
    this.#parents.push(parent);
    this.#said.push(isSaid ? row : said);
    this.#branchOf.push(branch);
    if (isEntry) {
      if (!branch.isListed) this.#listed.push(branch);
      branch.isListed = true;
      branch.end = row;
      branch.extended = row;
    }
    branch.last = row;
    this.#entries.push(branch.end);
    return row;
  }

  isOn(row: number, branch: RowBranch): boolean {
    const own = this.branchOf(row);
    let limit = Number.POSITIVE_INFINITY;
    for (let one: RowBranch | null = branch; one !== null; one = one.below) {
      if (one === own) return row <= limit;
      limit = one.start;
    }
    return false;
  }

  /** The branch with a row: the current one if possible, otherwise the one that was extended last. */
  branchWith(row: number): RowBranch {
    if (this.isOn(row, this.current)) return this.current;
    return this.#listed
      .filter((branch) => this.isOn(row, branch))
      .reduce((one, other) => (other.extended > one.extended ? other : one), this.branchOf(row));
  }

  /** The first prompt after a row on the path of a branch. */
  promptAfter(row: number, branch: RowBranch): PromptRow | undefined {
    for (const [one, limit] of lineageOf(branch)) {
      const found = one.prompts.find((prompt) => prompt.row > row && prompt.row <= limit);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The first prompt, answer or compaction after a row on the path of a branch. */
  saidAfter(row: number, branch: RowBranch): number | undefined {
    for (let one = row + 1; one <= branch.last; one += 1)
      if (this.saidOf(one) === one && this.isOn(one, branch)) return one;
    return undefined;
  }

  /** The last compaction on the path of a branch. */
  compactionOn(branch: RowBranch): CompactionRow | undefined {
    return lineageOf(branch)
      .flatMap(([one, limit]) => one.compactions.filter(({ row }) => row <= limit))
      .at(-1);
  }

  /** Makes the branch that ends with a row the current one, or begins it. Null: it has nothing. False: it is the current one. */
  rewind(row: number | null, leaving: RowBranch): boolean {
    const entry = row === null ? null : this.entryOf(row);
    if (leaving === this.current && entry === this.current.end) return false;
    const ending = entry === this.current.end ? this.current : this.#listed.find(({ end }) => end === entry);
    const below = row === null ? null : this.branchOf(row);
    const next = ending ?? new RowBranch(below, row ?? unknown, entry ?? unknown);
    this.#leave(leaving !== this.current);
    leaving.isLive = false;
    this.#makeCurrent(next);
    return true;
  }

  /** Makes another branch the current one, because a prompt continues it. The other one stays live. */
  turnTo(branch: RowBranch): void {
    this.#leave(true);
    this.#makeCurrent(branch);
  }

  #leave(isLive: boolean): void {
    this.current.leftAt = this.last;
    this.current.isLive = isLive;
  }

  #makeCurrent(branch: RowBranch): void {
    branch.leftAt = Number.POSITIVE_INFINITY;
    this.current = branch;
    this.isStraight = false;
    this.lastPrompt = lineageOf(branch)
      .flatMap(([one, limit]) => one.prompts.filter(({ row }) => row <= limit))
      .reduce((last, { row }) => Math.max(last, row), head);
  }
}

/** The branches of a path from its beginning, each with the last of its rows that is on the path. */
function lineageOf(branch: RowBranch): [branch: RowBranch, limit: number][] {
  const lineage: [RowBranch, number][] = [];
  let limit = Number.POSITIVE_INFINITY;
  for (let one: RowBranch | null = branch; one !== null; one = one.below) {
    lineage.unshift([one, limit]);
    limit = one.start;
  }
  return lineage;
}
