import type { JsonValue } from '@hansard/events';
import { splitRecords } from './json-lines/split-records.ts';
import { isStreamMessage } from './stream/is-stream-message.ts';
import { isTranscriptRecord } from './transcript/is-transcript-record.ts';
import { asObject } from './values/json-fields.ts';

export type ClaudeFormatId = 'claude-transcript' | 'claude-stream';

/** Types that occur only in streams. */
const streamTypes = new Set(['result', 'stream_event', 'rate_limit_event', 'control_response']);

/** Detects the format from the start of a file, by the majority of its records. Null if no record is of either format. */
export function detectClaudeFormat(start: string): ClaudeFormatId | null {
  let balance = 0;
  for (const line of start.split('\n')) {
    for (const part of splitRecords(line)) {
      if (part.kind === 'record') balance += weigh(part.record);
    }
  }
  if (balance === 0) return null;
  return balance > 0 ? 'claude-transcript' : 'claude-stream';
}

function weigh(value: JsonValue): number {
  const record = asObject(value) ?? {};
  if (isTranscriptRecord(value) && !streamTypes.has(String(record.type))) return 1;
  return isStreamMessage(value) && 'session_id' in record ? -1 : 0;
}
