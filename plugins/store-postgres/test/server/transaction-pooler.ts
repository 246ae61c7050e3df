import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface PoolerOptions {
  /** `refuse`: LISTEN is an error. `lose`: it succeeds on some connection, and no notification arrives, as with pgbouncer. */
  readonly listen: 'refuse' | 'lose';
}

export interface TransactionPooler {
  readonly port: number;
  /** How often a client got another connection to the server than for its transaction before. */
  readonly changes: number;
}

/** A connection to the server, which has logged in. */
interface Upstream {
  readonly socket: Socket;
  /** Receives what the server sends. */
  onMessage: (message: Buffer) => void;
}

const type = { error: 0x45, notification: 0x41, query: 0x51, ready: 0x5a, terminate: 0x58 } as const;
const upstreams = 3;

/**
 * Between a store and its server: a pooler in transaction mode, as old versions of pgbouncer are. Each transaction gets the connection that
 * has waited longest, so a session never keeps one. What a statement leaves on it, such as a prepared statement, others find.
 */
export async function startPooler(serverPort: number, { listen }: PoolerOptions): Promise<TransactionPooler> {
  const sockets = new Set<Socket>();
  const pool = new UpstreamPool();
  for (let at = 0; at < upstreams; at += 1) await pool.connect(serverPort, sockets);
  const server = createServer((socket) => {
    const client = new PooledClient(track(socket, sockets), pool, listen);
    const onData = messagesOf((message) => client.receive(message));
    let hasStarted = false;
    socket.on('data', (bytes: Buffer) => {
      if (hasStarted) {
        onData(bytes);
        return;
      }
      // The first message has no type. Clients of a test do not use TLS, so it is the start.
      hasStarted = true;
      socket.write(pool.greeting);
      onData(bytes.subarray(bytes.readInt32BE(0)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  pool.port = typeof address === 'object' && address !== null ? address.port : 0;
  return pool;
}

/** The connections to the server, and the clients that wait for one. */
class UpstreamPool implements TransactionPooler {
  port = 0;
  changes = 0;
  /** What the server sends to a client that logs in. */
  greeting = Buffer.alloc(0);
  readonly #idle: Upstream[] = [];
  readonly #waiting: ((upstream: Upstream) => void)[] = [];

  async connect(serverPort: number, sockets: Set<Socket>): Promise<void> {
    const socket = track(connect(serverPort, '127.0.0.1'), sockets);
    const upstream: Upstream = { socket, onMessage: () => {} };
    const seen: Buffer[] = [];
    const isReady = new Promise<void>((resolve) => {
      upstream.onMessage = (message) => {
        seen.push(message);
        if (message[0] === type.ready) resolve();
      };
    });
    socket.on(
      'data',
      messagesOf((message) => upstream.onMessage(message)),
    );
    socket.write(startupMessage({ user: 'postgres', database: 'postgres', application_name: 'pooler' }));
    await isReady;
    this.greeting = Buffer.concat(seen);
    this.release(upstream);
  }

  /** Calls `use` with a connection, at once or when one is released. */
  take(use: (upstream: Upstream) => void): void {
    const upstream = this.#idle.shift();
    if (upstream === undefined) this.#waiting.push(use);
    else use(upstream);
  }

  release(upstream: Upstream): void {
    upstream.onMessage = () => {};
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(upstream);
    else next(upstream);
  }
}

/** A client, which has a connection to the server for the time of a transaction. */
class PooledClient {
  readonly #socket: Socket;
  readonly #pool: UpstreamPool;
  readonly #listen: PoolerOptions['listen'];
  #current: Upstream | null = null;
  #last: Upstream | null = null;
  #isAsking = false;
  #held: Buffer[] = [];

  constructor(socket: Socket, pool: UpstreamPool, listen: PoolerOptions['listen']) {
    this.#socket = socket;
    this.#pool = pool;
    this.#listen = listen;
  }

  receive(message: Buffer): void {
    if (message[0] === type.terminate) return;
    if (this.#listen === 'refuse' && isListen(message)) {
      this.#socket.write(Buffer.concat([errorMessage('0A000', 'LISTEN is not supported'), readyMessage]));
      return;
    }
    if (this.#current !== null) {
      this.#current.socket.write(message);
      return;
    }
    this.#held.push(message);
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#pool.take((upstream) => this.#use(upstream));
  }

  #use(upstream: Upstream): void {
    if (this.#last !== null && this.#last !== upstream) this.#pool.changes += 1;
    [this.#current, this.#last, this.#isAsking] = [upstream, upstream, false];
    upstream.onMessage = (message) => {
      if (message[0] !== type.notification) this.#socket.write(message);
      // The last byte says whether a transaction is open.
      if (message[0] !== type.ready || message.at(-1) !== 0x49) return;
      this.#current = null;
      this.#pool.release(upstream);
    };
    for (const message of this.#held) upstream.socket.write(message);
    this.#held = [];
  }
}

function track(socket: Socket, sockets: Set<Socket>): Socket {
  sockets.add(socket);
  return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
}

/** Splits a stream into messages: a type, the length, the content. */
function messagesOf(onMessage: (message: Buffer) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = rest.readInt32BE(1) + 1;
      const message = rest.subarray(0, end);
      rest = rest.subarray(end);
      onMessage(message);
    }
  };
}

function isListen(message: Buffer): boolean {
  return message[0] === type.query && message.toString('utf8', 5).startsWith('LISTEN');
}

function startupMessage(parameters: Readonly<Record<string, string>>): Buffer {
  const text = `${Object.entries(parameters).flat().join('\0')}\0\0`;
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + Buffer.byteLength(text), 0);
  head.writeInt32BE(196_608, 4);
  return Buffer.concat([head, Buffer.from(text)]);
}

function errorMessage(code: string, message: string): Buffer {
  const fields = Buffer.from(`SERROR\0VERROR\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head[0] = type.error;
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}

const readyMessage = Buffer.from([type.ready, 0, 0, 0, 5, 0x49]);
