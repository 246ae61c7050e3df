import { type EventData, preview } from '@hansard/events';

/** What was thrown, as the data of a `harness:error`. */
export function describeFailure(error: unknown): EventData<'harness:error'> {
  if (!(error instanceof Error)) return { message: typeof error === 'string' ? error : preview(error) };
  const { code, stack } = error as { code?: unknown; stack?: unknown };
  return {
    message: String(error.message),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof stack === 'string' ? { stack } : {}),
  };
}
