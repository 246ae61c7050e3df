import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ListedDispatch } from '@hansard/dispatch';

const header = 'hansard file index 1';
/** 48 bits: two names with one digest cost a read, and change no answer. */
const nameDigits = 8;
const digits = 22;

/** By the digest of a file's name, the positions of the events that name it. */
type Positions = Readonly<Record<string, readonly number[]>>;

/**
 * Where the events of a store name files: for each session the positions, by the digest of the name. It is derived from the logs, and holds neither names nor
 * contents. A row counts only for the log that it was made of, as `stampOf` names it; a row that is missing, damaged or of another state of the log is made
 * again. What a row leads to is read from the log.
 */
export class FileIndex {
  readonly #path: string | null;
  /** The stored rows, by session, as they are in the file. */
  readonly #stored: ReadonlyMap<string, string>;
  readonly #used = new Map<string, string>();
  #isChanged = false;

  /** Null: it is not kept in a file. A file that cannot be read is empty. */
  constructor(path: string | null) {
    this.#path = path;
    this.#stored = path === null ? new Map() : rowsIn(path);
  }

  /** The positions of the events of a session that name one of some files, in growing order. Null: not known for this state of the log. */
  find(dispatch: ListedDispatch, stamp: string, names: readonly string[]): readonly number[] | null {
    const key = keyOf(dispatch);
    const row = this.#used.get(key) ?? this.#stored.get(key);
    if (row?.slice(digits + 1, 2 * digits + 1) !== stamp) return null;
    this.#used.set(key, row);
    const positions = JSON.parse(row.slice(2 * digits + 2)) as Positions;
    const found = new Set(names.flatMap((name) => positions[digestOf(name).slice(0, nameDigits)] ?? []));
    return [...found].sort((one, other) => one - other);
  }

  /** Notes the names in a log, by position. */
  add(dispatch: ListedDispatch, stamp: string, names: ReadonlyMap<number, readonly string[]>): void {
    const positions: Record<string, number[]> = {};
    for (const [position, all] of names)
      for (const name of new Set(all)) {
        const digest = digestOf(name).slice(0, nameDigits);
        positions[digest] ??= [];
        positions[digest].push(position);
      }
    const key = keyOf(dispatch);
    this.#used.set(key, `${key} ${stamp} ${JSON.stringify(positions)}`);
    this.#isChanged = true;
  }

  /** Writes the rows that were found or added; those of sessions that are gone are dropped. A failure changes no answer, so it is ignored. */
  save(): void {
    if (this.#path === null || (!this.#isChanged && this.#used.size === this.#stored.size)) return;
    const rows = [...this.#used.values()].map((row) => `${checksumOf(row)} ${row}\n`);
    const temporary = `${this.#path}.${randomUUID()}`;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      writeFileSync(temporary, [`${header}\n`, ...rows].join(''), { mode: 0o600 });
      renameSync(temporary, this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
      rmSync(temporary, { force: true });
    }
  }
}

/** Names the state of a log: how many events it has, its last event, and its envelope. Each append, loss and rewrite changes one of them. */
export async function stampOf({ log, envelope }: ListedDispatch): Promise<string> {
  const { first, events } = await log.last(1);
  return digestOf(JSON.stringify([first, events, envelope]));
}

function rowsIn(path: string): Map<string, string> {
  const rows = new Map<string, string>();
  let lines: string[];
  try {
    lines = readFileSync(path, 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return rows;
  }
  if (lines[0] !== header) return rows;
  for (const line of lines.slice(1)) {
    const row = line.slice(9);
    if (line.slice(0, 9) === `${checksumOf(row)} `) rows.set(row.slice(0, digits), row);
  }
  return rows;
}

function checksumOf(row: string): string {
  return crc32(row).toString(16).padStart(8, '0');
}

function keyOf({ taskDir, dispatchId }: ListedDispatch): string {
  return digestOf(`${taskDir}\n${dispatchId}`);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, digits);
}
