import type { CapturedEvent, JsonValue } from '@hansard/events';
import { type GameMappingInput, parseGameMapping } from '../game-streams/game-mapping.ts';
import { playersOf } from './players-of.ts';
import { createPseudonyms, type Pseudonyms } from './pseudonyms.ts';

const numbered = /(?<![A-Za-z0-9])([P-Zp-z]{1,3})[0-9]{1,6}(?![A-Za-z0-9])/g;

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
