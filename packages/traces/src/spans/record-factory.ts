import { definedOnly } from '@hansard/events';
import {
  type Attributes,
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
import type { TraceOptions } from '../trace-options.ts';
import type { TraceRecord } from '../trace-record.ts';

/** The schema URL of the names: the latest conventions in the libraries. */
const schemaUrl = 'https://opentelemetry.io/schemas/1.41.1';

export interface SpanDraft {
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind?: SpanKind;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
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
  readonly attributes: Attributes;
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
    this.#common = common;
  }

  span(draft: SpanDraft): TraceRecord {
    const { traceId } = this;
    const context = contextOf(traceId, draft.spanId);
    // If the clock was set back, the span ends at its start, not before it.
    const end = Math.max(draft.start, draft.end);
    return {
      kind: 'span',
      span: {
        name: draft.name,
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
        attributes: { ...this.#common, ...draft.attributes },
        links: [...(draft.links ?? [])],
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
        attributes: { ...this.#common, ...draft.attributes },
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

export function contextOf(traceId: string, spanId: string): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED };
}

function hrTime(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1_000);
  return [seconds, Math.round((milliseconds - seconds * 1_000) * 1_000_000)];
}
