import { type Fidelity, formatErrors, type JsonObject, shortened, toNarrative } from '@hansard/events';
import { asName, asObject } from './lines/json-fields.ts';
import { type FileLine, readLines } from './lines/read-lines.ts';
import { recordedTime } from './lines/recorded-time.ts';
import { type LinePart, splitRecords } from './lines/split-records.ts';
import { createClaudeMapping } from './map/create-claude-mapping.ts';
import type { ClaudeActivity } from './map/event-writer.ts';
import { newNotice } from './map/mapping-step.ts';

/**
 * Maps the lines of a recorded stream: the activities of each line, then those of the end. A message without a time gets
 * the latest time before it; before the first time, the first one; without any, `now`. After an abort it reads no
 * further line.
 * @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NOT_JSONL
 */
export async function* readClaudeStream(
  path: string,
  fidelity: Fidelity,
  now: () => number,
  signal: AbortSignal,
): AsyncGenerator<ClaudeActivity[]> {
  let clock = (await findClaudeStreamStart(path, signal)) ?? now();
  const mapping = createClaudeMapping({ fidelity, now: () => clock });
  let hasResult = false;
  for await (const line of readLines(path)) {
    if (signal.aborted) break;
    const activities = partsOf(line).flatMap((part) => {
      const place = { file: path, line: line.number };
      if (part.kind === 'damaged') {
        const event = newNotice(part.problem, place, clock, part.raw);
        return [{ kind: 'event' as const, event: fidelity === 'full' ? event : toNarrative(event) }];
      }
      clock = Math.max(clock, recordedTime(asObject(part.record) ?? {}) ?? clock);
      return mapping.map(part.record, place);
    });
    hasResult ||= activities.some(isResult);
    if (activities.length > 0) yield activities;
  }
  const last = mapping.finish();
  if (!hasResult && !signal.aborted) {
    const event = newNotice('the stream ends without a result', { file: path }, clock);
    last.push({ kind: 'event', event });
  }
  yield last;
}

function partsOf(line: FileLine): LinePart[] {
  if (line.isTooLong) {
    const problem = `a line of ${line.bytes} bytes, longer than the 100 MB that are read`;
    return [{ kind: 'damaged', problem, raw: line.text }];
  }
  if (line.text.trim() === '') return [];
  const parts = splitRecords(line.text);
  const problem = 'not UTF-8: the invalid bytes were replaced by U+FFFD';
  return line.isUtf8 ? parts : [{ kind: 'damaged', problem }, ...parts];
}

/**
 * The first recorded time of a file. Reads no further than that. Undefined if the file has none, or after an abort.
 * @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NOT_JSONL
 */
export async function findClaudeStreamStart(path: string, signal: AbortSignal): Promise<number | undefined> {
  let hasMessage = false;
  let firstLine: FileLine | undefined;
  for await (const line of readLines(path)) {
    if (signal.aborted) return undefined;
    if (line.text.trim() === '') continue;
    firstLine ??= line;
    for (const message of messagesOf(line)) {
      hasMessage = true;
      const time = recordedTime(message);
      if (time !== undefined) return time;
    }
  }
  if (hasMessage) return undefined;
  if (firstLine === undefined) {
    throw formatErrors.error('FORMAT_EMPTY', `The stream ${path} is empty.`, {
      details: { file: path },
    });
  }
  throw formatErrors.error(
    'FORMAT_NOT_JSONL',
    `${path} is not a recorded stream: none of its lines is a message, a JSON object with a type. ` +
      `Line ${firstLine.number} begins with ${JSON.stringify(shortened(firstLine.text, 60))}.`,
    { details: { file: path, line: firstLine.number } },
  );
}

function messagesOf(line: FileLine): JsonObject[] {
  return partsOf(line).flatMap((part) => {
    const message = part.kind === 'record' ? asObject(part.record) : undefined;
    return message === undefined || asName(message.type) === undefined ? [] : [message];
  });
}

function isResult(activity: ClaudeActivity): boolean {
  return activity.kind === 'event' && activity.event.type === 'session:complete';
}
