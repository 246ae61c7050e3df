import type { ClaudeDiagnosticCode } from '../json-lines/claude-diagnostic.ts';
import type { LogPart } from '../json-lines/log-parts.ts';
import { LogParts } from '../json-lines/log-parts.ts';
import { type FileLine, type ReadFrom, readLineGroups } from '../json-lines/read-lines.ts';
import type { IsRecord } from '../json-lines/split-records.ts';

export interface LinePartsRead {
  readonly parts: readonly LogPart[];
  /** Bytes of the line, including its end. */
  readonly bytes: number;
  /** Whether the next line begins a record of its own, whatever follows in the file. */
  readonly isWhole: boolean;
}

/** The parts of a file, line by line, in groups of lines. Each group can be iterated once. @throws FORMAT_UNREADABLE */
export async function* readParts(
  path: string,
  isRecord: IsRecord,
  report: (code: ClaudeDiagnosticCode, line: number, message: string) => void,
  from?: ReadFrom,
): AsyncGenerator<Iterable<LinePartsRead>> {
  const parts = new LogParts(isRecord, report);
  for await (const lines of readLineGroups(path, from)) yield partsOf(lines, parts);
  parts.end();
}

/** Parses line by line, so that the values of only one line are in memory. */
function* partsOf(lines: readonly FileLine[], parts: LogParts): Generator<LinePartsRead> {
  for (const line of lines) {
    const { bytes, isEnded } = line;
    yield {
      parts: parts.take(line),
      bytes: bytes + (isEnded ? 1 : 0),
      isWhole: isEnded && !parts.isOpen,
    };
  }
}
