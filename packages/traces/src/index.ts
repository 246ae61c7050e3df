export { otlpLines } from './otlp/otlp-lines.ts';
export { sendOtlp, shownEndpoint, traceErrors } from './otlp/send-otlp.ts';
export { traceDispatches } from './trace-dispatches.ts';
export type { ContentMode } from './trace-options.ts';
export type { TraceRecord } from './trace-record.ts';
