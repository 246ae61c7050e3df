import { type CapturedEvent, definedOnly, isEventOf } from '@hansard/events';
import { matchesEventType } from '@hansard/events/plain';
import { Cast, foldedName, type RosterEntry, rosterNewsOf } from '../game-streams/cast.ts';
import { createGameStreams } from '../game-streams/create-game-streams.ts';
import { type GameMappingInput, parseGameMapping } from '../game-streams/game-mapping.ts';
import type { StreamLine } from '../game-streams/stream-lines.ts';
import { spellingOf } from './names/fold.ts';

/** A participant of a dispatch, or a player that its log names. */
export interface Player {
  readonly name: string;
  /** Its id if it has a name, and its later names. */
  readonly alsoCalled: readonly string[];
  /** Whether it is an agent but not a player: events of the game name the players without it. */
  readonly isHost?: true;
  /** Of a host: its role in the mapping, which stands in the place of its names. */
  readonly role?: string;
  /** From the mapping: further whole names, the words that stand for the name alone, and abbreviations. */
  readonly aliases?: readonly string[];
  readonly parts?: readonly string[];
  readonly initials?: readonly string[];
}

/** Names of agents that lead a game and do not play, unless the game or its mapping says that they do. */
const hostNames: ReadonlySet<string> = new Set(
  'gamemaster gm dungeonmaster narrator moderator system host referee storyteller environment'.split(' '),
);

/**
 * All participants of a dispatch, including silent ones: every agent; every speaker, actor and receiver of a whisper; and
 * every player in the events of the mapping's `roles`. If events of the game name its players (`players`,
 * `living_players`) and each of them is an agent, any other agent is a host. The `names` of the mapping add names and decide who does not play.
 */
export async function playersOf(
  events: AsyncIterable<CapturedEvent>,
  mappingInput: GameMappingInput,
  dispatchId: string,
): Promise<readonly Player[]> {
  const mapping = parseGameMapping(mappingInput);
  const cast = new Cast(mapping);
  // Its lines are read for their names only, so the cast so far is enough. It learns from the streams.
  const streams = createGameStreams(mapping, { runId: dispatchId, cast });
  const named = new Map<string, string[]>();
  const agentIds = new Set<string>();
  const others = new Set<string>();
  const roster = new Map<string, RosterEntry>();
  for await (const event of events) {
    const { agentId } = event;
    if (agentId !== undefined) agentIds.add(agentId);
    if (isEventOf(event, 'agent:created') && event.data.name !== undefined)
      named.set(agentId ?? '', [...(named.get(agentId ?? '') ?? []), event.data.name]);
    addRole(event);
    for (const entry of rosterNewsOf(mapping, event)?.players ?? []) roster.set(JSON.stringify(entry), entry);
    addNames(streams.add(event));
  }
  addNames(streams.finish());
  const isAgent = (name: string) =>
    agentIds.has(name) || [...named.values()].some((names) => names.includes(name));
  const isWhole = roster.size > 0 && [...roster.values()].every((entry) => cast.of(entry).length > 0);
  const listed = new Set([...roster.values()].flatMap(({ names }) => names.map(foldedName)));
  const givenPlayers = bySpelling(mapping.names.players);
  const givenOthers = bySpelling(mapping.names.others);
  return gather(withRoster(named, cast, roster.values()), [...agentIds, ...others]).map((player): Player => {
    const names = [player.name, ...player.alsoCalled];
    const role = names.map((name) => givenOthers.get(spellingOf(name))).find((found) => found !== undefined);
    if (role !== undefined) return { ...player, isHost: true, role };
    const given = names
      .map((name) => givenPlayers.get(spellingOf(name)))
      .find((found) => found !== undefined);
    if (given !== undefined) return { ...player, ...definedOnly(given) };
    const isHost = isWhole
      ? names.some(isAgent) && !names.some((name) => listed.has(foldedName(name)))
      : names.some((name) => hostNames.has(spellingOf(name)));
    return isHost ? { ...player, isHost } : player;
  });

  function addRole({ type, data }: CapturedEvent): void {
    const { roles } = mapping;
    if (roles === undefined || !roles.events.some((pattern) => matchesEventType(pattern, type))) return;
    const player = data[roles.player];
    if (typeof player === 'string') others.add(player);
  }

  function addNames(lines: readonly StreamLine[]): void {
    for (const { line } of lines) {
      if ('speaker' in line) others.add(line.speaker);
      if ('agent' in line) others.add(line.agent);
      if ('to' in line) for (const name of line.to) others.add(name);
    }
  }
}

function bySpelling<T>(given: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(given).map(([name, value]) => [spellingOf(name), value]));
}

/** Adds what the game calls its players: to its agent if only one matches, else as somebody new. */
function withRoster(
  named: ReadonlyMap<string, readonly string[]>,
  cast: Cast,
  roster: Iterable<RosterEntry>,
): ReadonlyMap<string, readonly string[]> {
  const all = new Map(named);
  for (const entry of roster) {
    const [agentId, ...further] = cast.of(entry);
    const [first] = entry.names;
    if (first === undefined) continue;
    const key = agentId === undefined || further.length > 0 ? first : agentId;
    all.set(key, [...new Set([...(all.get(key) ?? []), ...entry.names])]);
  }
  return all;
}

function gather(named: ReadonlyMap<string, readonly string[]>, others: readonly string[]): Player[] {
  const players = new Map<string, Set<string>>();
  const nameOf = new Map<string, string>();
  for (const [agentId, names] of named) {
    const [first = agentId, ...later] = names.filter((name) => name.trim() !== '');
    const name = nameOf.get(first) ?? first;
    const alsoCalled = players.get(name) ?? new Set();
    for (const other of [first, ...later, agentId]) {
      if (!nameOf.has(other)) nameOf.set(other, name);
      if (other !== name && other !== '') alsoCalled.add(other);
    }
    if (name !== '') players.set(name, alsoCalled);
  }
  for (const name of others)
    if (name.trim() !== '' && !nameOf.has(name)) {
      nameOf.set(name, name);
      players.set(name, new Set());
    }
  return [...players].map(([name, alsoCalled]) => ({ name, alsoCalled: [...alsoCalled] }));
}
