import { JsonLogsSerializer, JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { TraceRecord } from '../trace-record.ts';
import { inBatches } from './batches.ts';

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
