import {
  type CapturedEvent,
  isEventOf,
  isPlainObject,
  type JsonObject,
  type JsonValue,
} from '@hansard/events';
import { matchesEventType } from '@hansard/events/plain';
import { PresentAgents } from '@hansard/views';
import { type GameMapping, type GameMappingInput, parseGameMapping } from './game-mapping.ts';

/** An agent of a log, under every name that it ever had. */
interface CastMember {
  readonly agentId: string;
  readonly names: Set<string>;
  /** Whether the log records when it came. */
  isCreated: boolean;
}

/**
 * The agents of a game that take part, and which of them its lists mean. Read it from the whole log of a dispatch before anything else: an
 * agent whose creation is not recorded was perhaps there before it appears.
 */
export class Cast {
  readonly #present = new PresentAgents();
  readonly #members = new Map<string, CastMember>();
  readonly #byName = new Map<string, Set<string>>();
  /** The names that the mapping gives one player, by each of them. */
  readonly #given = new Map<string, readonly string[]>();
  readonly #hosts: ReadonlySet<string>;

  /** @throws FORMAT_MAPPING_INVALID */
  constructor(mapping: GameMappingInput) {
    const { players, others } = parseGameMapping(mapping).names;
    for (const [name, { aliases = [] }] of Object.entries(players)) {
      const group = [name, ...aliases].map(foldedName);
      for (const one of group) this.#given.set(one, [...(this.#given.get(one) ?? []), ...group]);
    }
    this.#hosts = new Set(Object.keys(others).map(foldedName));
  }

  observe(event: CapturedEvent): void {
    const { agentId = '' } = event;
    this.#present.observe(event);
    if (this.#present.has(agentId) && !this.#members.has(agentId)) {
      this.#members.set(agentId, { agentId, names: new Set(), isCreated: agentId === '' });
      this.#addName(agentId, agentId === '' ? 'dispatched agent' : agentId);
    }
    if (!isEventOf(event, 'agent:created')) return;
    const member = this.#members.get(agentId);
    if (member !== undefined) member.isCreated = true;
    this.#addName(agentId, event.data.name ?? '');
  }

  get members(): readonly CastMember[] {
    return [...this.#members.values()];
  }

  /** Whether the mapping says that an agent does not play. */
  isHost({ names }: CastMember): boolean {
    return [...names].some((name) => this.#hosts.has(name));
  }

  /** The ids of all agents that an entry can mean. */
  of({ names }: RosterEntry): string[] {
    return [...new Set(names.flatMap((name) => [...(this.#byName.get(foldedName(name)) ?? [])]))];
  }

  /** The ids of the agents that a list means; null if one of its entries has no agent of its own, or it has no entries. */
  ofAll(entries: readonly RosterEntry[]): ReadonlySet<string> | null {
    const claimed = new Set<string>();
    const listed = new Map(entries.map((entry) => [JSON.stringify([entry.names, entry.text]), entry]));
    for (const entry of listed.values()) {
      const own = this.of(entry).find((agentId) => !claimed.has(agentId));
      if (own === undefined) return null;
      claimed.add(own);
    }
    return listed.size === 0 ? null : new Set(entries.flatMap((entry) => this.of(entry)));
  }

  #addName(agentId: string, given: string): void {
    const folded = foldedName(given);
    if (folded === '') return;
    for (const name of [folded, ...(this.#given.get(folded) ?? [])]) {
      this.#members.get(agentId)?.names.add(name);
      this.#byName.set(name, (this.#byName.get(name) ?? new Set()).add(agentId));
    }
  }
}

/** The cast of a log, from one reading. @throws FORMAT_MAPPING_INVALID */
export async function readCast(
  events: AsyncIterable<CapturedEvent> | Iterable<CapturedEvent>,
  mapping: GameMappingInput,
): Promise<Cast> {
  const cast = new Cast(mapping);
  for await (const event of events) cast.observe(event);
  return cast;
}

/** A player as a list of the game names it. */
export interface RosterEntry {
  /** Its name and its ids, the name first. Empty if the entry has none that can be read. */
  readonly names: readonly string[];
  /** The entry in words, for reports. */
  readonly text: string;
}

/** The players that an event of the game names, in the terms of game logs. */
export interface RosterNews {
  /** All players. */
  readonly players: readonly RosterEntry[];
  /** The players that still take part; null if the event does not say. */
  readonly living: readonly RosterEntry[] | null;
  /** The player that no longer takes part. */
  readonly died: RosterEntry | null;
  /** Whether a game begins, with all its players. */
  readonly isStart: boolean;
}

/** Reads `players`, `living_players` and, for a death, `player` from the data of a game event or from its payload. */
export function rosterNewsOf({ gameEvents }: GameMapping, { type, data }: CapturedEvent): RosterNews | null {
  if (!gameEvents.events.some((pattern) => matchesEventType(pattern, type))) return null;
  const places = [data, data.payload, gameEvents.payload === undefined ? null : data[gameEvents.payload]];
  const found: JsonObject = Object.assign({}, ...places.filter(isPlainObject));
  const living = entriesIn(found.living_players);
  const players = entriesIn(found.players) ?? [];
  const died = type.endsWith(':death') && found.player !== undefined ? entryOf(found.player) : null;
  const hasDied = died !== null && died.names.length > 0;
  if (players.length === 0 && living === null && !hasDied) return null;
  return {
    players: players.length === 0 ? (living ?? []) : players,
    living,
    died: hasDied ? died : null,
    isStart: /:(game_)?start$/.test(type),
  };
}

/** How names are compared: without regard to case and to space around them. */
export function foldedName(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

/** A list of players, or an object with a key for each. A number is only their count, and null says nothing. */
function entriesIn(value: JsonValue | undefined): readonly RosterEntry[] | null {
  if (Array.isArray(value)) return value.map((entry) => entryOf(entry));
  if (isPlainObject(value))
    return Object.entries(value).map(([key, entry]) => entryOf(isPlainObject(entry) ? entry : key, [key]));
  return typeof value === 'string' ? [{ names: [], text: shortened(value) }] : null;
}

function entryOf(value: JsonValue, keys: readonly string[] = []): RosterEntry {
  const given = isPlainObject(value)
    ? [value.name, ...keys, value.id, value.agent_id, value.agentId]
    : [value];
  const names = given.filter((name): name is string => typeof name === 'string' && name.trim() !== '');
  return { names: [...new Set(names)], text: names[0] ?? shortened(JSON.stringify(value)) };
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
