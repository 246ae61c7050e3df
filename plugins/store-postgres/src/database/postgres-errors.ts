import { type StoreError, storeErrors } from '@hansard/provider';

/** SQLSTATE codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const uniqueViolation = '23505';
const damageCodes = new Set(['XX001', 'XX002']);
const tooLargeCodes = new Set(['54000', '22001']);

interface Refusal {
  /** The beginning of a SQLSTATE, or a code of Node. */
  readonly codes: RegExp;
  /** Follows the name of the database. */
  readonly what: string;
  readonly isTransient: boolean;
}

const refusals: readonly Refusal[] = [
  {
    codes: /^28/,
    what: 'refused the user or its password. Check both in the URL, and pg_hba.conf of the server',
    isTransient: false,
  },
  { codes: /^3D000/, what: 'does not exist. Create it, or correct the URL', isTransient: false },
  {
    codes: /^25006/,
    what: 'is a standby, or allows reading only. Use the URL of the primary server',
    isTransient: true,
  },
  {
    codes: /^53300/,
    what: 'has no free connection. Lower `connections`, or raise max_connections of the server',
    isTransient: true,
  },
  {
    codes: /^53100/,
    what: 'has no free space on its disk. This call wrote nothing. Free some space and try again',
    isTransient: false,
  },
  { codes: /^53/, what: 'has too few resources. Try again later', isTransient: true },
  {
    codes: /^42501/,
    what: 'does not allow this to the user. Deleting, redacting and accepting a loss take the role that owns the tables. Grant the rights for anything else (see the roles in the README of @hansard/store-postgres)',
    isTransient: false,
  },
  {
    codes: /^(26000|42P05|08P01)/,
    what: 'does not know a prepared statement, because a pooler that does not support them is in between. Set `prepare: false`, or update the pooler',
    isTransient: false,
  },
  {
    codes: /^(42P01|3F000|42703)/,
    what: 'no longer has the tables of this store. Restore them, or open the store again',
    isTransient: false,
  },
  { codes: /^57014/, what: 'cancelled a statement that took too long. Try again', isTransient: true },
  { codes: /^(40|55P03)/, what: 'had a conflict with another transaction. Try again', isTransient: true },
  { codes: /^(08|57P)/, what: 'is starting, stopping or restarting. Try again', isTransient: true },
  {
    codes: /^(ENOTFOUND|EAI_AGAIN)$/,
    what: 'was not found by its name. Check the host of the URL',
    isTransient: true,
  },
  {
    codes: /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|ERR_SSL_)/,
    what: 'has a certificate that cannot be verified. Set `tlsCa` to the certificates of its authority, and use the host of the certificate in the URL',
    isTransient: false,
  },
  {
    codes: /^E[A-Z]+$/,
    what: 'cannot be reached. Check that the server runs, and the host and port of the URL',
    isTransient: true,
  },
];

/** The messages of errors of `pg` that have no code, because the connection ended or a time limit passed. */
const lostMessage = /^Connection terminated|not queryable|connection error and is not/;
const timeoutMessage =
  /timeout exceeded when trying to connect|connection timeout|Query read timeout|timeout expired/;
const noTlsMessage = /does not support SSL/;
const poolEndedMessage = /^Cannot use a pool/;

/** An error of `pg` as an error of the contract. Any other error is returned unchanged. `name` is that of the database. */
export function toStoreError(error: unknown, name: string): unknown {
  if (storeErrors.is(error) || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (damageCodes.has(code)) return corrupt(name, error.message, { cause: error });
  if (tooLargeCodes.has(code) || isTooLarge(error))
    return failure('STORE_TOO_LARGE', name, 'cannot store a value of this size', error, false);
  const refusal = refusals.find(({ codes }) => codes.test(code));
  if (refusal !== undefined)
    return failure('STORE_UNAVAILABLE', name, refusal.what, error, refusal.isTransient);
  if (noTlsMessage.test(error.message))
    return failure(
      'STORE_UNAVAILABLE',
      name,
      'does not support TLS. Enable it there, or add sslmode=disable to the URL',
      error,
      false,
    );
  if (timeoutMessage.test(error.message))
    return failure(
      'STORE_UNAVAILABLE',
      name,
      'did not answer in time. Check the server and the network',
      error,
      true,
    );
  if (lostMessage.test(error.message) || poolEndedMessage.test(error.message))
    return failure('STORE_UNAVAILABLE', name, 'ended the connection. Try again', error, true);
  if (code !== '') return failure('STORE_UNAVAILABLE', name, 'refused a statement', error, false);
  return error;
}

function failure(
  code: StoreError['code'],
  name: string,
  what: string,
  cause: Error,
  isTransient: boolean,
): StoreError {
  return storeErrors.error(code, `The database ${name} ${what} (${cause.message}).`, {
    cause,
    isTransient,
    details: { database: name, reason: codeOf(cause) || cause.message },
  });
}

/** Whether the connection ended, so that the same statement may succeed on a new one. A server that is away is not meant. */
export function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error) || storeErrors.is(error)) return false;
  return /^(08|57P|ECONNRESET|EPIPE|25006)/.test(codeOf(error)) || lostMessage.test(error.message);
}

/** Whether a connection can be used again after an error of one of its statements. */
export function isConnectionUsable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return storeErrors.is(error) || (/^[0-9A-Z]{5}$/.test(code) && !isLostConnection(error));
}

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === uniqueViolation;
}

/** Whether the server found damage in its own files. */
export function isDamage(error: unknown): boolean {
  return error instanceof Error && damageCodes.has(codeOf(error));
}

/** Whether the role of the user may not do this. */
export function isForbidden(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === '42501';
}

interface DamageOptions {
  readonly advice?: string;
  readonly cause?: unknown;
  readonly details?: Record<string, unknown>;
}

/** A STORE_CORRUPT that names the database and the damage. */
export function corrupt(
  name: string,
  reason: string,
  { advice = 'Restore a backup of the database.', cause, details }: DamageOptions = {},
): StoreError {
  return storeErrors.error('STORE_CORRUPT', `The database ${name} is damaged: ${reason}. ${advice}`, {
    cause,
    details: { file: name, ...details },
  });
}

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** PostgreSQL keeps up to 1 GB in a value, and reports more with a code that it uses for every internal error. */
function isTooLarge(error: Error): boolean {
  return /invalid memory alloc request size|out of memory|string is too long|Invalid string length/i.test(
    error.message,
  );
}
