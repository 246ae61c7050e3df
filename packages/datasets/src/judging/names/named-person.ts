/** A player, or another agent, with everything that texts may call it. */
export interface NamedPerson {
  /** What stands in the place of its names. */
  readonly label: string;
  /** Its name, its ids and its later names. */
  readonly names: readonly string[];
  /** Further whole names, such as nicknames. */
  readonly aliases?: readonly string[] | undefined;
  /** The words of its name that stand for it alone. Absent: they are derived from the names. */
  readonly parts?: readonly string[] | undefined;
  /** Abbreviations that are names in capital letters only, such as `AL`. */
  readonly initials?: readonly string[] | undefined;
  /** Whether only its whole names are found, as for a game master. */
  readonly isHost?: boolean | undefined;
}

/** What the language of a log adds to the rules of English. */
export interface NameRules {
  readonly titles?: readonly string[] | undefined;
  /** Endings of names, by the end of the name that they replace: `{ "": ["s"], "a": ["y", "ie"] }`. */
  readonly inflections?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Words that are names only in the form of a name. */
  readonly words?: readonly string[] | undefined;
}

/** What stands in the place of a name that several players have, or that belongs to no player. */
export const somebody = 'somebody';
