import { createHash } from 'node:crypto';
import { RedisClient } from '@redis/client';
import { isForbidden, isLostConnection, isUnknownScript, NoAnswer, unavailable } from './redis-errors.ts';
import { type Script, scripts } from './scripts.ts';
import type { ServerAddress } from './server-address.ts';

/** An answer of the server. Scripts return texts, whole numbers, lists of them, and null. */
export type Reply = string | number | null | readonly Reply[];

export interface ServerSetup {
  readonly address: ServerAddress;
  /** The beginning of each key, in braces, so that a cluster keeps them together. */
  readonly base: string;
  /** Whether the server must write each command to its disk before it answers. */
  readonly needsDisk: boolean;
  /** Milliseconds: the time limit of a connection. */
  readonly connectTimeout: number;
  /** Milliseconds: the time limit of a command. */
  readonly commandTimeout: number;
}

/** The version of the keys. */
const keysVersion = 1;

const digests = new Map(
  Object.values(scripts).map(({ name, text }) => [name, createHash('sha1').update(text).digest('hex')]),
);

type Client = ReturnType<typeof newClient>;

// `createClient` makes a class of all commands for each set of options: 20 ms of processor time.
const createClient = RedisClient.factory({ RESP: 2 });

function newClient({ client }: ServerAddress, connectTimeout: number) {
  const socket = { ...client.socket, connectTimeout, reconnectStrategy: false as const };
  const options = { RESP: 2, name: 'hansard', disableClientInfo: true, disableOfflineQueue: true } as const;
  // Its errors reach the commands. Without a listener they would end the process.
  return createClient({ ...options, ...client, socket }).on('error', () => {});
}

/**
 * One connection to the server, made when it is needed and made again after a loss. A command whose connection was lost fails; only
 * `repeatable` sends it once more. Each new connection asks the server for its version, its role and its settings.
 */
export class Server {
  readonly name: string;
  readonly base: string;
  readonly #setup: ServerSetup;
  #client: Client | null = null;
  #connecting: Promise<Client> | null = null;
  #pending = 0;
  #isCut = false;
  #version = '';

  constructor(setup: ServerSetup) {
    this.#setup = setup;
    this.base = setup.base;
    this.name = `${setup.address.name}, prefix ${setup.base.slice(1, -2)}`;
  }

  /** Such as `Redis 7.0.15`, after the first connection. */
  get version(): string {
    return this.#version;
  }

  /** Runs a script once. After a lost connection its outcome is unknown. */
  async run(script: Script, args: readonly string[]): Promise<Reply> {
    const rest = ['1', this.base, ...args];
    try {
      return await this.send(['EVALSHA', digests.get(script.name) ?? '', ...rest]);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return this.send(['EVAL', script.text, ...rest]);
    }
  }

  /** Runs a script that may be repeated after a lost connection. */
  repeatable(script: Script, args: readonly string[]): Promise<Reply> {
    return reconnectOnce(() => this.run(script, args));
  }

  /** Sends a command that may be repeated after a lost connection. */
  repeatableCommand(args: readonly string[]): Promise<Reply> {
    return reconnectOnce(() => this.send(args));
  }

  async send(args: readonly string[]): Promise<Reply> {
    const client = await this.#connected();
    // Only a command under way keeps the process running.
    if (this.#pending++ === 0) client.ref();
    try {
      return await this.#ask(client, args);
    } finally {
      if (--this.#pending === 0) this.#client?.unref();
    }
  }

  /** Another connection, for a subscription, which never connects again by itself. */
  async connectAnother(): Promise<Client> {
    const client = newClient(this.#setup.address, this.#setup.connectTimeout);
    await client.connect();
    return client;
  }

  /** Asks whether the server still keeps what `disk` promises. @throws STORE_UNAVAILABLE */
  async assertDurable(): Promise<void> {
    if (!this.#setup.needsDisk) return;
    this.#assertDisk(await reconnectOnce(() => this.#settings((args) => this.send(args))));
  }

  /** Ends the connection and opens no other one, so that commands under way fail. */
  cut(): void {
    this.#isCut = true;
    end(this.#client);
    this.#client = null;
  }

  async #connected(): Promise<Client> {
    if (this.#isCut) throw unavailable(this.name, 'is no longer used by this store, which was closed', true);
    if (this.#client?.isReady) return this.#client;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  async #connect(): Promise<Client> {
    const { address, connectTimeout } = this.#setup;
    end(this.#client);
    this.#client = null;
    const client = newClient(address, connectTimeout);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      end(client);
    }, connectTimeout);
    try {
      await client.connect();
      clearTimeout(timer);
      await this.#check(client);
    } catch (error) {
      end(client);
      throw isLate ? new NoAnswer(`no connection within ${connectTimeout} ms`) : error;
    } finally {
      clearTimeout(timer);
    }
    if (this.#isCut) end(client);
    else this.#client = client;
    return client;
  }

  async #ask(client: Client, args: readonly string[]): Promise<Reply> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new NoAnswer(`no answer within ${this.#setup.commandTimeout} ms`));
      if (this.#client === client) this.#client = null;
      end(client);
    }, this.#setup.commandTimeout);
    try {
      const answer = client.sendCommand([...args]) as Promise<unknown> as Promise<Reply>;
      answer.catch(() => {});
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** @throws STORE_UNAVAILABLE unless the server can keep a store */
  async #check(client: Client): Promise<void> {
    const { name } = this;
    const ask = (...args: string[]) => this.#ask(client, args);
    const info = infoOf(await ask('INFO', 'server', 'replication', 'memory', 'persistence'));
    const field = (key: string) => info.get(key) ?? '';
    const valkey = field('valkey_version');
    const version = valkey || field('redis_version');
    this.#version = `${valkey === '' ? 'Redis' : 'Valkey'} ${version}`;
    if (Number(version.split('.')[0]) < 7)
      throw unavailable(name, `is ${this.#version}. The store needs Redis or Valkey 7.0 or newer`, false);
    if (field('loading') === '1') throw unavailable(name, 'is loading its data. Try again', true);
    if (field('role') !== 'master')
      throw unavailable(name, 'is a replica. Use the URL of the primary server', true);
    const policy = field('maxmemory_policy');
    if (policy !== 'noeviction')
      throw unavailable(
        name,
        `removes data when its memory is full (maxmemory-policy ${policy}). Set maxmemory-policy noeviction`,
        false,
      );
    if (this.#setup.needsDisk) this.#assertDisk(await this.#settings((args) => ask(...args)));
    const found = await ask('HGET', `${this.base}meta`, 'version');
    if (Number(found ?? 0) > keysVersion) throw newerKeys(name);
  }

  async #settings(ask: (args: readonly string[]) => Promise<Reply>): Promise<ReadonlyMap<string, string>> {
    try {
      const found = (await ask(['CONFIG', 'GET', 'appendonly', 'appendfsync'])) as readonly string[];
      return new Map(found.map((key, at) => [key, found[at + 1] ?? '']));
    } catch (error) {
      if (!isForbidden(error) && !/unknown command|unknown subcommand/i.test(String(error))) throw error;
      throw unavailable(
        this.name,
        "does not say whether it writes to its disk before it answers: this user may not run CONFIG GET. Allow it, or set durability to 'process'",
        false,
      );
    }
  }

  #assertDisk(settings: ReadonlyMap<string, string>): void {
    const [appendonly, appendfsync] = [settings.get('appendonly'), settings.get('appendfsync')];
    if (appendonly === 'yes' && appendfsync === 'always') return;
    throw unavailable(
      this.name,
      `answers before data is on its disk (appendonly ${appendonly}, appendfsync ${appendfsync}). Set appendonly yes and appendfsync always, or durability to 'process'`,
      false,
    );
  }
}

/** The version of the keys that this version reads and writes, for scripts. */
export const versionText = String(keysVersion);

export function newerKeys(name: string) {
  return unavailable(name, 'has a store of a newer version of Hansard. Update Hansard', false);
}

/** The fields of an answer to INFO. */
export function infoOf(reply: Reply): ReadonlyMap<string, string> {
  const lines = String(reply).split('\r\n');
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

function end(client: Client | null): void {
  try {
    client?.destroy();
  } catch {
    // It was never open.
  }
}

async function reconnectOnce<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isLostConnection(error)) throw error;
    return work();
  }
}
