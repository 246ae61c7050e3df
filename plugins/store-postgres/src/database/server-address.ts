import { readFileSync } from 'node:fs';
import { type StoreError, storeErrors } from '@hansard/provider';
import type { ClientConfig } from 'pg';

export interface ServerAddressOptions {
  /** The URL of the database. Its password appears in no message. */
  readonly url: string;
  /** A file with the certificates of the authorities that the server's certificate may come from. Absent: those of Node. */
  readonly tlsCa?: string;
}

/** Where the server is, and how to connect to it. */
export interface ServerAddress {
  /** For messages: `host:port/database`, without the user and the password. */
  readonly name: string;
  readonly client: ClientConfig;
}

const schemes = ['postgres:', 'postgresql:'];
const knownParameters = ['sslmode', 'host', 'application_name'];

/**
 * Reads the URL of a database: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=MODE`. TLS is always verified. It is off for
 * this machine, and for others only with `sslmode=disable`.
 * @throws STORE_UNAVAILABLE if the URL cannot be used
 */
export function parseServerAddress({ url, tlsCa }: ServerAddressOptions): ServerAddress {
  const parsed = parseUrl(url);
  const parameters = parsed.searchParams;
  if ([...parameters.keys()].some((key) => !knownParameters.includes(key)))
    throw unusable(`it has an unknown parameter. Known ones: ${knownParameters.join(', ')}`);
  const host = parameters.get('host') ?? (hostOf(parsed) || 'localhost');
  const port = Number(parsed.port || 5432);
  const user = decode(parsed.username) || 'postgres';
  const database = decode(parsed.pathname.slice(1)) || user;
  const ssl = tlsOf(parameters.get('sslmode'), host, tlsCa);
  const password = decode(parsed.password);
  return {
    name: `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`,
    client: {
      host,
      port,
      user,
      database,
      ssl,
      application_name: parameters.get('application_name') ?? 'hansard',
      ...(password === '' ? {} : { password }),
    },
  };
}

function parseUrl(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  // No part of the URL is repeated: any of them can be a password, or a piece of one.
  if (parsed === null) throw unusable('it is not a URL');
  if (!schemes.includes(parsed.protocol)) throw unusable('its scheme is not postgresql');
  const rest = `${parsed.pathname}${parsed.search}`;
  if (rest.includes('@') || parsed.hash !== '' || url.includes('#'))
    throw unusable('its user or password has a /, ? or #, or its end has an @. Write %2F, %3F, %23 and %40');
  return parsed;
}

function hostOf({ hostname }: URL): string {
  return decode(hostname.replace(/^\[(.*)\]$/, '$1'));
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw unusable('a part of it has a % that does not start an escape. Write %25');
  }
}

function tlsOf(mode: string | null, host: string, caFile: string | undefined): ClientConfig['ssl'] {
  const isVerified = mode === null ? caFile !== undefined || !isThisMachine(host) : mode !== 'disable';
  if (mode !== null && !['disable', 'require', 'verify-full'].includes(mode))
    throw unusable(`its sslmode is unknown. Use verify-full, require (which verifies, too) or disable`);
  if (!isVerified) return false;
  return { rejectUnauthorized: true, ...(caFile === undefined ? {} : { ca: readCa(caFile) }) };
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

function isThisMachine(host: string): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || /^127\./.test(host);
}

function unusable(reason: string): StoreError {
  return storeErrors.error(
    'STORE_UNAVAILABLE',
    `The URL of the PostgreSQL store cannot be used: ${reason}. Its form is postgresql://USER:PASSWORD@HOST:PORT/DATABASE.`,
    { details: { reason } },
  );
}
