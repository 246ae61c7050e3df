import type { Clock } from '@hansard/provider';
import type { Tables } from '../database/tables.ts';
import { changeKey, everything } from './change-keys.ts';

/** Milliseconds. The changes of this time become one notification. */
const mergeMs = 20;
/** The greatest number of keys that fit into a notification. */
const mostKeys = 440;

/**
 * Sends the changes of this opening to the other ones. Merged, and outside the transactions that append: a transaction that notifies
 * holds a lock of the whole server until its commit is on the disk, so that writers of different dispatches would wait for each other.
 */
export class Notifier {
  readonly #tables: Tables;
  readonly #channel: string;
  readonly #clock: Clock;
  readonly #pending = new Set<string>();
  #isDue = false;
  #sending: Promise<void> = Promise.resolve();

  constructor(tables: Tables, channel: string, clock: Clock) {
    this.#tables = tables;
    this.#channel = channel;
    this.#clock = clock;
  }

  changed(taskDir: string, dispatchId: string | null): void {
    this.#pending.add(changeKey(taskDir, dispatchId));
    if (this.#isDue) return;
    this.#isDue = true;
    this.#clock.after(mergeMs, () => void this.flush(), { keepsProcess: false });
  }

  /** Sends what was not sent yet. */
  flush(): Promise<void> {
    this.#isDue = false;
    this.#sending = this.#sending.then(() => this.#send());
    return this.#sending;
  }

  async #send(): Promise<void> {
    if (this.#pending.size === 0) return;
    const payload = this.#pending.size > mostKeys ? everything : [...this.#pending].join(',');
    this.#pending.clear();
    try {
      await this.#tables.database.run(this.#tables.statements.notify, [this.#channel, payload]);
    } catch {
      // A timer has no caller to throw to. Listeners look again after a lost connection.
    }
  }
}
