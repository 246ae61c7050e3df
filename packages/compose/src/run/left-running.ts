import { closeAbandonedDispatches, type DispatchStore } from '@hansard/dispatch';
import { type Clock, systemClock } from '@hansard/provider';
import { type HarnessContext, inWords, noteTo } from '../context.ts';

/**
 * Ends the dispatches of a task that earlier processes left running. The claim of an owner that cannot be checked can expire later;
 * after the longest of these times it looks once more, unless the object is disposed of first.
 */
export class LeftRunning implements AsyncDisposable {
  readonly #context: HarnessContext;
  readonly #store: DispatchStore;
  readonly #taskDir: string;
  #cancel: () => void = () => {};
  #look: Promise<void> = Promise.resolve();

  static async close(
    context: HarnessContext,
    store: DispatchStore,
    taskDir: string,
    clock: Pick<Clock, 'after'> = systemClock,
  ): Promise<LeftRunning> {
    const left = new LeftRunning(context, store, taskDir);
    const waitMs = await left.#close();
    if (waitMs > 0)
      left.#cancel = clock.after(
        waitMs,
        () => {
          left.#look = left.#lookAgain();
        },
        { keepsProcess: false },
      );
    return left;
  }

  private constructor(context: HarnessContext, store: DispatchStore, taskDir: string) {
    this.#context = context;
    this.#store = store;
    this.#taskDir = taskDir;
  }

  /** Waits for a look that has begun. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancel();
    await this.#look;
  }

  /** The milliseconds after which the last claim can expire whose owner cannot be checked; 0 without one. */
  async #close(): Promise<number> {
    const waits = [0];
    const closed = await closeAbandonedDispatches(this.#store, this.#taskDir, {
      onUnreadable: (error) => this.#noteProblem(error),
      onUnchecked: (_, expiresInMs) => waits.push(expiresInMs),
    });
    for (const { dispatchId, role, status } of closed)
      noteTo(
        this.#context,
        `hansard: ${role} ${dispatchId} was left running by a process that has exited; its status is now ${status}. Its recorded events are kept.`,
      );
    return Math.max(...waits);
  }

  /** The recording continues if the store refuses. */
  async #lookAgain(): Promise<void> {
    try {
      await this.#close();
    } catch (error) {
      this.#noteProblem(error);
    }
  }

  #noteProblem(error: unknown): void {
    noteTo(this.#context, `hansard: ${inWords(error)}\n  That dispatch is not changed; recording continues.`);
  }
}
