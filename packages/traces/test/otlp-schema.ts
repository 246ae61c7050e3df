/**
 * The messages of OTLP 1.x as its specification defines them (opentelemetry-proto: trace, logs, common, resource), written
 * by hand, so that exports are not checked by the code that wrote them. Names are those of OTLP/JSON.
 */
export type FieldType =
  | 'string'
  | 'bool'
  | 'uint32'
  | 'fixed32'
  | 'fixed64'
  | 'int64'
  | 'double'
  | 'base64'
  | 'traceId'
  | 'spanId'
  | `enum:${'SpanKind' | 'StatusCode' | 'SeverityNumber'}`
  | `message:${string}`
  | `list:${string}`;

export const enums: Readonly<Record<string, readonly [least: number, most: number]>> = {
  SpanKind: [0, 5],
  StatusCode: [0, 2],
  SeverityNumber: [0, 24],
};

export const messages: Readonly<Record<string, Readonly<Record<string, FieldType>>>> = {
  ExportTraceServiceRequest: { resourceSpans: 'list:ResourceSpans' },
  ExportLogsServiceRequest: { resourceLogs: 'list:ResourceLogs' },
  ResourceSpans: { resource: 'message:Resource', scopeSpans: 'list:ScopeSpans', schemaUrl: 'string' },
  ResourceLogs: { resource: 'message:Resource', scopeLogs: 'list:ScopeLogs', schemaUrl: 'string' },
  Resource: { attributes: 'list:KeyValue', droppedAttributesCount: 'uint32' },
  ScopeSpans: { scope: 'message:InstrumentationScope', spans: 'list:Span', schemaUrl: 'string' },
  ScopeLogs: { scope: 'message:InstrumentationScope', logRecords: 'list:LogRecord', schemaUrl: 'string' },
  InstrumentationScope: {
    name: 'string',
    version: 'string',
    attributes: 'list:KeyValue',
    droppedAttributesCount: 'uint32',
  },
  Span: {
    traceId: 'traceId',
    spanId: 'spanId',
    traceState: 'string',
    parentSpanId: 'spanId',
    flags: 'fixed32',
    name: 'string',
    kind: 'enum:SpanKind',
    startTimeUnixNano: 'fixed64',
    endTimeUnixNano: 'fixed64',
    attributes: 'list:KeyValue',
    droppedAttributesCount: 'uint32',
    events: 'list:Event',
    droppedEventsCount: 'uint32',
    links: 'list:Link',
    droppedLinksCount: 'uint32',
    status: 'message:Status',
  },
  Event: {
    timeUnixNano: 'fixed64',
    name: 'string',
    attributes: 'list:KeyValue',
    droppedAttributesCount: 'uint32',
  },
  Link: {
    traceId: 'traceId',
    spanId: 'spanId',
    traceState: 'string',
    attributes: 'list:KeyValue',
    droppedAttributesCount: 'uint32',
    flags: 'fixed32',
  },
  Status: { message: 'string', code: 'enum:StatusCode' },
  LogRecord: {
    timeUnixNano: 'fixed64',
    observedTimeUnixNano: 'fixed64',
    severityNumber: 'enum:SeverityNumber',
    severityText: 'string',
    body: 'message:AnyValue',
    attributes: 'list:KeyValue',
    droppedAttributesCount: 'uint32',
    flags: 'fixed32',
    traceId: 'traceId',
    spanId: 'spanId',
    eventName: 'string',
  },
  KeyValue: { key: 'string', value: 'message:AnyValue' },
  AnyValue: {
    stringValue: 'string',
    boolValue: 'bool',
    intValue: 'int64',
    doubleValue: 'double',
    arrayValue: 'message:ArrayValue',
    kvlistValue: 'message:KeyValueList',
    bytesValue: 'base64',
  },
  ArrayValue: { values: 'list:AnyValue' },
  KeyValueList: { values: 'list:KeyValue' },
};
