import type { CapturedEvent, NewEvent, TaskSource } from '@hansard/events';
import { readCast } from '../game-streams/cast.ts';
import type { GameMapping } from '../game-streams/game-mapping.ts';
import { indexPackets } from './index-packets.ts';
import { readPseudonyms } from './pseudonyms.ts';
import { readVerdicts } from './read-verdicts.ts';

export interface NewVerdicts {
  /** The verdicts that the log does not have yet, to be appended. */
  readonly events: readonly NewEvent[];
  /** How many verdicts of the file the log has already. */
  readonly existing: number;
}

/**
 * The verdicts of a file on the packets of a dispatch, with the names and events of its log. The packets are made again, and must be those
 * that the verdicts are about. `file`: its name, for messages.
 * @throws FORMAT_VERDICT_INVALID, FORMAT_MAPPING_INVALID, FORMAT_NAME_TOO_LONG
 */
export async function newVerdicts(
  { readEvents }: Pick<TaskSource, 'readEvents'>,
  dispatchId: string,
  { text, file, mapping }: { readonly text: string; readonly file: string; readonly mapping: GameMapping },
): Promise<NewVerdicts> {
  const cast = await readCast(readEvents(dispatchId), mapping);
  const pseudonyms = await readPseudonyms(readEvents(dispatchId), mapping, dispatchId);
  const known = new Set<string>();
  const read = noteVerdicts(readEvents(dispatchId), known);
  const packets = await indexPackets(read, { mapping, dispatchId, pseudonyms, cast });
  const all = readVerdicts(text, { file, packets, pseudonyms });
  const events = all.filter(({ id }) => !known.has(id ?? ''));
  return { events, existing: all.length - events.length };
}

/** Yields the events unchanged and adds the ids of verdicts to `ids`. */
async function* noteVerdicts(
  events: AsyncIterable<CapturedEvent>,
  ids: Set<string>,
): AsyncGenerator<CapturedEvent> {
  for await (const event of events) {
    if (event.type === 'judge:verdict') ids.add(event.id);
    yield event;
  }
}
