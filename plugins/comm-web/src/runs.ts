import type { CommunicationHost, DeltaNotice, DispatchNotice, EventNotice } from '@hansard/provider';
import type { OpenText, RunChange, ViewedRuns } from '@hansard/viewer';
import { RunTexts } from './run-texts.ts';

type Dispatch = Parameters<ViewedRuns['isRunning']>[0];
type Listener = (change: RunChange) => void;

/** The dispatches that run in this process, for a viewer. */
export class Runs implements ViewedRuns {
  /** Null: nothing can be sent yet. */
  host: CommunicationHost | null = null;
  readonly #running = new Map<string, RunTexts>();
  readonly #listeners = new Map<string, Set<Listener>>();
  #lastKey = 0;
  #onUnwatched = () => {};

  isRunning(dispatch: Dispatch): boolean {
    return this.#running.has(keyOf(dispatch));
  }

  texts(dispatch: Dispatch): readonly OpenText[] {
    return this.#running.get(keyOf(dispatch))?.open() ?? [];
  }

  watch(dispatch: Dispatch, onChange: Listener): () => void {
    const key = keyOf(dispatch);
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(onChange));
    return () => {
      listeners.delete(onChange);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key);
      if (this.#listeners.size === 0) this.#onUnwatched();
    };
  }

  async send({ dispatchId, ...dispatch }: Dispatch, text: string): Promise<boolean> {
    if (!this.isRunning({ dispatchId, ...dispatch }) || this.host === null) return false;
    return this.host.deliver({ text, dispatchId });
  }

  abort(dispatch: Dispatch): boolean {
    if (!this.isRunning(dispatch) || this.host === null) return false;
    return this.host.abort(dispatch.dispatchId, 'aborted on the page');
  }

  started(notice: DispatchNotice): void {
    this.#textsOf(notice);
    this.#emit(dispatchOf(notice), { kind: 'changed' });
  }

  deltaReceived(notice: DeltaNotice): void {
    this.#textsOf(notice).add(notice.delta);
  }

  eventRecorded(notice: EventNotice): void {
    this.#textsOf(notice).recorded(notice.event);
  }

  ended(notice: DispatchNotice): void {
    this.#textsOf(notice).endAll();
    const dispatch = dispatchOf(notice);
    this.#running.delete(keyOf(dispatch));
    this.#emit(dispatch, { kind: 'changed' });
  }

  /** Resolves when no page watches a dispatch any more, after each was asked to end. */
  async over(): Promise<void> {
    if (this.#listeners.size === 0) return;
    const unwatched = new Promise<void>((resolve) => {
      this.#onUnwatched = resolve;
    });
    for (const listeners of [...this.#listeners.values()])
      for (const listener of [...listeners]) listener({ kind: 'over' });
    await unwatched;
  }

  #textsOf(notice: DispatchNotice): RunTexts {
    const dispatch = dispatchOf(notice);
    const key = keyOf(dispatch);
    const known = this.#running.get(key);
    if (known !== undefined) return known;
    const texts = new RunTexts(
      () => {
        this.#lastKey += 1;
        return this.#lastKey;
      },
      (change) => this.#emit(dispatch, change),
    );
    this.#running.set(key, texts);
    return texts;
  }

  #emit(dispatch: Dispatch, change: RunChange): void {
    for (const listener of [...(this.#listeners.get(keyOf(dispatch)) ?? [])]) listener(change);
  }
}

function dispatchOf({ taskDir, envelope }: DispatchNotice): Dispatch {
  return { taskDir, dispatchId: envelope.dispatchId };
}

function keyOf({ taskDir, dispatchId }: Dispatch): string {
  return JSON.stringify([taskDir, dispatchId]);
}
