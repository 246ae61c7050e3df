import { createHash } from 'node:crypto';
import { type CapturedEvent, formatErrors, type JsonValue } from '@hansard/events';
import { type GameMapping, type GameMappingInput, parseGameMapping } from '../game-streams/game-mapping.ts';
import { spellingOf } from './names/fold.ts';
import { createNameFinder } from './names/name-finder.ts';
import { NameSuspects } from './names/name-suspects.ts';
import { type NamedPerson, somebody } from './names/spellings.ts';
import { type Player, playersOf } from './players-of.ts';

const numbered = /(?<![A-Za-z0-9])([P-Zp-z]{1,3})[0-9]{1,6}(?![A-Za-z0-9])/g;

/** The pseudonyms in the packets of one dispatch. They are the same every time. */
export interface Pseudonyms {
  /** `P1`, `P2` … in an order that reveals nothing. */
  readonly players: readonly string[];
  /** The pseudonym of a player, the role of another agent if the mapping names it, else `somebody`. */
  of(name: string): string;
  /** Whether the name belongs to an agent that does not play, such as a game master. */
  isNoPlayer(name: string): boolean;
  /** The name of a pseudonym; null if the player is unknown. */
  nameOf(pseudonym: string): string | null;
  /** Replaces every name in a text, and counts them. */
  hide(text: string): { readonly text: string; readonly count: number };
  /** An empty list of what still looks like a name in hidden texts. */
  suspects(): NameSuspects;
  /** A hash of the assignment. It cannot be reversed by trying names without the dispatch id. */
  readonly sha256: string;
}

/** The longest name that is searched for, in characters and in words. */
const [longestName, mostWords] = [200, 20];

/** @throws FORMAT_NAME_TOO_LONG for a name of more than 200 characters or 20 words */
export function createPseudonyms(
  players: readonly Player[],
  dispatchId: string,
  {
    names: rules,
    takenPrefixes = new Set(),
  }: {
    /** Titles, inflections and words of the language, from the mapping. */
    readonly names?: GameMapping['names'];
    /** The letters that texts of the log use before numbers, such as `P` if a player typed `P1`; from `readCast`. */
    readonly takenPrefixes?: ReadonlySet<string>;
  } = {},
): Pseudonyms {
  const inOrder = players
    .filter(({ isHost }) => isHost !== true)
    .map((player) => [sha256(`${dispatchId}\n${player.name}`), player] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const prefix = prefixFor(players, takenPrefixes);
  const byPseudonym = new Map(inOrder.map(([, { name }], at) => [`${prefix}${at + 1}`, name]));
  const pseudonyms = [...byPseudonym.keys()];
  const byName = new Map<string, string>();
  // The name of an agent may be the id of another one, so names come before ids.
  for (const namesOf of [({ name }: Player) => [name], ({ alsoCalled }: Player) => alsoCalled])
    for (const [at, [, player]] of inOrder.entries())
      for (const name of namesOf(player)) if (!byName.has(name)) byName.set(name, pseudonyms[at] ?? somebody);
  const hosts = new Map<string, string>();
  for (const { name, alsoCalled, isHost, role } of players)
    if (isHost === true)
      for (const called of [name, ...alsoCalled])
        if (!byName.has(called) && !hosts.has(called)) hosts.set(called, role ?? somebody);
  const people: NamedPerson[] = [
    ...inOrder.map(([, player], at) => personOf(player, pseudonyms[at] ?? somebody)),
    ...players.flatMap((player) =>
      player.isHost === true ? [personOf(player, player.role ?? somebody)] : [],
    ),
  ];
  const finder = createNameFinder(people, rules);
  return {
    players: pseudonyms,
    of: (name) => byName.get(name) ?? hosts.get(name) ?? somebody,
    isNoPlayer: (name) => hosts.has(name),
    nameOf: (pseudonym) => byPseudonym.get(pseudonym) ?? null,
    hide: (text) => finder.replace(text),
    suspects: () => new NameSuspects(people, rules),
    sha256: sha256(`${dispatchId}\n${JSON.stringify([...byPseudonym])}`),
  };
}

function personOf(
  { name, alsoCalled, isHost, aliases, parts, initials }: Player,
  label: string,
): NamedPerson {
  const person = { label, names: [name, ...alsoCalled], aliases, parts, initials, isHost };
  for (const called of [name, ...alsoCalled, ...(aliases ?? []), ...(parts ?? []), ...(initials ?? [])])
    if (called.length > longestName || called.split(/[^\p{L}\p{N}]+/u, mostWords + 1).length > mostWords)
      throw formatErrors.error(
        'FORMAT_NAME_TOO_LONG',
        `The name ${JSON.stringify(`${called.slice(0, 40)}…`)} has ${called.length} characters. Names of more than ${longestName} characters or ${mostWords} words can't be hidden.`,
        { details: { length: called.length, limit: longestName } },
      );
  return person;
}

/** A prefix that no name and no text of the log has: if a player typed `P1`, it must not look like a pseudonym. */
function prefixFor(players: readonly Player[], taken: ReadonlySet<string>): string {
  const spellings = players.flatMap(({ name, alsoCalled, aliases = [], initials = [] }) =>
    [name, ...alsoCalled, ...aliases, ...initials].map(spellingOf),
  );
  const isTaken = (letters: string) =>
    taken.has(letters) ||
    spellings.some((spelling) => new RegExp(`^${letters.toLowerCase()}[0-9]+$`).test(spelling));
  for (let length = 1; ; length += 1) {
    const free = [...prefixes(length)].find((letters) => !isTaken(letters));
    if (free !== undefined) return free;
  }
}

/** `P` to `Z`, then `PP`, `PQ` … */
function* prefixes(length: number): Generator<string> {
  if (length === 0) yield '';
  else for (const start of prefixes(length - 1)) for (const letter of 'PQRSTUVWXYZ') yield start + letter;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * The pseudonyms of a dispatch, from one reading of its log: those of `createPseudonyms` for the players of `playersOf`,
 * with the names of the mapping and a prefix that occurs in no text of the log.
 * @throws FORMAT_MAPPING_INVALID, FORMAT_NAME_TOO_LONG
 */
export async function readPseudonyms(
  events: AsyncIterable<CapturedEvent>,
  mappingInput: GameMappingInput,
  dispatchId: string,
): Promise<Pseudonyms> {
  const mapping = parseGameMapping(mappingInput);
  const prefixes = new TakenPrefixes();
  const players = await playersOf(watched(), mapping, dispatchId);
  return createPseudonyms(players, dispatchId, { names: mapping.names, takenPrefixes: prefixes.taken });

  async function* watched(): AsyncGenerator<CapturedEvent> {
    for await (const event of events) {
      prefixes.add(event);
      yield event;
    }
  }
}

/**
 * The letters that stand before a number in a text of the log, such as `P` in `P1`, in capitals. Signatures are not
 * texts, and verdicts are about pseudonyms, so both are left out.
 */
class TakenPrefixes {
  readonly taken = new Set<string>();

  add({ type, data }: CapturedEvent): void {
    if (type !== 'judge:verdict') this.#addValue(data);
  }

  #addValue(value: JsonValue | undefined): void {
    if (typeof value === 'string') {
      for (const [, letters = ''] of value.matchAll(numbered)) this.taken.add(letters.toUpperCase());
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        if (key === 'signature') continue;
        if (!Array.isArray(value)) this.#addValue(key);
        this.#addValue(item);
      }
    }
  }
}
