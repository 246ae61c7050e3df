export { otlpLines } from './otlp/otlp-lines.ts';
export { type RefusedRecord, sendOtlp, shownEndpoint } from './otlp/send-otlp.ts';
export { traceDispatches } from './trace-dispatches.ts';
export { traceErrors } from './trace-errors.ts';
export type { ContentMode, TraceOptions } from './trace-options.ts';
export type { TraceRecord } from './trace-record.ts';
