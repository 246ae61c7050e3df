import { type EventData, messageOf } from '@hansard/events';

/**
 * A thrown value as the data of a `harness:error`. Reads properties, because an error of another realm is not an `Error` here. Never throws.
 */
export function describeFailure(error: unknown): EventData<'harness:error'> {
  const [code, stack] = [textAt(error, 'code'), textAt(error, 'stack')];
  return {
    message: messageOf(error),
    ...(code === undefined ? {} : { code }),
    ...(stack === undefined ? {} : { stack }),
  };
}

function textAt(error: unknown, key: 'code' | 'stack'): string | undefined {
  try {
    const value = (error as Readonly<Record<string, unknown>> | null | undefined)?.[key];
    return typeof value === 'string' ? value : undefined;
  } catch {
    // A proxy that was revoked, or a getter that throws.
    return undefined;
  }
}
