import type { SSEStreamingApi } from 'hono/streaming';
import type { ViewedStore } from './viewed-store.ts';

/** Milliseconds. Changes within this time share a message. */
const gatherMs = 500;
/** Milliseconds. How often a store that cannot be watched is taken as changed. */
const blindMs = 5_000;
const keepAliveMs = 15_000;

/** Sends a message after changes of the store, until the signal aborts. */
export async function sendChanges(
  stream: SSEStreamingApi,
  store: ViewedStore,
  signal: AbortSignal,
): Promise<void> {
  let timer: NodeJS.Timeout | null = null;
  const send = () => {
    timer = null;
    stream.writeSSE({ data: '{}' }).catch(() => undefined);
  };
  const onChange = () => {
    timer ??= setTimeout(send, gatherMs);
  };
  const comments = setInterval(() => void stream.write(': \n\n').catch(() => undefined), keepAliveMs);
  const stop = await watchAll(store, onChange);
  await stream.writeSSE({ event: 'hello', data: '{}', retry: 1_000 });
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
  stop();
  clearInterval(comments);
  if (timer !== null) clearTimeout(timer);
}

async function watchAll(store: ViewedStore, onChange: () => void): Promise<() => void> {
  if (store.capabilities.watch) return store.watch({}, onChange);
  const interval = setInterval(onChange, blindMs);
  return () => clearInterval(interval);
}
