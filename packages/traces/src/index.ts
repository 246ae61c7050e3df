export { spanIdOf, traceIdOf } from './identity.ts';
export { type OtlpLine, otlpLines } from './otlp-lines.ts';
export { type SendOptions, type Sent, sendOtlp } from './send-otlp.ts';
export { type DispatchSource, traceDispatches } from './trace-dispatches.ts';
export { isTraceError, TraceError, type TraceErrorCode, traceErrorCodes } from './trace-error.ts';
export { type ContentMode, contentModes, type TraceOptions } from './trace-options.ts';
export type { TraceRecord } from './trace-record.ts';
