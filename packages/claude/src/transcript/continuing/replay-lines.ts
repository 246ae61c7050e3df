import type { LogPart } from '../../json-lines/log-parts.ts';
import { readParts } from '../../log/read-parts.ts';
import { isTranscriptRecord } from '../is-transcript-record.ts';
import type { SessionFile } from '../session-file.ts';
import type { ReadLine } from './line-window.ts';

/** A line to read again. */
export interface LineToReplay extends ReadLine {
  /** How many of its parts are read again, counted from the first. */
  readonly parts: number;
}

/** Reads some lines again, in their order, and gives their parts. @throws FORMAT_UNREADABLE */
export async function* replayLines(
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
