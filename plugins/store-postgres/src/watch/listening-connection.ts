import type { Clock } from '@hansard/provider';
import { Client, type ClientConfig } from 'pg';
import { isConnectionUsable } from '../database/postgres-errors.ts';

export interface ListeningConnectionSetup {
  readonly client: ClientConfig;
  readonly channel: string;
  readonly clock: Clock;
  /** Sends a notification through another connection. */
  readonly notify: (payload: string) => Promise<void>;
  /** A notification of another opening. */
  readonly onNotification: (payload: string) => void;
  /** The connection ended. */
  readonly onLost: () => void;
}

/** Milliseconds: the time in which a notification of our own must arrive. */
const testMs = 1_000;
/** Milliseconds between two checks that the server still answers. */
const checkMs = 5_000;

/** One connection that listens to a channel. It reports its end once. */
export class ListeningConnection {
  readonly #client: Client;
  readonly #setup: ListeningConnectionSetup;
  #cancelCheck: () => void = () => {};
  #hasEnded = false;

  private constructor(setup: ListeningConnectionSetup) {
    this.#setup = setup;
    this.#client = new Client({ ...setup.client, query_timeout: checkMs, keepAlive: true });
  }

  /**
   * Connects and listens. Returns null if LISTEN is refused, or accepted and notifications do not arrive, as through a pooler that
   * gives each transaction another connection.
   */
  static async open(setup: ListeningConnectionSetup): Promise<ListeningConnection | null> {
    const connection = new ListeningConnection(setup);
    try {
      return (await connection.#start()) ? connection : null;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  close(): void {
    this.#hasEnded = true;
    this.#cancelCheck();
    // At once: what arrives from now on is of no use.
    this.#client.end().catch(() => {});
    streamOf(this.#client)?.destroy();
  }

  async #start(): Promise<boolean> {
    const { channel, notify } = this.#setup;
    const test = `test ${crypto.randomUUID()}`;
    let hasArrived = (_: boolean): void => {};
    const arrival = new Promise<boolean>((resolve) => {
      hasArrived = resolve;
    });
    this.#client.on('error', () => this.#lost());
    this.#client.on('end', () => this.#lost());
    this.#client.on('notification', ({ payload = '' }) => {
      if (payload === test) hasArrived(true);
      else if (!payload.startsWith('test ')) this.#setup.onNotification(payload);
    });
    await this.#client.connect();
    if (!(await this.#listen(channel))) return false;
    await notify(test);
    const cancel = this.#setup.clock.after(testMs, () => hasArrived(false));
    const isUsable = await arrival;
    cancel();
    if (isUsable) this.#checkLater();
    else this.close();
    return isUsable;
  }

  async #listen(channel: string): Promise<boolean> {
    try {
      await this.#client.query(`LISTEN "${channel}"`);
      return true;
    } catch (error) {
      if (!isConnectionUsable(error)) throw error;
      this.close();
      return false;
    }
  }

  /** A host that disappeared sends nothing, so only a question shows that it is away. */
  #checkLater(): void {
    this.#cancelCheck = this.#setup.clock.after(
      checkMs,
      () => {
        this.#client.query('SELECT 1').then(
          () => this.#hasEnded || this.#checkLater(),
          () => this.#lost(),
        );
      },
      { keepsProcess: false },
    );
  }

  #lost(): void {
    if (this.#hasEnded) return;
    this.close();
    this.#setup.onLost();
  }
}

/** The socket, which `pg` does not declare. */
function streamOf(client: Client): { destroy(): void } | undefined {
  return (client as unknown as { connection?: { stream?: { destroy(): void } } }).connection?.stream;
}
