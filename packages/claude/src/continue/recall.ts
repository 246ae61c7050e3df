import type { JsonValue } from '@hansard/events';
import { asObject } from '../lines/json-fields.ts';
import { type LogPart, readParts } from '../lines/log-parts.ts';
import type { MappingFacts, TranscriptMapping } from '../map/transcript-mapping.ts';
import type { KeptBeside } from './beside-session.ts';
import {
  isTranscriptRecord,
  type KeptReading,
  keptVersion,
  type OpenFile,
  type ReadingOutput,
  type SessionFile,
} from './kept-reading.ts';
import { countedMessage, type NeededLines, type ReadLine } from './needed-lines.ts';

/** A line to read again. */
interface LineToReplay extends ReadLine {
  /** How many of its parts are read again, counted from the first. */
  readonly parts: number;
}

/** Reads some lines again, in their order, and gives their parts. @throws FORMAT_UNREADABLE */
async function* replayLines(
  files: readonly SessionFile[],
  lines: readonly LineToReplay[],
): AsyncGenerator<readonly [line: LineToReplay, part: LogPart]> {
  for (let at = 0; at < lines.length; ) {
    const first = lines[at];
    if (first === undefined) return;
    let { offset } = first;
    let left = first.parts;
    // Lines that follow each other are read at once.
    reading: for await (const group of readParts(
      files[first.file]?.path ?? '',
      isTranscriptRecord,
      () => {},
      first,
    ))
      for (const { parts, bytes, isWhole } of group) {
        const line = lines[at];
        if (line === undefined) return;
        for (const part of parts.slice(0, left)) yield [line, part];
        left -= parts.length;
        offset += bytes;
        if (!isWhole && left > 0) continue;
        at += 1;
        const next = lines[at];
        if (!isWhole || next === undefined || next.file !== first.file || next.offset !== offset)
          break reading;
        left = next.parts;
      }
    // Its line was not complete.
    if (lines[at] === first) at += 1;
  }
}

interface EndedReading {
  readonly continues: string | null;
  readonly open: readonly OpenFile[];
  readonly needed: NeededLines;
  readonly facts: MappingFacts;
  readonly beside: readonly KeptBeside[];
  readonly output: ReadingOutput;
}

/** What a later reading needs to continue a complete one; null if it has to read everything. */
export function keepReading({
  continues,
  open,
  needed,
  facts,
  beside,
  output,
}: EndedReading): JsonValue | null {
  const lines = needed.collect();
  if (lines === null) return null;
  const { openCalls, openMessages, openAgents } = needed;
  const mayComeAgain = new Set(openAgents.map((agent) => `${agent}:created`));
  const kept: KeptReading = {
    version: keptVersion,
    continues,
    files: open.map((file, number) => file.keep(needed.horizonOf(number))),
    lines: lines.map(({ file, offset, line }) => [file, offset, line]),
    facts,
    beside,
    counts: output.counts,
    model: output.model,
    lostAgents: needed.reported,
    openCalls,
    openMessages,
    ended: output.ended.filter(([id]) => mayComeAgain.has(id)),
  };
  return kept as unknown as JsonValue;
}

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
