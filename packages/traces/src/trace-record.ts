import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

/** A finished span or a log record, as the OpenTelemetry libraries take them. */
export type TraceRecord =
  | { readonly kind: 'span'; readonly span: ReadableSpan }
  | { readonly kind: 'log'; readonly log: ReadableLogRecord };
