import { type EventData, preview } from '@hansard/events';

/** What was thrown, as the data of a `harness:error`. An error of another realm is no `Error` here, but looks like one. */
export function describeFailure(error: unknown): EventData<'harness:error'> {
  if (typeof error === 'string') return { message: error };
  const { message, code, stack } = (error ?? {}) as { message?: unknown; code?: unknown; stack?: unknown };
  return {
    message: typeof message === 'string' ? message : preview(error),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof stack === 'string' ? { stack } : {}),
  };
}
