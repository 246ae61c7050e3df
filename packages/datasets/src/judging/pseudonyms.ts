import { createHash } from 'node:crypto';
import { createNameFinder, spellingOf } from './name-finder.ts';
import type { Player } from './players-of.ts';

/** The pseudonyms in the packets of one dispatch. They are the same every time. */
export interface Pseudonyms {
  /** `P1`, `P2` … in an order that reveals nothing. */
  readonly players: readonly string[];
  of(name: string): string;
  /** Whether the name belongs to an agent that does not play, such as a game master. */
  isNoPlayer(name: string): boolean;
  /** The name of a pseudonym; null if the player is unknown. */
  nameOf(pseudonym: string): string | null;
  /** Replaces every name in a text, and counts them. */
  hide(text: string): { readonly text: string; readonly count: number };
  /** A hash of the assignment. It cannot be reversed by trying names without the dispatch id. */
  readonly sha256: string;
}

export function createPseudonyms(players: readonly Player[], dispatchId: string): Pseudonyms {
  const inOrder = players
    .filter(({ isHost }) => isHost !== true)
    .map((player) => [sha256(`${dispatchId}\n${player.name}`), player] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const prefix = prefixFor(players);
  const byPseudonym = new Map(inOrder.map(([, { name }], at) => [`${prefix}${at + 1}`, name]));
  const byName = new Map<string, string>();
  const bySpelling = new Map<string, string>();
  const pseudonyms = [...byPseudonym.keys()];
  // The name of an agent may be the id of another one, so names come before ids.
  for (const namesOf of [({ name }: Player) => [name], ({ alsoCalled }: Player) => alsoCalled]) {
    for (const [at, [, player]] of inOrder.entries()) {
      for (const name of namesOf(player)) {
        const pseudonym = pseudonyms[at] ?? somebody;
        if (!byName.has(name)) byName.set(name, pseudonym);
        if (!bySpelling.has(spellingOf(name))) bySpelling.set(spellingOf(name), pseudonym);
      }
    }
  }
  const hosts = new Set<string>();
  for (const { name, alsoCalled, isHost } of players)
    if (isHost === true)
      for (const called of [name, ...alsoCalled]) if (!byName.has(called)) hosts.add(called);
  for (const name of hosts) byName.set(name, somebody);
  const finder = createNameFinder([...byName.keys()]);
  return {
    players: pseudonyms,
    of: (name) => byName.get(name) ?? somebody,
    isNoPlayer: (name) => hosts.has(name),
    nameOf: (pseudonym) => byPseudonym.get(pseudonym) ?? null,
    hide(text) {
      let count = 0;
      const hidden = finder.replace(text, (found, spelling) => {
        count += 1;
        return byName.get(found) ?? bySpelling.get(spelling) ?? somebody;
      });
      return { text: hidden, count };
    },
    sha256: sha256(`${dispatchId}\n${JSON.stringify([...byPseudonym])}`),
  };
}

const somebody = 'somebody';

/** A prefix that does not collide with names: if a player has the name `P1`, it is not used as a pseudonym. */
function prefixFor(players: readonly Player[]): string {
  const spellings = players.flatMap(({ name, alsoCalled }) => [name, ...alsoCalled].map(spellingOf));
  const isTaken = (letter: string) =>
    spellings.some((spelling) => new RegExp(`^${letter.toLowerCase()}[0-9]+$`).test(spelling));
  return [...'PQRSTUVWXYZ'].find((letter) => !isTaken(letter)) ?? 'Player-';
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
