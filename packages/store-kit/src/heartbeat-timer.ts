import type { Clock } from '@hansard/provider';

/** Renews the leases of one opening of a store in each third of a lease, while it has claimed something. */
export class HeartbeatTimer {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #interval: number;
  readonly #renew: () => void;
  #cancel: (() => void) | null = null;

  /** `renew` does not throw: a renewal that the system refuses is repeated after the next interval. */
  constructor(clock: Pick<Clock, 'after'>, leaseMs: number, renew: () => void) {
    this.#clock = clock;
    this.#interval = leaseMs / 3;
    this.#renew = renew;
  }

  /** Starts the timer, unless it runs. It does not keep the process running. */
  start(): void {
    if (this.#cancel !== null) return;
    this.#cancel = this.#clock.after(
      this.#interval,
      () => {
        this.#cancel = null;
        this.start();
        this.#renew();
      },
      { keepsProcess: false },
    );
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
