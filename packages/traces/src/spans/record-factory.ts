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
import { hansard } from './attributes.ts';

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
  readonly #closed: ClosedSpans;

  /** `closed`: shared by the dispatches of an export. */
  constructor(traceId: string, origin: RecordOrigin, common: Attributes, closed: ClosedSpans) {
    this.traceId = traceId;
    this.#closed = closed;
    this.#resource = origin.resource;
    this.#scope = origin.scope;
    this.#common = asNames(common);
  }

  span(draft: SpanDraft): TraceRecord {
    const { traceId } = this;
    const context = contextOf(traceId, draft.spanId);
    // If the clock was set back, the span ends at its start, not before it.
    const end = Math.max(draft.start, draft.end);
    const parentSpanId = this.#closed.parentOf(draft.parentSpanId, end);
    if (draft.kind !== SpanKind.CLIENT) this.#closed.add(draft.spanId, { end, parentSpanId });
    const outlived = parentSpanId === draft.parentSpanId ? null : draft.parentSpanId;
    const links = [
      ...(outlived === null
        ? []
        : [{ context: contextOf(traceId, outlived), attributes: { [hansard.link]: 'parent' } }]),
      ...(draft.links ?? []),
    ];
    return {
      kind: 'span',
      span: {
        name: spanName(draft),
        kind: draft.kind ?? SpanKind.INTERNAL,
        spanContext: () => context,
        ...(parentSpanId === null ? {} : { parentSpanContext: contextOf(traceId, parentSpanId) }),
        startTime: hrTime(draft.start),
        endTime: hrTime(end),
        duration: hrTime(end - draft.start),
        status:
          draft.error === undefined
            ? { code: SpanStatusCode.UNSET }
            : { code: SpanStatusCode.ERROR, ...draft.error },
        attributes: { ...this.#common, ...asNames(draft.attributes), ...draft.content },
        links: links.map(({ attributes = {}, ...link }) => ({
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

/** The number of closed spans that a later span can be below. */
const mostClosed = 16_384;

/** The spans that are over. A span that ends later than its parent gets the nearest one around it that does not, and a link to its parent. */
export class ClosedSpans {
  readonly #spans = new Map<string, { readonly end: number; readonly parentSpanId: string | null }>();

  add(spanId: string, span: { readonly end: number; readonly parentSpanId: string | null }): void {
    this.#spans.set(spanId, span);
    if (this.#spans.size <= mostClosed) return;
    for (const oldest of this.#spans.keys()) {
      this.#spans.delete(oldest);
      break;
    }
  }

  /** Null: no span around it is open or ends as late. */
  parentOf(spanId: string | null, end: number): string | null {
    const seen = new Set<string>();
    let parent = spanId;
    while (parent !== null && !seen.has(parent)) {
      const span = this.#spans.get(parent);
      if (span === undefined || span.end >= end) return parent;
      seen.add(parent);
      parent = span.parentSpanId;
    }
    return null;
  }
}

/** The name of a span, of which only the subject is from the log. A path or an address is only in the attributes. */
function spanName({ operation, subject }: SpanDraft): string {
  const name = subject === null ? '' : asName(subject);
  return name === '' || isPlace(name) ? operation : `${operation} ${name}`;
}

/** Whether a text is or has a path or a URL. The name of a model can have a slash. */
function isPlace(text: string): boolean {
  return (
    text.includes('://') ||
    /^(?:www\.|mailto:|data:|file:)/i.test(text) ||
    /(?:^|[\s:='"(])(?:~|\.{1,2})?[/\\]/.test(text) ||
    /(?:^|[\s:='"(])[a-z]:[/\\]/i.test(text) ||
    /\\\S/.test(text) ||
    text.split(/\s/).some((word) => word.includes('/') && /\.[a-z]{1,5}$/i.test(word))
  );
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
