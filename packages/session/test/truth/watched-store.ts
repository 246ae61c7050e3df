import type { CapturedEvent } from '@hansard/events';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';

/** A store that reports what it has recorded, and that can fail as if the process was gone: later writes are not made. */
export class WatchedStore {
  readonly provider: DispatchStoreProvider;
  readonly #onRecorded: (events: readonly CapturedEvent[]) => void;
  readonly #onCrash: () => void;
  /** How many appends are still made; infinite: all. */
  #left = Number.POSITIVE_INFINITY;

  constructor(
    provider: DispatchStoreProvider,
    onRecorded: (events: readonly CapturedEvent[]) => void,
    onCrash: () => void,
  ) {
    this.#onRecorded = onRecorded;
    this.#onCrash = onCrash;
    this.provider = new Proxy(provider, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        const call = value.bind(target) as (...given: unknown[]) => unknown;
        return (...given: unknown[]) => this.#called(String(key), call, given);
      },
    });
  }

  /** After this number of further appends no write is made. */
  crashAfter(appends: number): void {
    this.#left = appends;
  }

  /** Whether it will crash, and has not yet. */
  get isArmed(): boolean {
    return this.#left >= 0 && Number.isFinite(this.#left);
  }

  get isDown(): boolean {
    return this.#left < 0;
  }

  /** Another process opens the store. */
  restart(): void {
    this.#left = Number.POSITIVE_INFINITY;
  }

  #called(name: string, call: (...given: unknown[]) => unknown, given: readonly unknown[]): unknown {
    const isAppend = name === 'appendEvent' || name === 'appendEvents';
    if (isAppend && !this.isDown) {
      this.#left -= 1;
      if (this.isDown) this.#onCrash();
    }
    if (this.isDown) throw storeErrors.error('STORE_UNAVAILABLE', 'The process is gone.');
    const answer = call(...given);
    if (!isAppend) return answer;
    const events = [given[2]].flat() as CapturedEvent[];
    const note = (positions: unknown) => {
      this.#onRecorded(events);
      return positions;
    };
    return answer instanceof Promise ? answer.then(note) : note(answer);
  }
}
