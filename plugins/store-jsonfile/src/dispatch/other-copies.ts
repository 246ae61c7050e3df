import { orMissing } from '@hansard/store-kit';
import type { Files } from '../files.ts';
import type { DispatchClaims } from './dispatch-claims.ts';
import type { DispatchName } from './dispatch-file.ts';

const copyName = /^\.(.+)\.(\d+)\.tmp$/;

/** A copy of a dispatch, by the name of its file. */
interface CopyName {
  readonly dispatchId: string;
  /** The number of the lock of its owner. */
  readonly epoch: number;
}

/** Null for the name of another file. */
export function parseCopyName(name: string): CopyName | null {
  const [, dispatchId, epoch] = copyName.exec(name) ?? [];
  return dispatchId === undefined ? null : { dispatchId, epoch: Number(epoch) };
}

/**
 * Removes every copy of a claimed dispatch that has another number. Killed owners left them, and owners that lost the dispatch had begun
 * them. A greater number is of an earlier dispatch with this id, or of an owner that has taken this one over: then its copy stays.
 */
export function removeOtherCopies(
  { files, claims }: { readonly files: Files; readonly claims: DispatchClaims },
  name: DispatchName,
): void {
  const { folder, temporary } = name.paths;
  const { epoch } = claims.lockOf(name);
  const others = copiesIn(files, folder)
    .filter((copy) => copy.dispatchId === name.dispatchId && copy.epoch !== epoch)
    .map((copy) => copy.epoch);
  // After the folder was read: the owner of a greater number has created its lock before its copy.
  const isLast = others.some((number) => number > epoch) && claims.isKept(name);
  for (const number of others) if (number < epoch || isLast) files.remove(temporary(number));
}

/**
 * The copies that were in a folder before the first claim of this opening in it. A claim that no other opening has lost reads only
 * these, because reading the folder takes longer than the claim. A copy that is left later is beside the lock of its owner.
 */
export class LeftCopies {
  readonly #files: Files;
  /** The ids of dispatches that have copies, by folder. */
  readonly #byFolder = new Map<string, Set<string>>();

  constructor(files: Files) {
    this.#files = files;
  }

  /** Whether a dispatch had a copy. True once. */
  take({ dispatchId, paths }: DispatchName): boolean {
    const { folder } = paths;
    let ids = this.#byFolder.get(folder);
    if (ids === undefined) {
      ids = new Set(copiesIn(this.#files, folder).map((copy) => copy.dispatchId));
      this.#byFolder.set(folder, ids);
    }
    return ids.delete(dispatchId);
  }
}

function copiesIn(files: Files, folder: string): CopyName[] {
  const entries = orMissing(() => files.list(folder)) ?? [];
  return entries.flatMap(({ name }) => parseCopyName(name) ?? []);
}
