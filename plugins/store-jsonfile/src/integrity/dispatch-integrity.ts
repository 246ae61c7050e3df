import type { CapturedEvent } from '@hansard/events';
import {
  type DispatchRewrite,
  type DispatchRewritten,
  type DispatchVerification,
  type EventPage,
  type ReadEventsOptions,
  type StoreError,
  storeErrors,
} from '@hansard/provider';
import { dispatchNotFound, orMissing } from '@hansard/store-kit';
import type { DispatchContext } from '../dispatch/dispatch-context.ts';
import type { DispatchName } from '../dispatch/dispatch-file.ts';
import { whileOwning } from '../dispatch/fence-dispatch.ts';
import type { FileStats } from '../files.ts';
import { OpenFile } from '../lines/open-file.ts';
import { acceptLossOf, keptDamaged } from './accept-loss.ts';
import { rewriteContentOf } from './rewrite-content.ts';
import { Salvage } from './salvage.ts';
import { verifyFile } from './verify-file.ts';

/** Checks dispatches, and reads and repairs damaged ones. */
export class DispatchIntegrity {
  readonly #context: DispatchContext;
  /** Of the file that was read last, because its pages are read one after the other. */
  #latest: { readonly path: string; readonly stats: FileStats; readonly salvage: Salvage } | null = null;

  constructor(context: DispatchContext) {
    this.#context = context;
  }

  /** @throws STORE_DISPATCH_NOT_FOUND */
  verify(name: DispatchName): DispatchVerification {
    try {
      return this.#withOpen(name, verifyFile);
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
      return { integrity: 'none', wholeEvents: 0, bytes: 0, damages: [notAFileDamage(name, error)] };
    }
  }

  /** A page of the whole events. @throws STORE_DISPATCH_NOT_FOUND, STORE_INVALID_CURSOR */
  readWhole(name: DispatchName, options: ReadEventsOptions): EventPage {
    return this.#withOpen(name, (file) => {
      const stats = file.stats();
      const latest = this.#latest;
      const isSame = latest?.path === file.path && isUnchanged(latest.stats, stats);
      const salvage = isSame ? latest.salvage : Salvage.of(file);
      this.#latest = { path: file.path, stats, salvage };
      return salvage.readPage(file, options);
    });
  }

  /** @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_CORRUPT */
  acceptLoss(name: DispatchName, notice: CapturedEvent): DispatchVerification {
    this.#assertExists(name);
    return whileOwning(this.#context, name, () =>
      this.#withOpen(name, (file) => acceptLossOf(this.#context, name, file, notice)),
    );
  }

  /** @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_CORRUPT */
  rewrite(name: DispatchName, rewrite: DispatchRewrite): DispatchRewritten {
    this.#assertExists(name);
    whileOwning(this.#context, name, () =>
      this.#withOpen(name, (open) => rewriteContentOf(this.#context, name, open, rewrite)),
    );
    const kept = keptDamaged(this.#context.files, name.paths.file);
    return { remains: kept.map((other) => `${other}, kept when a loss was accepted: delete the file.`) };
  }

  #assertExists({ taskDir, dispatchId, paths }: DispatchName): void {
    if (this.#context.files.lstat(paths.file) === null) throw dispatchNotFound(taskDir, dispatchId);
  }

  #withOpen<T>(name: DispatchName, work: (file: OpenFile) => T): T {
    const file = orMissing(() => OpenFile.open(this.#context.files, name.paths.file, 'read'));
    if (file === null) throw dispatchNotFound(name.taskDir, name.dispatchId);
    try {
      return work(file);
    } finally {
      file.close();
    }
  }
}

function isUnchanged(before: FileStats, now: FileStats): boolean {
  return before.ino === now.ino && before.size === now.size && before.ctimeMs === now.ctimeMs;
}

function notAFileDamage({ paths }: DispatchName, { message }: StoreError) {
  return { place: paths.file, offset: 0, bytes: 0, eventsBefore: 0, lostEvents: null, reason: message };
}
