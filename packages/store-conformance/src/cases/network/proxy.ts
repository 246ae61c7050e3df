import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

export interface Address {
  readonly host: string;
  readonly port: number;
}

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Whether the server has sent something since the client sent something. */
  isAnswered: boolean;
  /** What the server has sent while replies are held. */
  readonly held: Buffer[];
}

/** Between a store and its server. It knows nothing of what they say. */
export class NetworkProxy {
  /** How often a client began to send after the server had sent something, or first of all. */
  requests = 0;
  /** Connections that the store began. */
  attempts = 0;
  /** Replies that were lost. */
  lost = 0;
  readonly #target: Address;
  readonly #pairs = new Set<Pair>();
  #server: Server;
  #port = 0;
  #state: 'open' | 'cut' | 'silent' = 'open';
  #repliesBeforeLoss = -1;
  #isHolding = false;
  /** What is on its way slowly, by the socket that gets it. */
  readonly #queues = new WeakMap<Socket, Promise<void>>();
  #slow: { readonly pieces: number; readonly ms: number } | null = null;

  private constructor(target: Address) {
    this.#target = target;
    this.#server = this.#newServer();
  }

  static async start(target: Address): Promise<NetworkProxy> {
    const proxy = new NetworkProxy(target);
    await proxy.#listen();
    return proxy;
  }

  get address(): Address {
    return { host: '127.0.0.1', port: this.#port };
  }

  /** Connections of the store that are open. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Whether nothing that the store sends reaches the server. */
  get isApart(): boolean {
    return this.#state !== 'open';
  }

  /** Resets every connection, and each new one, until `heal`. */
  cut(): void {
    this.#state = 'cut';
    for (const { client, upstream } of this.#pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
  }

  /** Passes nothing on and ends nothing, like a cable that was pulled, until `heal`. */
  silence(): void {
    this.#state = 'silent';
  }

  /** Passes everything on again. A connection that was silent is reset: nobody knows it any more. */
  heal(): void {
    if (this.#state === 'silent') this.cut();
    this.#state = 'open';
    this.#slow = null;
    this.#repliesBeforeLoss = -1;
    this.#isHolding = false;
    for (const { client, held } of this.#pairs) for (const bytes of held.splice(0)) this.#pass(bytes, client);
  }

  /** Loses the reply after the next `after` ones, with its connection. The server has received the request. */
  loseReply(after: number): void {
    this.#repliesBeforeLoss = after;
  }

  /** Keeps what the server sends until `heal`, which passes it on. */
  holdReplies(): void {
    this.#isHolding = true;
  }

  /** Ends each connection on the side of the store, as a server does that ends a session. */
  halfClose(): void {
    for (const { client } of this.#pairs) client.end();
  }

  /** Passes everything on in pieces of `pieces` bytes, each after `ms` milliseconds. */
  slowDown(pieces: number, ms: number): void {
    this.#slow = { pieces, ms };
  }

  /** Ends every connection, and refuses new ones for `ms` milliseconds. */
  async restart(ms: number): Promise<void> {
    const isClosed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const { client, upstream } of this.#pairs) {
      client.end();
      client.destroySoon();
      upstream.destroy();
    }
    await isClosed;
    await setTimeout(ms);
    this.#server = this.#newServer();
    await this.#listen();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  #newServer(): Server {
    return createServer((client) => this.#connect(client));
  }

  async #listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#port, '127.0.0.1', resolve);
    });
    const address = this.#server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
  }

  #connect(client: Socket): void {
    this.attempts += 1;
    client.on('error', () => {});
    if (this.#state === 'cut') {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(this.#target.port, this.#target.host).setNoDelay();
    client.setNoDelay();
    const pair: Pair = { client, upstream, isAnswered: true, held: [] };
    this.#pairs.add(pair);
    upstream.on('error', () => {});
    client.on('close', () => {
      this.#pairs.delete(pair);
      upstream.destroy();
    });
    upstream.on('close', () => {
      if (this.#state !== 'silent') client.destroySoon();
    });
    client.on('data', (bytes) => {
      if (pair.isAnswered) this.requests += 1;
      pair.isAnswered = false;
      this.#pass(bytes, upstream);
    });
    upstream.on('data', (bytes) => {
      pair.isAnswered = true;
      this.#answer(bytes, pair);
    });
  }

  #answer(bytes: Buffer, { client, upstream, held }: Pair): void {
    if (this.#isHolding) held.push(bytes);
    else if (this.#repliesBeforeLoss === 0 && this.#state === 'open') {
      this.lost += 1;
      client.resetAndDestroy();
      upstream.destroy();
    } else this.#pass(bytes, client);
    if (this.#repliesBeforeLoss >= 0) this.#repliesBeforeLoss -= 1;
  }

  #pass(bytes: Buffer, to: Socket): void {
    if (this.#state !== 'open') return;
    if (this.#slow === null) {
      const queue = this.#queues.get(to);
      if (queue === undefined) to.write(bytes);
      else
        this.#queues.set(
          to,
          queue.then(() => void (to.writable && to.write(bytes))),
        );
      return;
    }
    const { pieces, ms } = this.#slow;
    this.#queues.set(to, sendSlowly(this.#queues.get(to), bytes, { pieces, ms, to }));
  }
}

/** Only the first pieces wait, so that a long message ends. */
const slowPieces = 64;

async function sendSlowly(
  before: Promise<void> | undefined,
  bytes: Buffer,
  { pieces, ms, to }: { readonly pieces: number; readonly ms: number; readonly to: Socket },
): Promise<void> {
  await before;
  let at = 0;
  for (let count = 0; count < slowPieces && at < bytes.length; count += 1) {
    if (to.writable) to.write(bytes.subarray(at, at + pieces));
    at += pieces;
    await setTimeout(ms);
  }
  if (at < bytes.length && to.writable) to.write(bytes.subarray(at));
}
