import { type StoreError, storeErrors } from '@hansard/provider';
import {
  AbortError,
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
} from '@redis/client';

/** The server did not answer in time. Its connection was ended, because a late answer would be taken for that of a later command. */
export class NoAnswer extends Error {}

interface Refusal {
  /** The first word of an error of the server, or a code of Node. */
  readonly codes: RegExp;
  /** Follows the name of the server. */
  readonly what: string;
  readonly isTransient: boolean;
}

const refusals: readonly Refusal[] = [
  {
    codes: /^(WRONGPASS|NOAUTH)$/,
    what: 'refused the user or its password. Check both in the URL',
    isTransient: false,
  },
  {
    codes: /^NOPERM$/,
    what: 'does not allow this to the user. Grant the commands, keys and channels that the README of @hansard/store-redis lists',
    isTransient: false,
  },
  {
    codes: /^(OOM)$/,
    what: 'has no free memory. This call wrote nothing. Raise maxmemory, or delete some dispatches, and try again',
    isTransient: false,
  },
  {
    codes: /^MISCONF$/,
    what: 'cannot write to its disk. This call wrote nothing. Repair the disk and try again',
    isTransient: false,
  },
  {
    codes: /^READONLY$/,
    what: 'is a replica. Use the URL of the primary server',
    isTransient: true,
  },
  {
    codes: /^(MOVED|ASK|CROSSSLOT)$/,
    what: 'is a node of a cluster that does not keep this store. Use the URL of the node that does',
    isTransient: true,
  },
  {
    codes: /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|UNKILLABLE)$/,
    what: 'is starting, busy, or without its replicas. Try again',
    isTransient: true,
  },
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

/** A command of a script that the user may not run has no code of its own. */
const forbiddenInScript = /^ERR (The user executing the script can't|ACL failure in script)/;

/** The errors of the client for a connection that ended. */
const ended = [
  ...[AbortError, ClientClosedError, ClientOfflineError, DisconnectsClientError],
  ...[SocketClosedUnexpectedlyError, SocketTimeoutError],
];

function hasEnded(error: Error): boolean {
  return ended.some((each) => error instanceof each);
}

/** An error of the client as an error of the contract. Any other error is returned unchanged. `name` is that of the server. */
export function toStoreError(error: unknown, name: string): unknown {
  if (storeErrors.is(error) || !(error instanceof Error)) return error;
  const code = codeOf(error);
  const refusal = refusals.find(({ codes }) => codes.test(code));
  if (refusal !== undefined) return unavailable(name, refusal.what, refusal.isTransient, error);
  if (error instanceof NoAnswer || error instanceof ConnectionTimeoutError)
    return unavailable(name, 'did not answer in time. Check the server and the network', true, error);
  if (hasEnded(error)) return unavailable(name, 'ended the connection. Try again', true, error);
  if (error instanceof ErrorReply) return unavailable(name, 'refused a command', false, error);
  return error;
}

/** `what` follows the name of the server, without a full stop. */
export function unavailable(name: string, what: string, isTransient: boolean, cause?: Error): StoreError {
  const reason = cause === undefined ? {} : { reason: codeOf(cause) || cause.message };
  return storeErrors.error(
    'STORE_UNAVAILABLE',
    `The Redis server ${name} ${what}${cause === undefined ? '' : ` (${cause.message})`}.`,
    { cause, isTransient, details: { server: name, ...reason } },
  );
}

/** Whether the connection ended, so that the same command may succeed on a new one. A server that is away is not meant. */
export function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error) || storeErrors.is(error) || error instanceof NoAnswer) return false;
  return hasEnded(error) || /^(ECONNRESET|EPIPE)$/.test(codeOf(error));
}

/** A STORE_CORRUPT. `what` says where and what is damaged, without a full stop; `advice` is one or more sentences. */
export function corrupt(
  name: string,
  what: string,
  details: Readonly<Record<string, unknown>>,
  advice = 'See `hansard store verify`.',
): StoreError {
  return storeErrors.error('STORE_CORRUPT', `Data in ${name} is damaged: ${what}. ${advice}`, {
    details: { file: name, ...details },
  });
}

/** Whether the server does not know a script by its digest, as after a restart. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof ErrorReply && codeOf(error) === 'NOSCRIPT';
}

/** Whether the server refused a command because the user may not run it. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ErrorReply && codeOf(error) === 'NOPERM';
}

function codeOf(error: Error): string {
  if (error instanceof ErrorReply) {
    if (forbiddenInScript.test(error.message)) return 'NOPERM';
    const code = /^([A-Z]+)\b/.exec(error.message)?.[1] ?? 'ERR';
    return code === 'ERR' ? '' : code;
  }
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
