import { definedOnly } from '@hansard/events';
import type { ExportResult } from '@opentelemetry/core';
import { ExportResultCode } from '@opentelemetry/core';
import { type IOtlpExportDelegate, OTLPExporterError } from '@opentelemetry/otlp-exporter-base';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import {
  type ISerializer,
  JsonLogsSerializer,
  JsonTraceSerializer,
  LogsExporterMetricsHelper,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer';
import { TraceError } from '../trace-error.ts';
import type { TraceRecord } from '../trace-record.ts';
import { inBatches } from './batches.ts';
import { shownEndpoint } from './shown-endpoint.ts';

export interface SendOptions {
  /** The time limit of one batch in milliseconds, including retries of the libraries. Absent: 10 seconds. */
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Sent {
  readonly spans: number;
  readonly logs: number;
}

/**
 * Sends records to an OTLP receiver over HTTP, as JSON: `ENDPOINT/v1/traces` and `ENDPOINT/v1/logs`. One batch at a time:
 * the next one is read when the receiver has accepted it. `OTEL_EXPORTER_OTLP_HEADERS` and the other settings of the libraries apply.
 *
 * @throws TRACE_ENDPOINT_INVALID, TRACE_RECEIVER_FAILED, TRACE_RECEIVER_REJECTED
 */
export async function sendOtlp(
  records: AsyncIterable<TraceRecord>,
  endpoint: string,
  options: SendOptions = {},
): Promise<Sent> {
  const base = checkedEndpoint(endpoint);
  const config = (path: string) => ({
    url: `${base}/${path}`,
    ...definedOnly({ timeoutMillis: options.timeoutMs }),
    ...(options.headers === undefined ? {} : { headers: { ...options.headers } }),
  });
  const answers = new Answers(shownEndpoint(endpoint));
  const json = { 'Content-Type': 'application/json' };
  const traces = createOtlpHttpExportDelegate(
    convertLegacyHttpOptions(config('v1/traces'), 'TRACES', 'v1/traces', json),
    answers.heardBy(JsonTraceSerializer),
    'otlp_http_json_span_exporter',
    TraceExporterMetricsHelper,
    undefined,
  );
  const logs = createOtlpHttpExportDelegate(
    convertLegacyHttpOptions(config('v1/logs'), 'LOGS', 'v1/logs', json),
    answers.heardBy(JsonLogsSerializer),
    'otlp_http_json_log_exporter',
    LogsExporterMetricsHelper,
    undefined,
  );
  const sent = { spans: 0, logs: 0 };
  try {
    for await (const batch of inBatches(records)) {
      if (batch.kind === 'spans') await answers.of(traces, batch.spans);
      else await answers.of(logs, batch.logs);
      sent.spans += batch.kind === 'spans' ? batch.spans.length : 0;
      sent.logs += batch.kind === 'logs' ? batch.logs.length : 0;
    }
  } finally {
    await traces.shutdown();
    await logs.shutdown();
  }
  return sent;
}

/** Turns a partial success into an error. The libraries only log it. */
class Answers {
  readonly #endpoint: string;
  #rejected: string | null = null;

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  heardBy<Records, Response>(serializer: ISerializer<Records, Response>): ISerializer<Records, Response> {
    return {
      serializeRequest: (records) => serializer.serializeRequest(records),
      deserializeResponse: (data) => {
        const response = serializer.deserializeResponse(data);
        this.#rejected = rejectionIn(response);
        return response;
      },
    };
  }

  async of<Records>(delegate: IOtlpExportDelegate<Records>, records: Records): Promise<void> {
    const result = await new Promise<ExportResult>((resolve) => delegate.export(records, resolve));
    if (result.code !== ExportResultCode.SUCCESS) throw this.#failure(result.error);
    if (this.#rejected === null) return;
    throw new TraceError('TRACE_RECEIVER_REJECTED', `${this.#endpoint} rejected a part: ${this.#rejected}`, {
      details: { endpoint: this.#endpoint, answer: this.#rejected },
    });
  }

  #failure(cause: Error | undefined): TraceError {
    const isAnswer = cause instanceof OTLPExporterError;
    const answer = isAnswer ? `${cause.code ?? ''} ${cause.message} ${cause.data ?? ''}` : cause?.message;
    const text = (answer ?? 'no answer').trim().slice(0, 500);
    return new TraceError('TRACE_RECEIVER_FAILED', `${this.#endpoint} did not accept the traces: ${text}`, {
      cause,
      details: { endpoint: this.#endpoint, ...(isAnswer ? { status: cause.code ?? null } : {}) },
    });
  }
}

function rejectionIn(response: unknown): string | null {
  const { partialSuccess } = (response ?? {}) as { partialSuccess?: Record<string, unknown> };
  const count = Number(partialSuccess?.rejectedSpans ?? partialSuccess?.rejectedLogRecords ?? 0);
  if (count === 0) return null;
  return `${count} rejected. ${String(partialSuccess?.errorMessage ?? '')}`.trim().slice(0, 500);
}

function checkedEndpoint(endpoint: string): string {
  const url = URL.parse(endpoint);
  if (url !== null && ['http:', 'https:'].includes(url.protocol) && url.search === '' && url.hash === '')
    return withoutLastSlashes(endpoint);
  throw new TraceError(
    'TRACE_ENDPOINT_INVALID',
    `${JSON.stringify(shownEndpoint(endpoint))} is not the address of an OTLP receiver.`,
    {
      details: { endpoint: shownEndpoint(endpoint) },
    },
  );
}

function withoutLastSlashes(text: string): string {
  let { length } = text;
  while (text[length - 1] === '/') length -= 1;
  return text.slice(0, length);
}
