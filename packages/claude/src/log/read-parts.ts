import type { ClaudeDiagnosticCode } from '../json-lines/claude-diagnostic.ts';
import type { LogPart } from '../json-lines/log-parts.ts';
import { LogParts } from '../json-lines/log-parts.ts';
import { type FileLine, readLineGroups } from '../json-lines/read-lines.ts';
import type { IsRecord } from '../json-lines/split-records.ts';

export interface LinePartsRead {
  readonly parts: readonly LogPart[];
  /** Bytes of the line, its end included. */
  readonly bytes: number;
}

/** What stands in a file, line by line, the lines in groups; each group can be gone through once. @throws FORMAT_UNREADABLE */
export async function* readParts(
  path: string,
  isRecord: IsRecord,
  report: (code: ClaudeDiagnosticCode, line: number, message: string) => void,
): AsyncGenerator<Iterable<LinePartsRead>> {
  const parts = new LogParts(isRecord, report);
  for await (const lines of readLineGroups(path)) yield partsOf(lines, parts);
  parts.end();
}

/** One line after the other, so that the values of no more than one are in memory. */
function* partsOf(lines: readonly FileLine[], parts: LogParts): Generator<LinePartsRead> {
  for (const line of lines) {
    yield { parts: parts.take(line), bytes: line.bytes + (line.isEnded ? 1 : 0) };
  }
}
