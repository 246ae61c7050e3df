import type { JsonValue } from '@hansard/events';

/** The tree of a session in which each record names the one before it. */
export class EntryTree {
  /** By record: the last event of prompts on the path to it. */
  readonly #ends = new Map<string, string | null>();
  /** The end of the branch that the last prompt stands on. */
  #end: string | null = null;

  /** Whether the file has the record that another one follows. */
  has(parent: JsonValue | undefined): boolean {
    return typeof parent === 'string' && this.#ends.has(parent);
  }

  /**
   * Adds a record, with its last event of prompts. Returns the event that the record follows, or null for the beginning, if that is not the end of the current
   * branch. `parent` undefined: the record follows the one before it in the file.
   */
  add(
    id: string | undefined,
    parent: JsonValue | undefined,
    entry: string | undefined,
  ): string | null | undefined {
    const isNamed = parent === null || typeof parent === 'string';
    const before = !isNamed ? this.#end : ((parent === null ? null : this.#ends.get(parent)) ?? null);
    const left = entry !== undefined && before !== this.#end ? before : undefined;
    if (entry !== undefined) this.#end = entry;
    if (id !== undefined) this.#ends.set(id, entry ?? before);
    return left;
  }
}
