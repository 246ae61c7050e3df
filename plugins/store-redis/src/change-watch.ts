import type { Clock, StopWatching, WatchScope } from '@hansard/provider';
import { ChangeListeners } from '@hansard/store-kit';
import type { Server } from './server/server.ts';

/** Milliseconds between two checks that the server still answers. */
const checkMs = 5_000;

/** Milliseconds between two tries to connect again. */
const firstPause = 50;
const longestPause = 2_000;

type Subscription = Awaited<ReturnType<Server['connectAnother']>>;

/**
 * Calls listeners when a dispatch, a task or the store changes. Changes of this opening are reported at once. Those of others are published by the
 * scripts that make them, and one connection subscribes to them. While that connection is away, listeners are called after each try to
 * connect, and once it is back, because anything may have been missed.
 */
export class ChangeWatch {
  readonly #server: Server;
  readonly #token: string;
  readonly #clock: Clock;
  readonly #listeners = new ChangeListeners();
  #subscription: Subscription | null = null;
  #starting: Promise<void> | null = null;
  #isClosed = false;
  #cancelTimer: () => void = () => {};

  constructor(server: Server, token: string, clock: Clock) {
    this.#server = server;
    this.#token = token;
    this.#clock = clock;
  }

  /** Resolves when changes are reported. @throws an error of the connection */
  async watch(scope: WatchScope, onChange: () => void): Promise<StopWatching> {
    const remove = this.#listeners.add(scope, onChange);
    const stop = () => {
      remove();
      if (this.#listeners.isEmpty) this.#end();
    };
    try {
      await this.#start();
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  /** A change of this opening. Without `dispatchId`: the record of a task. */
  changed(taskDir: string, dispatchId?: string): void {
    this.#listeners.notify(taskDir, dispatchId);
  }

  /** Calls no listener from now on. */
  close(): void {
    this.#isClosed = true;
    this.#listeners.stopAll();
    this.#end();
  }

  async #start(): Promise<void> {
    if (this.#subscription !== null) return;
    this.#starting ??= this.#subscribe().finally(() => {
      this.#starting = null;
    });
    await this.#starting;
  }

  async #subscribe(): Promise<void> {
    const subscription = await this.#server.connectAnother();
    try {
      await subscription.subscribe(`${this.#server.base}changes`, (message) => this.#receive(message));
    } catch (error) {
      subscription.destroy();
      throw error;
    }
    if (this.#isClosed || this.#listeners.isEmpty || !subscription.isReady) {
      if (subscription.isOpen) subscription.destroy();
      if (!this.#isClosed && !this.#listeners.isEmpty) this.#connectLater(firstPause);
      return;
    }
    this.#subscription = subscription;
    subscription.on('error', () => this.#lost(subscription));
    this.#checkLater(subscription);
  }

  #receive(message: string): void {
    const [token = '', name = ''] = splitAt(message, message.indexOf(' '));
    if (token === this.#token) return;
    const [taskDir, dispatchId] = splitAt(name, name.lastIndexOf('/'));
    this.#listeners.notify(taskDir, dispatchId === '' ? undefined : dispatchId);
  }

  /** A host that disappeared sends nothing, so only a question shows that it is away. */
  #checkLater(subscription: Subscription): void {
    this.#cancelTimer = this.#clock.after(
      checkMs,
      () => {
        const cancel = this.#clock.after(checkMs, () => this.#lost(subscription), { keepsProcess: false });
        subscription.ping().then(
          () => {
            cancel();
            if (this.#subscription === subscription) this.#checkLater(subscription);
          },
          () => {
            cancel();
            this.#lost(subscription);
          },
        );
      },
      { keepsProcess: false },
    );
  }

  #lost(subscription: Subscription): void {
    if (this.#subscription !== subscription) return;
    this.#end();
    this.#connectLater(firstPause);
  }

  #connectLater(pause: number): void {
    if (this.#listeners.isEmpty) return;
    this.#cancelTimer = this.#clock.after(pause, () => {
      this.#start().then(
        () => this.#listeners.notifyAll(),
        () => {
          this.#listeners.notifyAll();
          this.#connectLater(Math.min(2 * pause, longestPause));
        },
      );
    });
  }

  #end(): void {
    this.#cancelTimer();
    const subscription = this.#subscription;
    this.#subscription = null;
    if (subscription?.isOpen) subscription.destroy();
  }
}

function splitAt(text: string, at: number): readonly [string, string] {
  return [text.slice(0, at), text.slice(at + 1)];
}
