import { definedOnly, defineErrors, type HansardError } from '@hansard/events';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
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
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { TraceRecord } from '../trace-record.ts';
import { inBatches } from './otlp-lines.ts';

/** The errors of traces. */
export const traceErrors = defineErrors('trace', {
  TRACE_ENDPOINT_INVALID: {
    when: 'The address of the receiver is not an `http:` or `https:` address, or has a query.',
    advice: 'Give its base address, such as `http://localhost:4318`; `/v1/traces` and `/v1/logs` are added.',
    details: ['endpoint'],
  },
  TRACE_RECEIVER_FAILED: {
    when: 'The receiver was not reached, or refused a batch after all retries. The message has its answer.',
    advice:
      'Check the address, that the receiver runs and accepts OTLP over HTTP, and its keys (`OTEL_EXPORTER_OTLP_HEADERS`). Export again: records that arrived before have the same ids and are kept once.',
    details: ['endpoint', 'status?'],
  },
  TRACE_RECEIVER_REJECTED: {
    when: 'The receiver accepted only a part of a batch.',
    advice: 'Read its answer; the usual reason is a size limit of the receiver. Export again.',
    details: ['endpoint', 'answer'],
  },
});

/** A record that the receiver refused because of its size (413). */
export interface RefusedRecord {
  readonly kind: 'span' | 'log';
  /** The name of the span, or of the event of the log record. */
  readonly name: string;
  /** 32 hexadecimal digits; null for a log record without a span. */
  readonly traceId: string | null;
  /** 16 hexadecimal digits. */
  readonly spanId: string | null;
}

/** Bytes. Receivers accept 4 MiB or more as a rule, and a proxy before them can accept less. */
const largestRequest = 2 * 1024 * 1024;

/**
 * Sends records to an OTLP receiver over HTTP, as JSON: `ENDPOINT/v1/traces` and `ENDPOINT/v1/logs`. One batch at a time:
 * the next one is read when the receiver has accepted it. A request has at most 2 MiB, unless one record is longer. One that is too large for
 * the receiver (413) is halved, down to one record, which is then named. `OTEL_EXPORTER_OTLP_HEADERS` and the other settings of the libraries apply.
 *
 * @throws TRACE_ENDPOINT_INVALID, TRACE_RECEIVER_FAILED, TRACE_RECEIVER_REJECTED
 */
export async function sendOtlp(
  records: AsyncIterable<TraceRecord>,
  endpoint: string,
  options: {
    /** The time limit of one batch in milliseconds, including retries of the libraries. Absent: 10 seconds. */
    readonly timeoutMs?: number;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<{
  readonly spans: number;
  readonly logs: number;
  /** The records that are too large for the receiver, each alone. */
  readonly refused: readonly RefusedRecord[];
}> {
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
  const sent = { spans: 0, logs: 0, refused: [] as RefusedRecord[] };
  try {
    for await (const batch of inBatches(records)) {
      if (batch.kind === 'spans') {
        const tooLarge = await sendParts(batch.spans, JsonTraceSerializer, (part) =>
          answers.of(traces, part),
        );
        sent.spans += batch.spans.length - tooLarge.length;
        sent.refused.push(...tooLarge.map(refusedSpan));
      } else {
        const tooLarge = await sendParts(batch.logs, JsonLogsSerializer, (part) => answers.of(logs, part));
        sent.logs += batch.logs.length - tooLarge.length;
        sent.refused.push(...tooLarge.map(refusedLog));
      }
    }
  } finally {
    await traces.shutdown();
    await logs.shutdown();
  }
  return sent;
}

/** Sends records in their order, in as few halves as the limits allow. @returns the records that are too large for the receiver */
async function sendParts<Item>(
  records: Item[],
  serializer: Pick<ISerializer<Item[], unknown>, 'serializeRequest'>,
  send: (part: Item[]) => Promise<void>,
): Promise<Item[]> {
  const isOne = records.length === 1;
  if (isOne || (serializer.serializeRequest(records)?.length ?? 0) <= largestRequest) {
    try {
      await send(records);
      return [];
    } catch (error) {
      if (!traceErrors.is(error, 'TRACE_RECEIVER_FAILED') || error.details.status !== 413) throw error;
      if (isOne) return records;
    }
  }
  const middle = Math.ceil(records.length / 2);
  return [
    ...(await sendParts(records.slice(0, middle), serializer, send)),
    ...(await sendParts(records.slice(middle), serializer, send)),
  ];
}

function refusedSpan(span: ReadableSpan): RefusedRecord {
  const { traceId, spanId } = span.spanContext();
  return { kind: 'span', name: span.name, traceId, spanId };
}

function refusedLog({ eventName = 'log record', spanContext }: ReadableLogRecord): RefusedRecord {
  return {
    kind: 'log',
    name: eventName,
    traceId: spanContext?.traceId ?? null,
    spanId: spanContext?.spanId ?? null,
  };
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
    throw traceErrors.error(
      'TRACE_RECEIVER_REJECTED',
      `${this.#endpoint} rejected a part: ${this.#rejected}`,
      {
        details: { endpoint: this.#endpoint, answer: this.#rejected },
      },
    );
  }

  #failure(cause: Error | undefined): HansardError {
    const isAnswer = cause instanceof OTLPExporterError;
    const answer = isAnswer ? `${cause.code ?? ''} ${cause.message} ${cause.data ?? ''}` : cause?.message;
    const text = (answer ?? 'no answer').trim().slice(0, 500);
    return traceErrors.error(
      'TRACE_RECEIVER_FAILED',
      `${this.#endpoint} did not accept the traces: ${text}`,
      {
        cause,
        details: { endpoint: this.#endpoint, ...(isAnswer ? { status: cause.code ?? null } : {}) },
      },
    );
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
  throw traceErrors.error(
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

const hidden = '(hidden)';

/** The address of a receiver for messages: without the user, the password and the query, which can be secrets. */
export function shownEndpoint(endpoint: string): string {
  const at = endpoint.lastIndexOf('@');
  const scheme = endpoint.indexOf('://');
  const start = scheme < 0 || scheme > at ? 0 : scheme + '://'.length;
  const address = at < 0 ? endpoint : `${endpoint.slice(0, start)}${hidden}${endpoint.slice(at)}`;
  const query = address.search(/[?#]/);
  return query < 0 ? address : `${address.slice(0, query + 1)}${hidden}`;
}
