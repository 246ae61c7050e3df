import { randomUUID } from 'node:crypto';
import { StoreError } from '@hansard/provider';
import { currentProcess, describeOwner, isRunning, type ProcessOwner, toOwner } from './process-owner.ts';

/** The right of one opening of a store to write a dispatch, as the store records it for other openings. Plain data. */
export interface Lease {
  /** Identifies the opening, also among those of one process: 1 to 64 of `A-Z a-z 0-9 _ -`. It can be part of a file name. */
  readonly token: string;
  readonly owner: ProcessOwner;
}

/** A lease of this process with a new token. One opening of a store uses one lease for all dispatches that it claims. */
export function createLease(): Lease {
  return { token: randomUUID(), owner: currentProcess() };
}

/** A lease as one line of JSON: the fields of the owner and `token`. */
export function encodeLease({ token, owner }: Lease): string {
  return JSON.stringify({ ...owner, token });
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
  const { token, ...owner } = value as ProcessOwner & { readonly token: unknown };
  return typeof token === 'string' && /^[\w-]{1,64}$/.test(token) ? { token, owner } : null;
}

/**
 * Whether another opening may take the lease over: only if its owner is proven to have exited. The lease of a process that
 * cannot be checked never expires.
 */
export function hasExpired({ owner }: Lease): boolean {
  return !isRunning(owner);
}

/** The parts of the message of a STORE_LOCKED. */
export interface LeaseRefusal {
  /** The thing that is claimed, at the beginning of a sentence: `Dispatch 01JQ…`. */
  readonly what: string;
  /** The manual way to end the lease of a process that no longer runs, as an imperative: `remove /a/b.lock`. */
  readonly howToRelease: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The STORE_LOCKED for a lease of another opening. It names the owner by its process id, as the contract asks. */
export function leaseRefused({ owner }: Lease, { what, howToRelease, details }: LeaseRefusal): StoreError {
  const name = describeOwner(owner);
  return new StoreError(
    'STORE_LOCKED',
    `${what} belongs to ${name}. Wait until it is released. If that process no longer runs, ${howToRelease}.`,
    { details: { owner: name, ...details } },
  );
}
