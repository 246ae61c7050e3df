import type { Awaitable, CommunicationProvider } from '@hansard/provider';
import type { CommunicationProblem } from './communication-problem.ts';

export interface Delivery {
  readonly method: 'start' | 'dispatchStarted' | 'eventRecorded' | 'deltaReceived' | 'dispatchEnded';
  call(): Awaitable<void> | undefined;
}

/** The bounded queue of one communication provider. Its calls are made one after the other. */
export class Outbox {
  readonly #provider: CommunicationProvider;
  readonly #limit: number;
  readonly #report: (problem: CommunicationProblem) => void;
  #queue: Delivery[] = [];
  #droppedDeltas = 0;
  #starting: Promise<void> | null = null;
  #working: Promise<void> | null = null;
  #state: 'held' | 'open' | 'closed' = 'held';

  constructor(
    provider: CommunicationProvider,
    limit: number,
    report: (problem: CommunicationProblem) => void,
  ) {
    this.#provider = provider;
    this.#limit = limit;
    this.#report = report;
  }

  /** Calls the provider's `start`, then begins to work off the queue. Resolves when `start` has succeeded or failed. */
  start(start: Delivery): Promise<void> {
    this.#starting = this.#begin(start);
    return this.#starting;
  }

  push(delivery: Delivery): void {
    if (this.#state === 'closed') return;
    if (this.#queue.length >= this.#limit && !this.#makeRoomFor(delivery)) return;
    this.#queue.push(delivery);
    this.#work();
  }

  /** Resolves when the queue is empty. */
  async drained(): Promise<void> {
    await this.#starting;
    await this.#working;
  }

  /** Accepts no more notices. Returns how many were still waiting. */
  close(): number {
    this.#state = 'closed';
    this.#reportDrops(0);
    return this.#queue.splice(0).length;
  }

  async #begin(start: Delivery): Promise<void> {
    if (!(await this.#deliver(start))) this.close();
    if (this.#state === 'closed') return;
    this.#state = 'open';
    this.#work();
  }

  #work(): void {
    if (this.#state !== 'open' || this.#queue.length === 0) return;
    this.#working ??= this.#workOff();
  }

  async #workOff(): Promise<void> {
    // The dispatch that publishes does not wait for the first call.
    await null;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      await this.#deliver(next);
      this.#reportDrops(0);
    }
    this.#working = null;
  }

  async #deliver({ method, call }: Delivery): Promise<boolean> {
    try {
      await call();
      return true;
    } catch (error) {
      this.#report({ kind: 'call_failed', provider: this.#provider, method, error });
      return false;
    }
  }

  /** Drops the waiting deltas. Without any, drops the new notice if it is a delta, or else the older half of the queue. */
  #makeRoomFor({ method }: Delivery): boolean {
    const withoutDeltas = this.#queue.filter((waiting) => waiting.method !== 'deltaReceived');
    this.#droppedDeltas += this.#queue.length - withoutDeltas.length;
    const isFull = withoutDeltas.length >= this.#limit;
    this.#queue = withoutDeltas;
    if (!isFull) return true;
    if (method === 'deltaReceived') {
      this.#droppedDeltas += 1;
      return false;
    }
    this.#dropOldest();
    return true;
  }

  /** Keeps starts and ends of dispatches as long as there are events to drop. */
  #dropOldest(): void {
    const most = Math.ceil(this.#limit / 2);
    const hasEvents = this.#queue.some(({ method }) => method === 'eventRecorded');
    let dropped = 0;
    this.#queue = this.#queue.filter(({ method }) => {
      if (dropped === most || (hasEvents && method !== 'eventRecorded')) return true;
      dropped += 1;
      return false;
    });
    this.#reportDrops(dropped);
  }

  #reportDrops(events: number): void {
    if (events === 0 && this.#droppedDeltas === 0) return;
    this.#report({ kind: 'dropped', provider: this.#provider, events, deltas: this.#droppedDeltas });
    this.#droppedDeltas = 0;
  }
}
