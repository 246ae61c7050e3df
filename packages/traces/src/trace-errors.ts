import { defineErrors } from '@hansard/events';

/** The errors of traces. */
export const traceErrors = defineErrors('trace', {
  TRACE_ENDPOINT_INVALID: {
    when: 'The address of the receiver is not an `http:` or `https:` address, or has a query.',
    advice: 'Give its base address, such as `http://localhost:4318`; `/v1/traces` and `/v1/logs` are added.',
    details: ['endpoint'],
  },
  TRACE_RECEIVER_FAILED: {
    when: 'The receiver was not reached, or refused a batch after all retries. The message has its answer.',
    advice:
      'Check the address, that the receiver runs and accepts OTLP over HTTP, and its keys (`OTEL_EXPORTER_OTLP_HEADERS`). Export again: records that arrived before have the same ids and are kept once.',
    details: ['endpoint', 'status?'],
  },
  TRACE_RECEIVER_REJECTED: {
    when: 'The receiver accepted only a part of a batch.',
    advice: 'Read its answer; the usual reason is a size limit of the receiver. Export again.',
    details: ['endpoint', 'answer'],
  },
});
