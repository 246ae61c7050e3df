import { asObject } from '../../values/json-fields.ts';
import type { OpenFile } from '../open-file.ts';
import type { SessionFile } from '../session-file.ts';
import type { TranscriptMapping } from '../transcript-mapping.ts';
import type { KeptReading } from './kept-reading.ts';
import { countedMessage, type NeededLines } from './needed-lines.ts';
import { replayLines } from './replay-lines.ts';

/** What an earlier reading kept, and the number that each of its files has in this one. */
export interface EarlierReading {
  readonly kept: KeptReading;
  readonly places: readonly number[];
}

interface Recalling {
  readonly files: readonly SessionFile[];
  readonly open: readonly OpenFile[];
  readonly needed: NeededLines;
  readonly mapping: TranscriptMapping;
  readonly nextOrder: () => number;
}

/** Maps the lines of an earlier reading that may still matter, and drops their events, which are known. */
export async function recall(
  { kept, places }: EarlierReading,
  { files, open, needed, mapping, nextOrder }: Recalling,
): Promise<void> {
  const offsets = new Map(kept.files.map(({ offset }, at) => [places[at], offset]));
  const lines = kept.lines.map(([of, offset, line]) => {
    const file = places[of] ?? 0;
    const isCurrent = offsets.get(file) === offset;
    const parts = isCurrent ? (open[file]?.partsBefore ?? 0) : Number.POSITIVE_INFINITY;
    return { file, offset, line, parts, order: 0, time: Number.NEGATIVE_INFINITY };
  });
  const openMessages = new Set(kept.openMessages.map((name) => name.slice(name.indexOf(' ') + 1)));
  for await (const [line, part] of replayLines(files, lines)) {
    const file = open[line.file];
    if (file === undefined) continue;
    mapping.enter(file.state);
    if (line.parts < Number.POSITIVE_INFINITY) file.current = line;
    if (line.order === 0) line.order = nextOrder();
    const record = part.kind === 'record' ? asObject(part.record) : undefined;
    const messageId = record === undefined ? null : countedMessage(record);
    if (messageId !== null && messageId !== '' && !openMessages.has(messageId))
      mapping.noteCounted(messageId);
    const reported = mapping.reportedAgent(part);
    needed.observe(line, part, reported?.agentId, mapping.map(part));
  }
  for (const { current } of open) if (current.order === 0) current.order = nextOrder();
  for (const [at, file] of kept.files.entries()) {
    const number = places[at] ?? 0;
    if (file.bytes > 0) open[number]?.continueAfter(file);
    needed.setHorizon(number, file.horizon);
  }
  needed.retain(new Set(kept.openCalls), new Set(kept.openMessages));
  mapping.continueAfter(kept);
}
