import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { type DispatchStoreProvider, isStoreError } from '@hansard/provider';
import { sampleEvents } from '../checks/sample-data.ts';

/** A line that the kit writes to another process. */
export type Request =
  | { readonly method: string; readonly args: readonly unknown[] }
  /** Appends batches of 1, 2, 3 and 4 events until it fails. The ids are `PREFIX-BATCH-INDEX`. */
  | {
      readonly appendTo: readonly [taskDir: string, dispatchId: string];
      readonly prefix: string;
      readonly textLength: number;
    };

/** A line that another process writes to the kit. */
export type Reply =
  | { readonly ready: true }
  | { readonly answer: unknown }
  | { readonly error: string; readonly message: string }
  | { readonly acknowledged: number };

export interface Batch {
  readonly prefix: string;
  readonly index: number;
  readonly textLength: number;
}

/** The events of a batch that `appendTo` appends. */
export function batchEvents({ prefix, index, textLength }: Batch) {
  return sampleEvents(1 + (index % 4), `${prefix}-${index}`).map((event) => ({
    ...event,
    data: { text: 'x'.repeat(textLength) },
  }));
}

/** The program of another process: opens the store, answers one request after the other, and ends with its input. */
export async function serveStore([module = '', args = '[]']: readonly string[]): Promise<void> {
  const url = module.startsWith('file:') ? module : pathToFileURL(module).href;
  const { openStore } = (await import(url)) as {
    openStore: (...args: unknown[]) => Promise<DispatchStoreProvider>;
  };
  const store = await openStore(...(JSON.parse(args) as unknown[]));
  reply({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line) as Request;
    try {
      if ('appendTo' in request) await appendUntilRefused(store, request);
      else {
        const methods = store as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
        reply({ answer: (await methods[request.method]?.(...request.args)) ?? null });
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      reply({ error: isStoreError(error) ? error.code : 'none', message });
    }
  }
}

async function appendUntilRefused(
  store: DispatchStoreProvider,
  { appendTo: [taskDir, dispatchId], prefix, textLength }: Extract<Request, { appendTo: unknown }>,
): Promise<never> {
  for (let index = 0; ; index += 1) {
    const events = batchEvents({ prefix, index, textLength });
    const [only] = events;
    if (events.length === 1 && only !== undefined) await store.appendEvent(taskDir, dispatchId, only);
    else await store.appendEvents(taskDir, dispatchId, events);
    reply({ acknowledged: index });
    // Lets a timer of the store run, such as the one of its heartbeat.
    await new Promise(setImmediate);
  }
}

/** At once, because the process may be killed before a buffered line is written. Without a reader the process ends. */
function reply(line: Reply): void {
  try {
    writeSync(1, `${JSON.stringify(line)}\n`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(1);
    throw error;
  }
}
