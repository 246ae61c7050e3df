import { StoreError } from '@hansard/provider';
import { dispatchKey } from '../dispatch-key.ts';
import type { LiveFeed } from '../streams/live-feed.ts';

/** The object that writes a dispatch in this process. */
export interface DispatchWriter extends AsyncDisposable {
  readonly holder: string;
  readonly feed: LiveFeed;
  settled(): Promise<void>;
}

/** The dispatches that an open store writes, one object for each. */
export class DispatchWriters {
  readonly #writers = new Map<string, DispatchWriter | { readonly holder: string }>();

  /**
   * Reserves a dispatch for the object that is being made: a listing may show the dispatch before the provider has
   * answered.
   * @throws STORE_LOCKED naming the holder
   */
  reserve(taskDir: string, dispatchId: string, holder: string): void {
    const key = dispatchKey(taskDir, dispatchId);
    const owner = this.#writers.get(key)?.holder;
    if (owner !== undefined) {
      throw new StoreError(
        'STORE_LOCKED',
        `The dispatch ${dispatchId} of ${taskDir} is held by ${owner} of this process (${process.pid}). Use that object, or end it first.`,
        { details: { taskDir, dispatchId, owner } },
      );
    }
    this.#writers.set(key, { holder });
  }

  set(taskDir: string, dispatchId: string, writer: DispatchWriter): void {
    this.#writers.set(dispatchKey(taskDir, dispatchId), writer);
  }

  remove(taskDir: string, dispatchId: string): void {
    this.#writers.delete(dispatchKey(taskDir, dispatchId));
  }

  /** The deltas of a dispatch that this process writes. */
  feedOf(taskDir: string, dispatchId: string): LiveFeed | undefined {
    const writer = this.#writers.get(dispatchKey(taskDir, dispatchId));
    return writer !== undefined && 'feed' in writer ? writer.feed : undefined;
  }

  async disposeAll(): Promise<void> {
    const writers = [...this.#writers.values()].filter((writer) => 'feed' in writer);
    await Promise.all(writers.map((writer) => writer[Symbol.asyncDispose]()));
  }
}
