import { type CapturedEvent, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import { matchesEventType } from '@hansard/events/plain';
import type { GameMapping } from './game-mapping.ts';

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
