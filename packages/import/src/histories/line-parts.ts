import { crc32 } from 'node:zlib';
import { asObject, readParts, recordsAtStart } from '@hansard/claude';
import { formatErrors, type JsonObject, type JsonValue } from '@hansard/events';
import { readHead } from '../find/read-source.ts';
import { assertKnown, emptyFile } from '../importers/choose-importer.ts';
import type { HistoryPart, HistoryReport } from './history-reading.ts';

/** More records show nothing else. */
const mostAtStart = 100;

/** The first hundred records of the start of a file, in lines or in a list. */
export function startRecords(text: string): JsonObject[] {
  const records: JsonObject[] = [];
  for (const record of recordsAtStart(text)) {
    records.push(asObject(record) ?? {});
    if (records.length === mostAtStart) break;
  }
  return records;
}

/**
 * Refuses a file before anything of it is recorded: it has no record, or less than half of those at its start are of the format.
 * @throws FORMAT_EMPTY, FORMAT_NO_RECORDS, IMPORT_FOREIGN
 */
export function assertRecords(file: string, as: string, isRecord: (value: JsonValue) => boolean): void {
  const { text, isCut } = readHead(file);
  const records = startRecords(text);
  if (records.length === 0) {
    if (text.trim() === '' && !isCut) throw emptyFile(file);
    throw formatErrors.error('FORMAT_NO_RECORDS', `${file} has no record of ${as}.`, { details: { file } });
  }
  assertKnown(file, as, { records: records.length, known: records.filter(isRecord).length });
}

/** The parts of a file of JSON lines. What is left of a record at the end is held back until it is complete. */
export async function* lineParts(
  file: string,
  isRecord: (value: JsonValue) => boolean,
  report: HistoryReport,
): AsyncGenerator<Iterable<HistoryPart>> {
  const state = { bytes: 0, line: 1 };
  let isUnfinished = false;
  const reported: Parameters<typeof readParts>[2] = (code, line, message) => {
    isUnfinished ||= code === 'unfinished';
    report(code, message, line);
  };
  for await (const lines of readParts(file, isRecord, reported)) yield partsOf(lines, state);
  const { bytes, line } = state;
  if (bytes === 0 && !isUnfinished) return;
  const facts = { place: 'end', line, bytes, checksum: 0, records: isUnfinished ? 1 : 0 };
  yield [{ kind: 'bytes', problem: isUnfinished ? 'unfinished' : 'blank', ...facts }];
}

function* partsOf(
  lines: Awaited<ReturnType<ReturnType<typeof readParts>['next']>>['value'],
  state: { bytes: number; line: number },
): Generator<HistoryPart> {
  for (const { parts, bytes: ofLine, isWhole } of lines ?? []) {
    state.bytes += ofLine;
    for (const part of parts) {
      const { line, part: number } = part;
      const place = `line-${line}${number === 1 ? '' : `:${number}`}`;
      const facts = { place, line, bytes: state.bytes };
      state.bytes = 0;
      state.line = line;
      if (part.kind === 'record')
        yield { kind: 'record', value: part.record, checksum: part.checksum, ...facts };
      else {
        const { raw = null, problem } = part;
        yield { kind: 'text', value: raw, problem, checksum: raw === null ? 0 : crc32(raw), ...facts };
      }
    }
    if (!isWhole || state.bytes === 0) continue;
    yield {
      kind: 'bytes',
      problem: 'blank',
      place: 'blank',
      line: state.line,
      bytes: state.bytes,
      checksum: 0,
    };
    state.bytes = 0;
  }
}
