import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { type ClaimState, type StoreError, storeErrors } from '@hansard/provider';
import type { Medium, ReferenceClaim, World } from './world.ts';

/** A process id is valid within one PID namespace only. */
const namespace = process.platform === 'linux' ? readlinkSync('/proc/self/ns/pid') : '';

/** The claims of one opening, with a heartbeat while it has any. */
export class ReferenceClaims {
  readonly #token = randomUUID();
  readonly #leaseMs: number;
  readonly #medium: Medium;
  /** The heartbeat of other owners as this opening saw it first, with its own time. */
  readonly #seen = new Map<string, { readonly beat: number; readonly at: number }>();
  #timer: NodeJS.Timeout | null = null;

  constructor(medium: Medium, leaseMs: number) {
    this.#medium = medium;
    this.#leaseMs = leaseMs;
  }

  /** @throws STORE_LOCKED */
  take(world: World, key: string): number {
    const claim = world.claims.get(key);
    if (claim?.token === this.#token) return claim.epoch;
    if (claim !== undefined && this.#stateOf(world, claim).state !== 'expired') throw locked(key, claim);
    const epoch = (world.epochs.get(key) ?? 0) + 1;
    world.epochs.set(key, epoch);
    world.claims.set(key, { token: this.#token, owner: process.pid, namespace, epoch });
    this.#timer ??= setInterval(() => this.#beat(), this.#leaseMs / 3).unref();
    return epoch;
  }

  isOwn(world: World, key: string): boolean {
    return world.claims.get(key)?.token === this.#token;
  }

  /** @throws STORE_LOCKED unless this opening has the claim */
  assertOwn(world: World, key: string): void {
    if (!this.isOwn(world, key)) throw locked(key, world.claims.get(key));
  }

  /** Ends a claim of another opening that has expired. @throws STORE_LOCKED if another one has the claim */
  assertNotOthers(world: World, key: string): void {
    const claim = world.claims.get(key);
    if (claim === undefined || claim.token === this.#token) return;
    if (this.#stateOf(world, claim).state !== 'expired') throw locked(key, claim);
    world.claims.delete(key);
  }

  release(world: World, key: string): void {
    if (this.isOwn(world, key)) world.claims.delete(key);
  }

  releaseAll(world: World): void {
    for (const key of [...world.claims.keys()]) this.release(world, key);
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  describe(world: World, key: string): ClaimState | null {
    const claim = world.claims.get(key);
    if (claim === undefined) return null;
    const isOwn = claim.token === this.#token;
    const { state, expiresInMs } = this.#stateOf(world, claim);
    return { owner: `process ${claim.owner}`, isOwn, state, expiresInMs };
  }

  #stateOf(world: World, claim: ReferenceClaim): Pick<ClaimState, 'state' | 'expiresInMs'> {
    if (claim.owner === process.pid && claim.namespace === namespace)
      return { state: 'running', expiresInMs: null };
    if (claim.namespace === namespace && hasExited(claim.owner))
      return { state: 'expired', expiresInMs: null };
    const beat = world.beats.get(claim.token) ?? 0;
    const seen = this.#seen.get(claim.token);
    if (seen?.beat !== beat) this.#seen.set(claim.token, { beat, at: performance.now() });
    if (seen !== undefined && seen.beat !== beat) return { state: 'running', expiresInMs: null };
    const left = seen === undefined ? this.#leaseMs : this.#leaseMs - (performance.now() - seen.at);
    return left <= 0 ? { state: 'expired', expiresInMs: null } : { state: 'unknown', expiresInMs: left };
  }

  #beat(): void {
    this.#medium.use((world) => world.beats.set(this.#token, (world.beats.get(this.#token) ?? 0) + 1));
  }
}

function locked(key: string, claim: ReferenceClaim | undefined): StoreError {
  const [taskDir, dispatchId] = key.split('\n');
  const owner = claim === undefined ? null : `process ${claim.owner}`;
  return storeErrors.error(
    'STORE_LOCKED',
    owner === null ? 'Claim the dispatch before you write to it.' : `The dispatch belongs to ${owner}.`,
    { details: { taskDir, dispatchId, ...(owner === null ? {} : { owner, expiresInMs: null }) } },
  );
}

function hasExited(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
