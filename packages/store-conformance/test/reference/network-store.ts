import { randomUUID } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import {
  type CapturedEvent,
  type DispatchEnvelope,
  type DispatchRewrite,
  type DispatchStoreProvider,
  type StoreError,
  storeErrors,
  type WatchScope,
} from '@hansard/provider';
import { createReferenceStore, type ReferenceStore, referenceCapabilities } from './reference-store.ts';
import { emptyWorld, inMemory, keyOf, type World } from './world.ts';

/** What a network store does wrong. */
export type NetworkFault = string;
export type HasFault = (fault: NetworkFault) => boolean;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly args?: readonly unknown[];
  readonly answer?: unknown;
  readonly error?: Pick<StoreError, 'code' | 'message' | 'details' | 'isTransient'>;
  readonly changed?: number;
}

const methods = [
  ...['createDispatch', 'claimDispatch', 'releaseDispatch', 'findClaim', 'findClaims', 'breakClaim'],
  ...['updateDispatch', 'appendEvent', 'appendEvents', 'getDispatchEnvelopes', 'listDispatches'],
  ...['getDispatchEnvelope', 'getDispatchEvents', 'getRecentEvents', 'readEvents', 'putTask', 'findTask'],
  ...[
    'listTasks',
    'searchEvents',
    'deleteDispatch',
    'verifyDispatch',
    'acceptLoss',
    'removeRemains',
    'getRepairs',
  ],
] as const;

/** A server that keeps the data of a reference store. The opening of a client stays when its connection ends. */
export class ReferenceServer {
  readonly world: World = emptyWorld();
  readonly #medium = inMemory(this.world);
  readonly #openings = new Map<string, ReferenceStore>();
  readonly #has: HasFault;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  port = 0;

  private constructor(has: HasFault) {
    this.#has = has;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(has: HasFault): Promise<ReferenceServer> {
    const server = new ReferenceServer(has);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    const address = server.#server.address();
    if (typeof address === 'object' && address !== null) server.port = address.port;
    return server;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    const stops: (() => void)[] = [];
    const send = (message: Message) => socket.writable && socket.write(`${JSON.stringify(message)}\n`);
    let opening: ReferenceStore | undefined;
    let token = '';
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#sockets.delete(socket);
      for (const stop of stops) stop();
      if (!this.#has('ends claims with the connection')) return;
      opening?.close();
      this.#openings.delete(token);
    });
    onLines(socket, ({ id, method = '', args = [] }) => {
      if (method === 'hello') {
        token = String(args[0]);
        opening = this.#openings.get(token) ?? createReferenceStore(this.#medium);
        this.#openings.set(token, opening);
        return;
      }
      try {
        if (opening === undefined) throw new Error('No hello.');
        if (method === 'watch') {
          const [scope, number] = args as [WatchScope, number];
          stops.push(opening.watch(scope, () => send({ changed: number })));
          send({ id: id ?? 0, answer: null });
        } else send({ id: id ?? 0, answer: this.#call(opening, method, args) ?? null });
      } catch (error) {
        if (!storeErrors.is(error)) throw error;
        const { code, message, details, isTransient } = error;
        send({ id: id ?? 0, error: { code, message, details, isTransient } });
      }
    });
  }

  #call(opening: ReferenceStore, method: string, args: readonly unknown[]): unknown {
    if (method === 'rewrite') return rewriteWith(opening, args as never);
    if (method.startsWith('append') && this.#has('knows the last 1,000 events'))
      return this.#appendForgetting(opening, args as never, 1_000);
    if (method.startsWith('append') && this.#has('knows no event'))
      return this.#appendForgetting(opening, args as never, 0);
    if (method === 'clear') {
      const [taskDir, dispatchId] = args as [string, string];
      const dispatch = this.world.data.dispatches.get(taskDir)?.get(dispatchId);
      if (dispatch !== undefined) dispatch.events = [];
      return null;
    }
    return (opening as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[method]?.(
      ...args,
    );
  }

  #appendForgetting(
    opening: ReferenceStore,
    [taskDir, dispatchId, given]: [string, string, CapturedEvent | CapturedEvent[]],
    known: number,
  ): unknown {
    const dispatch = this.world.data.dispatches.get(taskDir)?.get(dispatchId);
    const events = [given].flat();
    const old = new Set(dispatch?.events.slice(0, dispatch.events.length - known).map(({ id }) => id));
    if (dispatch === undefined || !events.some(({ id }) => old.has(id))) {
      const answer = opening.appendEvents(taskDir, dispatchId, events);
      return Array.isArray(given) ? answer : answer[0];
    }
    dispatch.events = [...dispatch.events, ...events];
    const positions = events.map((_, index) => dispatch.events.length - events.length + index);
    return Array.isArray(given) ? positions : positions[0];
  }
}

function rewriteWith(
  opening: ReferenceStore,
  [taskDir, dispatchId, { envelope, events, notice }]: [
    string,
    string,
    { envelope: DispatchEnvelope; events: CapturedEvent[]; notice: CapturedEvent | null },
  ],
): unknown {
  let index = -1;
  return opening.rewriteDispatch(taskDir, dispatchId, {
    envelope: () => envelope,
    event: (old) => {
      index += 1;
      return events[index] ?? old;
    },
    ...(notice !== null && { notice: () => notice }),
  });
}

function onLines(socket: Socket, use: (message: Message) => void, has: HasFault = () => false): void {
  let text = '';
  const decoder = new StringDecoder('utf8');
  socket.on('data', (bytes: Buffer) => {
    text += has('decodes each chunk alone') ? bytes.toString('utf8') : decoder.write(bytes);
    if (has('takes each chunk for a message')) {
      try {
        for (const line of text.split('\n').filter(Boolean)) use(JSON.parse(line));
      } catch {
        // A part of a message is none.
      }
      text = '';
      return;
    }
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) use(JSON.parse(line));
  });
}

/** Faults of a client that continues with a connection after a call without an answer. */
const keepsConnection: readonly NetworkFault[] = [
  'takes replies in their order',
  'keeps the connection of an opening that failed',
  'keeps its connection after `close`',
];

interface Pending {
  readonly method: string;
  readonly args: readonly unknown[];
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout | undefined;
}

interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** One opening: a connection at a time, and a limit of each call. */
class NetworkClient {
  readonly #address: ServerAddress;
  readonly #answerMs: number;
  readonly #has: HasFault;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Map<number, { readonly scope: WatchScope; readonly call: () => void }>();
  readonly #token = randomUUID();
  #socket: Socket | null = null;
  #connecting: Promise<Socket> | null = null;
  #again: NodeJS.Timeout | undefined;
  #next = 0;
  #reconnections = 0;
  #wasLost = false;
  isClosed = false;

  constructor(address: ServerAddress, answerMs: number, has: HasFault) {
    this.#address = address;
    this.#answerMs = answerMs;
    this.#has = has;
  }

  outage(message: string, args: readonly unknown[] = []): unknown {
    if (this.#has('fails with errors of the system'))
      return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    if (this.#has('fails with texts')) return 'connection lost';
    const shown = this.#has('shows what it could not store') ? ` ${JSON.stringify(args)}` : '';
    const isTransient = !this.#has('says that a lost connection stays lost');
    return storeErrors.error('STORE_UNAVAILABLE', `${message}${shown}`, { isTransient });
  }

  connect(): Promise<Socket> {
    if (this.#socket !== null) return Promise.resolve(this.#socket);
    if (this.#wasLost && this.#has('never connects again'))
      return Promise.reject(this.outage('Not connected.'));
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  async #open(): Promise<Socket> {
    const socket = connect(this.#address.port, this.#address.host).setNoDelay();
    socket.on('error', () => {});
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve);
        socket.once('close', () => reject(this.outage('The server cannot be reached.')));
      });
    } catch (error) {
      this.#reconnectLater();
      throw error;
    }
    const keeps =
      this.#has('connects again after `close`') || this.#has('keeps its connection after `close`');
    if (this.isClosed && !keeps) {
      socket.destroy();
      throw this.outage('Closed.');
    }
    this.#socket = socket;
    socket.on('close', () => this.#lost(socket));
    socket.on('end', () => this.#has('takes the end of a connection for an answer') && this.#settleAll(null));
    onLines(socket, (message) => this.#receive(message), this.#has);
    socket.write(
      `${JSON.stringify({ method: 'hello', args: [this.#has('is another opening after each connection') ? randomUUID() : this.#token] })}\n`,
    );
    if (this.#wasLost) this.#watchAgain();
    return socket;
  }

  #watchAgain(): void {
    if (this.#has('forgets its listeners with the connection')) return;
    for (const [number, { scope, call }] of this.#listeners) {
      // Changes during the outage were not reported, nor those before the server knows the listener again.
      this.request('watch', [scope, number]).then(
        () => this.#has('misses the changes of an outage') || call(),
        () => {},
      );
    }
  }

  #reconnectLater(): void {
    const keeps = this.#has('connects again after `close`');
    if ((this.isClosed && !keeps) || this.#has('never connects again')) return;
    if (this.#listeners.size === 0 && !keeps) return;
    this.#reconnections += 1;
    // A test that has ended does not wait for a broken store.
    if (this.#reconnections > 500) return;
    clearTimeout(this.#again);
    const ms = this.#has('connects again without a pause') ? 0 : 50;
    this.#again = setTimeout(() => void this.connect().catch(() => {}), ms);
  }

  #lost(socket: Socket): void {
    if (this.#socket === socket) this.#socket = null;
    this.#wasLost = true;
    if (this.#has('never answers what was under way')) {
      for (const { timer } of this.#pending.values()) clearTimeout(timer);
    } else this.#settleAll();
    this.#reconnectLater();
  }

  #settleAll(answer?: null): void {
    for (const [id, { resolve, reject, timer, args }] of this.#pending) {
      clearTimeout(timer);
      this.#pending.delete(id);
      if (answer === null) resolve(null);
      else reject(this.outage('The connection was lost.', args));
    }
  }

  #receive({ id = 0, answer, error, changed }: Message): void {
    if (changed !== undefined) {
      this.#listeners.get(changed)?.call();
      return;
    }
    const number = this.#has('takes replies in their order') ? [...this.#pending.keys()][0] : id;
    const pending = this.#pending.get(number ?? -1);
    if (pending === undefined) return;
    this.#pending.delete(number ?? -1);
    clearTimeout(pending.timer);
    if (error === undefined) pending.resolve(answer);
    else
      pending.reject(
        storeErrors.error(error.code, error.message, {
          details: error.details,
          isTransient: error.isTransient,
        }),
      );
  }

  async request(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.isClosed && !this.#has('works after `close`'))
      throw storeErrors.error('STORE_CLOSED', 'The store is closed.');
    const limit = this.#has('waits for an answer without a limit') ? undefined : this.#answerMs;
    return new Promise((resolve, reject) => {
      this.#next += 1;
      const id = this.#next;
      const timer = limit === undefined ? undefined : setTimeout(() => this.#giveUp(id), limit);
      this.#pending.set(id, { method, args, resolve, reject, timer });
      this.connect().then(
        (socket) => socket.write(`${JSON.stringify({ id, method, args })}\n`),
        (error: unknown) => {
          clearTimeout(timer);
          this.#pending.delete(id);
          reject(error);
        },
      );
    });
  }

  #giveUp(id: number): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.reject(this.outage('The server does not answer.', pending.args));
    // Its answer would be that of another call.
    if (!keepsConnection.some(this.#has)) this.#socket?.destroy();
  }

  async watch(scope: WatchScope, call: () => void): Promise<() => void> {
    this.#next += 1;
    const number = this.#next;
    this.#listeners.set(number, { scope, call });
    try {
      await this.request('watch', [scope, number]);
    } catch (error) {
      this.#listeners.delete(number);
      throw error;
    }
    return () => void this.#listeners.delete(number);
  }

  async close(release: () => Promise<unknown>): Promise<void> {
    if (this.isClosed) return;
    if (this.#has('says goodbye for ever'))
      await this.request('listTasks', []).catch(() => new Promise(() => {}));
    await release().catch(() => {});
    this.isClosed = true;
    clearTimeout(this.#again);
    if (this.#has('keeps a timer after `close`')) setTimeout(() => {}, 10_000);
    this.#listeners.clear();
    this.#settleAll();
    if (this.#has('connects again after `close`')) this.#reconnectLater();
    if (this.#has('keeps its connection after `close`')) await this.connect().catch(() => {});
    else this.#socket?.destroy();
  }
}

/** A reference store whose data is behind a connection. */
export async function openNetworkStore(
  address: ServerAddress,
  answerMs: number,
  has: HasFault = () => false,
): Promise<DispatchStoreProvider> {
  const client = new NetworkClient(address, answerMs, has);
  const call = (method: string, ...args: readonly unknown[]) => client.request(method, args);
  if (has('waits for the server without a limit when it is opened'))
    for (let tries = 0; tries < 250; tries += 1) {
      const isOpen = await client.connect().then(
        () => true,
        () => false,
      );
      if (isOpen) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  else
    try {
      await call('listTasks');
    } catch (error) {
      if (!has('keeps the connection of an opening that failed')) await client.close(async () => {});
      throw error;
    }
  const claimed = new Set<string>();
  const plain = Object.fromEntries(
    methods.map((method) => [method, (...args: readonly unknown[]) => call(method, ...args)]),
  ) as unknown as DispatchStoreProvider;
  return {
    ...plain,
    ...faultsOf(plain, call, has),
    contract: 1,
    capabilities: { ...referenceCapabilities },
    createDispatch: async (taskDir, envelope) => {
      await call('createDispatch', taskDir, envelope);
      claimed.add(keyOf(taskDir, envelope.dispatchId));
    },
    claimDispatch: async (taskDir, dispatchId) => {
      const claim = await plain.claimDispatch(taskDir, dispatchId);
      claimed.add(keyOf(taskDir, dispatchId));
      return claim;
    },
    rewriteDispatch: (taskDir, dispatchId, rewrite) =>
      rewriteFrom(plain, call, has, [taskDir, dispatchId, rewrite]),
    watch: (scope, onChange) => client.watch(scope, onChange),
    close: () =>
      client.close(() => Promise.all([...claimed].map((key) => call('releaseDispatch', ...key.split('\n'))))),
  };
}

type Call = (method: string, ...args: readonly unknown[]) => Promise<unknown>;

async function rewriteFrom(
  plain: DispatchStoreProvider,
  call: Call,
  has: HasFault,
  [taskDir, dispatchId, rewrite]: [string, string, DispatchRewrite],
) {
  const old = await plain.getDispatchEnvelope(taskDir, dispatchId);
  const stored = await plain.getDispatchEvents(taskDir, dispatchId);
  const envelope = rewrite.envelope(old as DispatchEnvelope);
  const events = stored.map((event) => rewrite.event(event));
  const notice = rewrite.notice?.() ?? null;
  if (has('rewrites in two requests'))
    await call('rewrite', taskDir, dispatchId, { envelope, events: events.slice(0, 2), notice: null });
  return (await call('rewrite', taskDir, dispatchId, { envelope, events, notice })) as { remains: string[] };
}

/** The methods of faults that need another request, or more of them. */
function faultsOf(plain: DispatchStoreProvider, call: Call, has: HasFault): Partial<DispatchStoreProvider> {
  const faults: Partial<DispatchStoreProvider> = {};
  if (has('has no events while it cannot reach the server'))
    faults.getDispatchEvents = async (...place) => {
      try {
        return await plain.getDispatchEvents(...place);
      } catch (error) {
        if (storeErrors.is(error, 'STORE_UNAVAILABLE')) return [];
        throw error;
      }
    };
  if (has('acknowledges what it could not send'))
    faults.appendEvents = async (taskDir, dispatchId, events) => {
      try {
        return await plain.appendEvents(taskDir, dispatchId, events);
      } catch (error) {
        if (!storeErrors.is(error, 'STORE_UNAVAILABLE')) throw error;
        setTimeout(
          () => void Promise.resolve(plain.appendEvents(taskDir, dispatchId, events)).catch(() => {}),
          60,
        );
        return events.map((_, index) => index);
      }
    };
  if (has('takes its claim back after an outage'))
    faults.appendEvents = async (taskDir, dispatchId, events) => {
      try {
        return await plain.appendEvents(taskDir, dispatchId, events);
      } catch (error) {
        if (!storeErrors.is(error, 'STORE_LOCKED')) throw error;
        await plain.breakClaim?.(taskDir, dispatchId);
        await plain.claimDispatch(taskDir, dispatchId);
        return plain.appendEvents(taskDir, dispatchId, events);
      }
    };
  if (has('deletes in two requests'))
    faults.deleteDispatch = async (taskDir, dispatchId) => {
      await call('clear', taskDir, dispatchId);
      await call('deleteDispatch', taskDir, dispatchId);
    };
  if (has('sends a request for each event'))
    faults.appendEvents = async (taskDir, dispatchId, events) => {
      const positions: number[] = [];
      for (const event of events) positions.push(await plain.appendEvent(taskDir, dispatchId, event));
      return positions;
    };
  if (has('sends a request for each claim'))
    faults.findClaims = async (taskDir, ids) => {
      const claims = [];
      for (const id of ids) claims.push((await plain.findClaims?.(taskDir, [id]))?.[0] ?? null);
      return claims;
    };
  if (has('sends a request for each dispatch of a listing'))
    faults.listDispatches = async (options) => {
      const page = await plain.listDispatches(options);
      for (const { taskDir, dispatchId } of page.dispatches)
        await plain.getDispatchEnvelope(taskDir, dispatchId ?? '');
      return page;
    };
  if (has('reads the log before each append'))
    faults.appendEvents = async (taskDir, dispatchId, events) => {
      for (let after = -1, count = 10; count === 10; ) {
        const page = await plain.readEvents(taskDir, dispatchId, { after, limit: 10 });
        [after, count] = [page.next, page.events.length];
      }
      return plain.appendEvents(taskDir, dispatchId, events);
    };
  return faults;
}
