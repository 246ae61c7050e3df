import { randomUUID } from 'node:crypto';
import { type StoreError, storeErrors } from '@hansard/provider';
import {
  describeOwner,
  type Processes,
  type ProcessOwner,
  systemProcesses,
  toOwner,
} from './process-owner.ts';

/** Milliseconds. The time without a heartbeat after which a claim expires, if the options of a store do not say another. */
export const defaultLeaseMs = 15_000;

/** The right of one opening of a store to write dispatches, as the store records it for other openings. Plain data. */
export interface Lease {
  /** Identifies the opening, also among those of one process: 1 to 64 of `A-Z a-z 0-9 _ -`. It can be part of a file name. */
  readonly token: string;
  readonly owner: ProcessOwner;
  /** Milliseconds. The owner promises a heartbeat in each third of this time. */
  readonly leaseMs: number;
}

/** A lease of this process with a new token. One opening of a store uses one lease for all dispatches that it claims. */
export function createLease(leaseMs: number = defaultLeaseMs, processes: Processes = systemProcesses): Lease {
  return { token: randomUUID(), owner: processes.current(), leaseMs };
}

/** A lease as one line of JSON: the fields of the owner, `leaseMs` and `token`. */
export function encodeLease({ token, owner, leaseMs }: Lease): string {
  return JSON.stringify({ ...owner, leaseMs, token });
}

/** The lease in the text that `encodeLease` made. Null if the text is not one; the store decides what that means. */
export function parseLease(text: string): Lease | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (toOwner(value) === null) return null;
  const { token, leaseMs, ...owner } = value as ProcessOwner & Record<string, unknown>;
  if (typeof token !== 'string' || !/^[\w-]{1,64}$/.test(token)) return null;
  return typeof leaseMs === 'number' && leaseMs > 0 ? { token, owner, leaseMs } : null;
}

/** Whether the owner of a lease is proven to have exited. Otherwise only its heartbeat says whether the lease has expired. */
export function hasExpired({ owner }: Pick<Lease, 'owner'>): boolean {
  return !systemProcesses.isRunning(owner);
}

/**
 * The STORE_LOCKED for a lease of another opening. It names the owner by its process id, as the contract asks, and has
 * `expiresInMs` in its details.
 */
export function leaseRefused(
  { owner }: Pick<Lease, 'owner'>,
  {
    what,
    howToRelease,
    expiresInMs = null,
    details,
  }: {
    /** The thing that is claimed, at the beginning of a sentence: `Dispatch 01JQ…`. */
    readonly what: string;
    /** The manual way to end the lease, as an imperative: `run ${unlockCommand(…)}`. */
    readonly howToRelease: string;
    /** From `HeartbeatWatch`. Absent or null: it is not known, or the owner renews its claim. */
    readonly expiresInMs?: number | null;
    readonly details: Readonly<Record<string, unknown>>;
  },
  processes: Processes = systemProcesses,
): StoreError {
  const name = describeOwner(owner, processes);
  const expiry =
    expiresInMs === null
      ? ''
      : ` Its claim expires in ${Math.ceil(expiresInMs / 1_000)} s if its owner does not renew it.`;
  return storeErrors.error(
    'STORE_LOCKED',
    `${what} belongs to ${name}.${expiry} Wait until it is released. If that process no longer runs, ${howToRelease}.`,
    { details: { owner: name, expiresInMs, ...details } },
  );
}

/** The command that ends the claim of a dispatch, for `howToRelease`. */
export function unlockCommand(taskDir: string, dispatchId: string): string {
  const task = /^[\w./-]+$/.test(taskDir) ? taskDir : `'${taskDir.replaceAll("'", "'\\''")}'`;
  return `hansard store unlock ${task}/${dispatchId}`;
}
