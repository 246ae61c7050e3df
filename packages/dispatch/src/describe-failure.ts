import { type EventData, messageOf } from '@hansard/events';

/** A thrown value as the data of a `harness:error`. Reads properties, because an error of another realm is not an `Error` here. */
export function describeFailure(error: unknown): EventData<'harness:error'> {
  const { code, stack } = (error ?? {}) as { code?: unknown; stack?: unknown };
  return {
    message: messageOf(error),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof stack === 'string' ? { stack } : {}),
  };
}
