import { JsonLogsSerializer, JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { TraceRecord } from '../trace-record.ts';

/** The default batch size of the OpenTelemetry libraries. */
const size = 512;

type TraceBatch =
  | { readonly kind: 'spans'; readonly spans: ReadableSpan[] }
  | { readonly kind: 'logs'; readonly logs: ReadableLogRecord[] };

/** Groups records into requests of up to 512 spans, or up to 512 log records. */
export async function* inBatches(records: AsyncIterable<TraceRecord>): AsyncGenerator<TraceBatch> {
  let spans: ReadableSpan[] = [];
  let logs: ReadableLogRecord[] = [];
  for await (const record of records) {
    // Records of `traceDispatches` are objects of the libraries, but their public type does not depend on a library.
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

/** Records as the lines of an OTLP/JSON file: one export request per line, of spans or of log records. */
export async function* otlpLines(records: AsyncIterable<TraceRecord>): AsyncGenerator<{
  /** One export request of OTLP/JSON with its line end. */
  readonly text: string;
  readonly spans: number;
  readonly logs: number;
}> {
  const decoder = new TextDecoder();
  for await (const batch of inBatches(records)) {
    const bytes =
      batch.kind === 'spans'
        ? JsonTraceSerializer.serializeRequest(batch.spans)
        : JsonLogsSerializer.serializeRequest(batch.logs);
    yield {
      text: `${decoder.decode(bytes)}\n`,
      spans: batch.kind === 'spans' ? batch.spans.length : 0,
      logs: batch.kind === 'logs' ? batch.logs.length : 0,
    };
  }
}
