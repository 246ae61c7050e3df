import { definedOnly, firstLine } from '@hansard/events';
import {
  type Attributes,
  type AttributeValue,
  type HrTime,
  type Link,
  type SeverityNumber,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions';
import { ATTR_LOG_RECORD_UID } from '@opentelemetry/semantic-conventions/incubating';
import type { TraceOptions } from '../trace-options.ts';
import type { TraceRecord } from '../trace-record.ts';

/** The schema URL of the names: the latest conventions in the libraries. */
const schemaUrl = 'https://opentelemetry.io/schemas/1.41.1';

export interface SpanDraft {
  readonly spanId: string;
  readonly parentSpanId: string | null;
  /** The name of the span is the operation, and its subject if there is one: `execute_tool Bash`. */
  readonly operation: string;
  readonly subject: string | null;
  readonly kind?: SpanKind;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  /** Names, ids, kinds and figures. Texts are cut to their first line, 200 characters at most. */
  readonly attributes: Attributes;
  /** Attributes with content, only if content was requested. They are written whole. */
  readonly content?: Attributes;
  readonly links?: readonly Link[];
  readonly droppedLinks?: number;
  /** The type of the error that ended it, and its message if content was requested. */
  readonly error?: { readonly message?: string };
}

export interface LogDraft {
  readonly spanId: string;
  readonly name: string;
  readonly time: number;
  readonly severity: SeverityNumber;
  /** The ids that make the record unique. Receivers may drop a second record of the same uid (`log.record.uid`). */
  readonly uid: readonly string[];
  /** As those of a span. */
  readonly attributes: Attributes;
  /** As that of a span; values can be objects. */
  readonly content?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** Creates the records of one trace, with their common fields. */
export class RecordFactory {
  readonly traceId: string;
  readonly #resource: Resource;
  readonly #scope: InstrumentationScope;
  readonly #common: Attributes;

  constructor(traceId: string, origin: RecordOrigin, common: Attributes) {
    this.traceId = traceId;
    this.#resource = origin.resource;
    this.#scope = origin.scope;
    this.#common = asNames(common);
  }

  span(draft: SpanDraft): TraceRecord {
    const { traceId } = this;
    const context = contextOf(traceId, draft.spanId);
    // If the clock was set back, the span ends at its start, not before it.
    const end = Math.max(draft.start, draft.end);
    return {
      kind: 'span',
      span: {
        name: spanName(draft),
        kind: draft.kind ?? SpanKind.INTERNAL,
        spanContext: () => context,
        ...(draft.parentSpanId === null ? {} : { parentSpanContext: contextOf(traceId, draft.parentSpanId) }),
        startTime: hrTime(draft.start),
        endTime: hrTime(end),
        duration: hrTime(end - draft.start),
        status:
          draft.error === undefined
            ? { code: SpanStatusCode.UNSET }
            : { code: SpanStatusCode.ERROR, ...draft.error },
        attributes: { ...this.#common, ...asNames(draft.attributes), ...draft.content },
        links: (draft.links ?? []).map(({ attributes = {}, ...link }) => ({
          ...link,
          attributes: asNames(attributes),
        })),
        events: [],
        ended: true,
        resource: this.#resource,
        instrumentationScope: this.#scope,
        droppedAttributesCount: 0,
        droppedEventsCount: 0,
        droppedLinksCount: draft.droppedLinks ?? 0,
      },
    };
  }

  log(draft: LogDraft): TraceRecord {
    const time = hrTime(draft.time);
    return {
      kind: 'log',
      log: {
        hrTime: time,
        hrTimeObserved: time,
        spanContext: contextOf(this.traceId, draft.spanId),
        severityNumber: draft.severity,
        eventName: draft.name,
        ...definedOnly({ body: draft.body }),
        attributes: {
          ...this.#common,
          ...asNames(draft.attributes),
          ...draft.content,
          [ATTR_LOG_RECORD_UID]: draft.uid.map(asName).join(':'),
        },
        droppedAttributesCount: 0,
        resource: this.#resource,
        instrumentationScope: this.#scope,
      },
    };
  }
}

/** The resource of an export. One object for all records, because the libraries group by identity. */
export interface RecordOrigin {
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
}

export function createOrigin({ serviceName = 'hansard', serviceVersion }: TraceOptions): RecordOrigin {
  return {
    resource: resourceFromAttributes({
      [ATTR_SERVICE_NAME]: serviceName,
      ...definedOnly({ [ATTR_SERVICE_VERSION]: serviceVersion }),
    }),
    scope: { name: '@hansard/traces', schemaUrl },
  };
}

/** The name of a span, of which only the subject is from the log. */
function spanName({ operation, subject }: SpanDraft): string {
  const name = subject === null ? '' : asName(subject);
  return name === '' ? operation : `${operation} ${name}`;
}

/** Attributes of a log's names. A source can write anything into a name, so each is cut here, and nowhere else. */
function asNames(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, asNameValue(value)]));
}

function asNameValue(value: AttributeValue | undefined): AttributeValue | undefined {
  if (typeof value === 'string') return asName(value);
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string').map(asName);
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

function asName(text: string): string {
  return firstLine(text) ?? '';
}

export function contextOf(traceId: string, spanId: string): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED };
}

function hrTime(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1_000);
  return [seconds, Math.round((milliseconds - seconds * 1_000) * 1_000_000)];
}
