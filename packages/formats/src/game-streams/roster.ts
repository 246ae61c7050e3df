import { type CapturedEvent, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import { matchesEventType } from '@hansard/views';
import type { GameMapping } from './game-mapping.ts';

/** The players that an event of the game names, in the terms of game logs. */
export interface RosterNews {
  /** All players. */
  readonly players: readonly string[];
  /** The players that still take part; null if the event does not say. */
  readonly living: readonly string[] | null;
  /** The player that no longer takes part. */
  readonly died: string | null;
}

/** Reads `players`, `living_players` and, for a death, `player` from the data of a game event or from its payload. */
export function rosterNewsOf({ gameEvents }: GameMapping, { type, data }: CapturedEvent): RosterNews | null {
  if (!gameEvents.events.some((pattern) => matchesEventType(pattern, type))) return null;
  const places = [data, data.payload, gameEvents.payload === undefined ? null : data[gameEvents.payload]];
  const found: JsonObject = Object.assign({}, ...places.filter(isPlainObject));
  const living = Array.isArray(found.living_players) ? namesIn(found.living_players) : null;
  const died = type.endsWith(':death') && typeof found.player === 'string' ? found.player : null;
  const players = namesIn(found.players);
  if (players.length === 0 && living === null && died === null) return null;
  return { players: players.length === 0 ? (living ?? []) : players, living, died };
}

/** A list of names, or an object with a key for each. */
function namesIn(value: JsonValue | undefined): string[] {
  if (isPlainObject(value)) return Object.keys(value);
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}
