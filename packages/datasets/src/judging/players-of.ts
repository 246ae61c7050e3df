import { type CapturedEvent, isEventOf } from '@hansard/events';
import type { StreamLine } from '@hansard/formats';
import { createGameStreams, type GameMappingInput, parseGameMapping, rosterNewsOf } from '@hansard/formats';
import { matchesEventType } from '@hansard/views';

/** A participant of a dispatch, or a player that its log names. */
export interface Player {
  readonly name: string;
  /** Its id if it has a name, and its later names. */
  readonly alsoCalled: readonly string[];
  /** Whether it is an agent but not a player: events of the game name the players without it. */
  readonly isHost?: true;
}

/**
 * All participants of a dispatch, including silent ones: every agent; every speaker, actor and receiver of a whisper; and
 * every player in the events of the mapping's `roles`. If events of the game name its players (`players`,
 * `living_players`), any other agent is a host.
 */
export async function playersOf(
  events: AsyncIterable<CapturedEvent>,
  mappingInput: GameMappingInput,
  dispatchId: string,
): Promise<readonly Player[]> {
  const mapping = parseGameMapping(mappingInput);
  const streams = createGameStreams(mapping, { runId: dispatchId });
  const named = new Map<string, string[]>();
  const agentIds = new Set<string>();
  const others = new Set<string>();
  const roster = new Set<string>();
  for await (const event of events) {
    const { agentId } = event;
    if (agentId !== undefined) agentIds.add(agentId);
    if (isEventOf(event, 'agent:created') && event.data.name !== undefined)
      named.set(agentId ?? '', [...(named.get(agentId ?? '') ?? []), event.data.name]);
    addRole(event);
    for (const player of rosterNewsOf(mapping, event)?.players ?? []) roster.add(player);
    addNames(streams.add(event));
  }
  addNames(streams.finish());
  const isAgent = (name: string) =>
    agentIds.has(name) || [...named.values()].some((names) => names.includes(name));
  return gather(named, [...agentIds, ...others, ...roster]).map((player) => {
    const names = [player.name, ...player.alsoCalled];
    const isHost = roster.size > 0 && names.some(isAgent) && !names.some((name) => roster.has(name));
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
