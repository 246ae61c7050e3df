import type { JsonValue } from '@hansard/events';
import type { OpenFile } from '../open-file.ts';
import type { ReadingOutput } from '../reading-output.ts';
import type { MappingFacts } from '../transcript-mapping.ts';
import { type KeptReading, keptVersion } from './kept-reading.ts';
import type { NeededLines } from './needed-lines.ts';

interface EndedReading {
  readonly continuation: string | null;
  readonly open: readonly OpenFile[];
  readonly needed: NeededLines;
  readonly facts: MappingFacts;
  readonly output: ReadingOutput;
}

/** What a later reading needs to continue a complete one; null if it has to read everything. */
export function keepReading({ continuation, open, needed, facts, output }: EndedReading): JsonValue | null {
  const lines = needed.collect();
  if (lines === null) return null;
  const { openCalls, openMessages, openAgents } = needed;
  const mayComeAgain = new Set(openAgents.map((agent) => `${agent}:created`));
  const kept: KeptReading = {
    version: keptVersion,
    continuation,
    files: open.map((file, number) => file.keep(needed.horizonOf(number))),
    lines: lines.map(({ file, offset, line }) => [file, offset, line]),
    facts,
    counts: output.counts,
    model: output.model,
    lostAgents: needed.reported,
    openCalls,
    openMessages,
    ended: output.ended.filter(([id]) => mayComeAgain.has(id)),
  };
  return kept as unknown as JsonValue;
}
