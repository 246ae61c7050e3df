export { otlpLines } from './otlp/otlp-lines.ts';
export { type RefusedRecord, sendOtlp, shownEndpoint, traceErrors } from './otlp/send-otlp.ts';
export { traceDispatches } from './trace-dispatches.ts';
export type { ContentMode, TraceOptions } from './trace-options.ts';
export type { TraceRecord } from './trace-record.ts';
