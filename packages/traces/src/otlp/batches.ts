import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { TraceRecord } from '../trace-record.ts';

/** The libraries' own size of a batch. */
const size = 512;

export type TraceBatch =
  | { readonly kind: 'spans'; readonly spans: ReadableSpan[] }
  | { readonly kind: 'logs'; readonly logs: ReadableLogRecord[] };

/** Records as what goes into one request: up to 512 spans, or up to 512 log records. */
export async function* inBatches(records: AsyncIterable<TraceRecord>): AsyncGenerator<TraceBatch> {
  let spans: ReadableSpan[] = [];
  let logs: ReadableLogRecord[] = [];
  for await (const record of records) {
    // Records of `traceDispatches` are whole objects of the libraries; their public type names no library.
    if (record.kind === 'span') spans.push(record.span as unknown as ReadableSpan);
    else logs.push(record.log as unknown as ReadableLogRecord);
    if (spans.length === size) {
      yield { kind: 'spans', spans };
      spans = [];
    }
    if (logs.length === size) {
      yield { kind: 'logs', logs };
      logs = [];
    }
  }
  if (spans.length > 0) yield { kind: 'spans', spans };
  if (logs.length > 0) yield { kind: 'logs', logs };
}
