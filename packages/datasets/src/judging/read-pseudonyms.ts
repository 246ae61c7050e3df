import type { CapturedEvent } from '@hansard/events';
import { type GameMappingInput, parseGameMapping } from '../game-streams/game-mapping.ts';
import { TakenPrefixes } from './names/taken-prefixes.ts';
import { playersOf } from './players-of.ts';
import { createPseudonyms, type Pseudonyms } from './pseudonyms.ts';

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
