/** A finished span or a log record in the form of the OpenTelemetry libraries (`ReadableSpan`, `ReadableLogRecord`). */
export type TraceRecord =
  | { readonly kind: 'span'; readonly span: SpanRecord }
  | { readonly kind: 'log'; readonly log: LogRecord };

interface SpanRecord {
  readonly name: string;
  /** `SpanKind` of `@opentelemetry/api`. */
  readonly kind: number;
  readonly spanContext: () => RecordContext;
  /** Absent for the root of the trace. */
  readonly parentSpanContext?: RecordContext;
  readonly startTime: RecordTime;
  readonly endTime: RecordTime;
  readonly duration: RecordTime;
  /** `SpanStatusCode` of `@opentelemetry/api`, and the message of an error if content was requested. */
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: RecordAttributes;
  readonly links: { readonly context: RecordContext; readonly attributes?: RecordAttributes }[];
  readonly events: never[];
  readonly ended: boolean;
  readonly resource: RecordResource;
  readonly instrumentationScope: RecordScope;
  readonly droppedAttributesCount: number;
  readonly droppedEventsCount: number;
  readonly droppedLinksCount: number;
}

interface LogRecord {
  readonly eventName?: string;
  readonly hrTime: RecordTime;
  readonly hrTimeObserved: RecordTime;
  readonly spanContext?: RecordContext;
  /** `SeverityNumber` of `@opentelemetry/api`. */
  readonly severityNumber?: number;
  /** The data of the event if content was requested. */
  readonly body?: unknown;
  readonly attributes: RecordAttributes;
  readonly resource: RecordResource;
  readonly instrumentationScope: RecordScope;
  readonly droppedAttributesCount: number;
}

/** Seconds since 1970, and nanoseconds within the second. */
type RecordTime = [seconds: number, nanoseconds: number];

interface RecordContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly traceFlags: number;
}

interface RecordAttributes {
  [name: string]: unknown;
}

interface RecordResource {
  readonly attributes: RecordAttributes;
}

interface RecordScope {
  readonly name: string;
  readonly version?: string;
  readonly schemaUrl?: string;
}
