import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { sampleEvents } from '../checks/sample-data.ts';

/** A line that the kit writes to another process. */
export type Request =
  | { readonly method: string; readonly args: readonly unknown[] }
  /** Appends batches of 1, 2, 3 and 4 events until it fails. The ids are `PREFIX-BATCH-INDEX`. */
  | {
      readonly appendTo: readonly [taskDir: string, dispatchId: string];
      readonly prefix: string;
      readonly textLength: number;
    }
  /** Claims, appends a batch and releases, `attempts` times. It appends and releases after a lost claim too. */
  | {
      readonly raceFor: readonly [taskDir: string, dispatchId: string];
      readonly prefix: string;
      /** The number of the first batch. */
      readonly first: number;
      readonly attempts: number;
    };

/** A line that another process writes to the kit. */
export type Reply =
  | { readonly ready: true }
  | { readonly answer: unknown }
  | { readonly error: string; readonly message: string }
  | { readonly acknowledged: number }
  | { readonly raced: RaceOutcome };

export interface RaceOutcome {
  /** The batches whose append was acknowledged. */
  readonly appended: readonly number[];
  /** The claims and appends that were STORE_LOCKED. */
  readonly refused: number;
  /** The appends that succeeded although the claim before them was refused. */
  readonly unclaimed: number;
}

export interface Batch {
  readonly prefix: string;
  readonly index: number;
  readonly textLength: number;
}

export const sizeOfBatch = (index: number): number => 1 + (index % 4);

/** The events of a batch that `appendTo` and `raceFor` append. */
export function batchEvents({ prefix, index, textLength }: Batch) {
  return sampleEvents(sizeOfBatch(index), `${prefix}-${index}`).map((event) => ({
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
  // The kit kills most of these processes, and Node writes NODE_COMPILE_CACHE when a process exits by itself.
  flushCompileCache();
  reply({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line) as Request;
    try {
      if ('appendTo' in request) await appendUntilRefused(store, request);
      else if ('raceFor' in request) reply({ raced: await race(store, request) });
      else {
        const methods = store as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
        reply({ answer: (await repeated(() => methods[request.method]?.(...request.args))) ?? null });
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      reply({ error: storeErrors.is(error) ? error.code : 'none', message });
    }
  }
}

/** Milliseconds. */
const longestOutage = 10_000;

/** Makes a call again after a failure that passes by itself, as the facade does: a store that waits for others does so only briefly. */
async function repeated<T>(call: () => T): Promise<Awaited<T>> {
  const end = performance.now() + longestOutage;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_UNAVAILABLE') || !error.isTransient || performance.now() > end)
        throw error;
    }
    await pause(5);
  }
}

async function appendUntilRefused(
  store: DispatchStoreProvider,
  { appendTo: [taskDir, dispatchId], prefix, textLength }: Extract<Request, { appendTo: unknown }>,
): Promise<never> {
  for (let index = 0; ; index += 1) {
    await appendBatch(store, [taskDir, dispatchId], { prefix, index, textLength });
    reply({ acknowledged: index });
    // Lets a timer of the store run, such as the one of its heartbeat.
    await new Promise(setImmediate);
  }
}

async function appendBatch(
  store: DispatchStoreProvider,
  [taskDir, dispatchId]: readonly [string, string],
  batch: Batch,
): Promise<void> {
  const events = batchEvents(batch);
  const [only] = events;
  await repeated(() =>
    events.length === 1 && only !== undefined
      ? store.appendEvent(taskDir, dispatchId, only)
      : store.appendEvents(taskDir, dispatchId, events),
  );
}

async function race(
  store: DispatchStoreProvider,
  { raceFor, prefix, first, attempts }: Extract<Request, { raceFor: unknown }>,
): Promise<RaceOutcome> {
  const appended: number[] = [];
  let refused = 0;
  let unclaimed = 0;
  /** Whether the call was not STORE_LOCKED. */
  const succeeds = async (call: () => unknown): Promise<boolean> => {
    try {
      await repeated(call);
      return true;
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_LOCKED')) throw error;
      refused += 1;
      return false;
    }
  };
  for (let index = first; index < first + attempts; index += 1) {
    const claimed = await succeeds(() => store.claimDispatch(...raceFor));
    if (await succeeds(() => appendBatch(store, raceFor, { prefix, index, textLength: 10 }))) {
      appended.push(index);
      if (!claimed) unclaimed += 1;
    }
    if (claimed) await repeated(() => store.releaseDispatch(...raceFor));
    // Lets a timer of the store run, such as the one of its heartbeat.
    await new Promise(setImmediate);
  }
  return { appended, refused, unclaimed };
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
