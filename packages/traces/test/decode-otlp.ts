import { enums, type FieldType, messages } from './otlp-schema.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ReceivedLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: Fields;
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: Fields;
  readonly links: readonly ReceivedLink[];
}

export interface ReceivedLog {
  readonly traceId: string;
  readonly spanId: string;
  readonly name: string;
  readonly time: bigint;
  readonly severity: number;
  readonly attributes: Fields;
  readonly body: unknown;
}

/** The spans of one request. @throws Error that names the field which OTLP does not allow */
export function decodeSpans(request: unknown): ReceivedSpan[] {
  check(request, 'ExportTraceServiceRequest', 'request');
  return inScopes(request, 'resourceSpans', 'scopeSpans', 'spans').map((span) => ({
    traceId: text(span.traceId),
    spanId: text(span.spanId),
    parentSpanId: span.parentSpanId === undefined ? undefined : text(span.parentSpanId),
    name: text(span.name),
    kind: Number(span.kind),
    start: BigInt(text(span.startTimeUnixNano)),
    end: BigInt(text(span.endTimeUnixNano)),
    status: span.status as ReceivedSpan['status'],
    attributes: attributesOf(span),
    links: list(span.links).map((link) => ({
      traceId: text(link.traceId),
      spanId: text(link.spanId),
      attributes: attributesOf(link),
    })),
  }));
}

/** The log records of one request. @throws Error that names the field which OTLP does not allow */
export function decodeLogs(request: unknown): ReceivedLog[] {
  check(request, 'ExportLogsServiceRequest', 'request');
  return inScopes(request, 'resourceLogs', 'scopeLogs', 'logRecords').map((log) => ({
    traceId: text(log.traceId),
    spanId: text(log.spanId),
    name: text(log.eventName),
    time: BigInt(text(log.timeUnixNano)),
    severity: Number(log.severityNumber),
    attributes: attributesOf(log),
    body: anyValueOf(log.body as Fields),
  }));
}

function inScopes(request: unknown, resources: string, scopes: string, records: string): Fields[] {
  return list((request as Fields)[resources])
    .flatMap((resource) => list(resource[scopes]))
    .flatMap((scope) => list(scope[records]));
}

function check(value: unknown, type: string, path: string): void {
  const fields = messages[type];
  if (fields === undefined) throw new Error(`${path}: no message ${type}`);
  if (typeof value !== 'object' || value === null) throw new Error(`${path}: no ${type}`);
  if (type === 'AnyValue' && Object.keys(value).length > 1) throw new Error(`${path}: more than one value`);
  for (const [name, item] of Object.entries(value)) {
    const field = fields[name];
    if (field === undefined) throw new Error(`${path}.${name}: not a field of ${type}`);
    checkField(item, field, `${path}.${name}`);
  }
  const keys = list((value as Fields).attributes).map(({ key }) => key);
  if (new Set(keys).size < keys.length) throw new Error(`${path}: an attribute is there twice`);
}

function checkField(value: unknown, type: FieldType, path: string): void {
  const [kind = '', name = ''] = type.split(':');
  if (kind === 'message') check(value, name, path);
  else if (kind === 'list') {
    if (!Array.isArray(value)) throw new Error(`${path}: no list`);
    for (const [index, item] of value.entries()) check(item, name, `${path}[${index}]`);
  } else if (!isOf(kind, name, value)) throw new Error(`${path}: ${JSON.stringify(value)} is no ${type}`);
}

function isOf(kind: string, name: string, value: unknown): boolean {
  const [least = 0, most = 0] = enums[name] ?? [];
  const isWhole = Number.isInteger(value);
  switch (kind) {
    case 'string':
      return typeof value === 'string';
    case 'bool':
      return typeof value === 'boolean';
    case 'double':
      return typeof value === 'number';
    case 'base64':
      return typeof value === 'string' && Buffer.from(value, 'base64').toString('base64') === value;
    case 'uint32':
    case 'fixed32':
      return isWhole && Number(value) >= 0 && Number(value) < 2 ** 32;
    case 'int64':
      return (isWhole && Number.isSafeInteger(value)) || /^-?\d{1,19}$/.test(String(value));
    case 'fixed64':
      return /^\d{1,20}$/.test(String(value)) && BigInt(String(value)) < 2n ** 64n;
    case 'traceId':
      return /^(?!0+$)[0-9a-f]{32}$/.test(String(value));
    case 'spanId':
      return /^(?!0+$)[0-9a-f]{16}$/.test(String(value));
    case 'enum':
      return isWhole && Number(value) >= least && Number(value) <= most;
    default:
      return false;
  }
}

function attributesOf({ attributes }: Fields): Fields {
  return Object.fromEntries(
    list(attributes).map(({ key, value }) => [text(key), anyValueOf(value as Fields)]),
  );
}

function anyValueOf(value: Fields | undefined): unknown {
  const [kind, item] = Object.entries(value ?? {})[0] ?? [];
  if (kind === 'arrayValue') return list((item as Fields).values).map(anyValueOf);
  if (kind === 'kvlistValue')
    return Object.fromEntries(
      list((item as Fields).values).map((pair) => [text(pair.key), anyValueOf(pair.value as Fields)]),
    );
  return item ?? null;
}

function list(value: unknown): Fields[] {
  return (value ?? []) as Fields[];
}

function text(value: unknown): string {
  return String(value);
}
