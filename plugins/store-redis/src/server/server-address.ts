import { readFileSync } from 'node:fs';
import { type StoreError, storeErrors } from '@hansard/provider';
import type { RedisClientOptions } from '@redis/client';

/** Where the server is, and how to connect to it. */
export interface ServerAddress {
  /** For messages: `host:port/database`, without the user and the password. */
  readonly name: string;
  readonly client: Pick<RedisClientOptions, 'username' | 'password' | 'database'> & {
    readonly socket: NonNullable<RedisClientOptions['socket']>;
  };
}

/**
 * Reads the URL of a server: `redis://USER:PASSWORD@HOST:PORT/DATABASE`, or `rediss:` for TLS, which is always verified. `tlsCa` is a file with
 * the certificates of the authorities that the server's certificate may come from; absent: those of Node.
 * @throws STORE_UNAVAILABLE if the URL cannot be used. No message repeats a part of it.
 */
export function parseServerAddress(url: string, tlsCa?: string): ServerAddress {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  // Any part of the URL can be a password, or a piece of one.
  if (parsed === null) throw unusable('it is not a URL');
  const { protocol } = parsed;
  if (protocol !== 'redis:' && protocol !== 'rediss:') throw unusable('its scheme is not redis or rediss');
  const rest = `${parsed.pathname}${parsed.search}`;
  if (rest.includes('@') || url.includes('#'))
    throw unusable('its user or password has a /, ? or #, or its end has an @. Write %2F, %3F, %23 and %40');
  if (parsed.search !== '') throw unusable('it has parameters');
  const path = parsed.pathname.slice(1);
  if (!/^\d{0,5}$/.test(path)) throw unusable('its database is not a number');
  const host = decode(parsed.hostname.replace(/^\[(.*)\]$/, '$1')) || 'localhost';
  const port = Number(parsed.port || 6379);
  const [username, password] = [decode(parsed.username), decode(parsed.password)];
  const tls = { tls: true, servername: host, ...(tlsCa === undefined ? {} : { ca: readCa(tlsCa) }) } as const;
  return {
    name: `${host.includes(':') ? `[${host}]` : host}:${port}/${Number(path)}`,
    client: {
      socket: { host, port, ...(protocol === 'rediss:' ? tls : {}) },
      database: Number(path),
      ...(username === '' ? {} : { username }),
      ...(password === '' ? {} : { password }),
    },
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw unusable('a part of it has a % that does not start an escape. Write %25');
  }
}

function readCa(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw storeErrors.error(
      'STORE_UNAVAILABLE',
      `Could not read the certificates in ${file} (${(cause as Error).message}). Correct \`tlsCa\`.`,
      { cause, details: { file } },
    );
  }
}

function unusable(reason: string): StoreError {
  return storeErrors.error(
    'STORE_UNAVAILABLE',
    `The URL of the Redis store cannot be used: ${reason}. Its form is redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss: for TLS.`,
    { details: { reason } },
  );
}
