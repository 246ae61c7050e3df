import { join } from 'node:path';
import { createLease, encodeLease, isSystemError, type Lease, linkIfFree } from '@hansard/store-kit';
import { names } from '../disk-format.ts';
import { replaceFile } from '../lines/open-file.ts';
import type { StoreSystem } from '../store-system.ts';
import { currentMoment, elapsedSince, type Moment, never } from './moment.ts';

/** A heartbeat file of this opening. The locks that are linked to it share its content and its time. */
export interface OwnHeartbeat {
  readonly lease: Lease;
  readonly file: string;
  readonly inode: number;
  /** The paths of its locks. */
  readonly locks: Set<string>;
}

/**
 * The heartbeat files of one opening of a store, in the folder of writers. One file is enough until it has as many names as
 * file systems allow; then another one follows. A change of its time is a change of the time of all its locks.
 */
export class OwnHeartbeats {
  readonly leaseMs: number;
  readonly #system: StoreSystem;
  readonly #folder: string;
  #heartbeats: OwnHeartbeat[] = [];
  #renewedAt: Moment = never;
  #lastTime = 0;

  constructor(system: StoreSystem, folder: string, leaseMs: number) {
    this.#system = system;
    this.#folder = folder;
    this.leaseMs = leaseMs;
  }

  /** Creates a lock, complete, if its path is free. Null if it is not. */
  link(path: string): OwnHeartbeat | null {
    const { files, mostLinks } = this.#system;
    let heartbeat = this.#heartbeats.at(-1);
    if (heartbeat === undefined || heartbeat.locks.size >= mostLinks) heartbeat = this.#create();
    else this.renewIfDue();
    try {
      return this.#linkTo(heartbeat, path);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      // This file system allows fewer names of a file, or another opening has removed the heartbeat file.
      const isFull = error.code === 'EMLINK' && heartbeat.locks.size > 0;
      const isGone = error.code === 'ENOENT' && files.stat(heartbeat.file) === null;
      if (!isFull && !isGone) throw error;
      return this.#linkTo(this.#create(), path);
    }
  }

  /** The heartbeat file of any opening. */
  fileOf(token: string): string {
    return join(this.#folder, `${token}${names.heartbeat}`);
  }

  owns(token: string): boolean {
    return this.#heartbeats.some(({ lease }) => lease.token === token);
  }

  /** Renews all leases if the last renewal is older than a third of a lease. */
  renewIfDue(): void {
    if (elapsedSince(this.#renewedAt, this.#system.clock) >= this.leaseMs / 3) this.renew();
  }

  /** Renews all leases. */
  renew(): void {
    const { clock } = this.#system;
    const before = currentMoment(clock);
    // The time must change, even if the clock was set back. Nobody compares it with a clock.
    this.#lastTime = Math.max(Math.ceil(before.wall), this.#lastTime + 1);
    for (const heartbeat of this.#heartbeats) this.#touch(heartbeat);
    this.#renewedAt = before;
  }

  removeAll(): void {
    const heartbeats = this.#heartbeats;
    this.#heartbeats = [];
    for (const { file } of heartbeats) this.#system.files.remove(file);
  }

  #create(): OwnHeartbeat {
    const { files, clock, processes } = this.#system;
    const lease = createLease(this.leaseMs, processes);
    const file = this.fileOf(lease.token);
    const before = currentMoment(clock);
    files.makeFolder(this.#folder);
    replaceFile(files, file, file + names.temporary, Buffer.from(encodeLease(lease)), false);
    const stats = files.stat(file);
    const heartbeat = { lease, file, inode: stats?.ino ?? -1, locks: new Set<string>() };
    this.#heartbeats = [...this.#heartbeats.filter(({ locks }) => locks.size > 0), heartbeat];
    if (this.#heartbeats.length === 1) this.#renewedAt = before;
    return heartbeat;
  }

  #linkTo(heartbeat: OwnHeartbeat, path: string): OwnHeartbeat | null {
    if (!linkIfFree(heartbeat.file, path, this.#system.files.link)) return null;
    heartbeat.locks.add(path);
    return heartbeat;
  }

  /** If the heartbeat file is gone, because another opening judged its lease as expired, its locks still have its time. */
  #touch({ file, locks }: OwnHeartbeat): void {
    for (const path of [file, ...locks]) {
      try {
        this.#system.files.touch(path, this.#lastTime);
        return;
      } catch (error) {
        if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
      }
    }
  }
}
