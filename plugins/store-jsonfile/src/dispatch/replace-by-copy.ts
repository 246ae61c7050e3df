import { isSystemError } from '@hansard/store-kit';
import { OpenFile, syncFolder } from '../lines/open-file.ts';
import type { DispatchContext } from './dispatch-context.ts';
import type { DispatchName } from './dispatch-file.ts';

const chunk = 1024 * 1024;

/**
 * Replaces the file of a claimed dispatch by a copy that `write` makes. The order of the steps keeps the invariant of
 * `fenceDispatch`: create the copy, check the claim, write, rename. Returns the open copy.
 * @throws STORE_LOCKED if the claim is lost
 */
export function replaceByCopy(
  { files, claims, sync }: DispatchContext,
  name: DispatchName,
  write: (copy: OpenFile) => void,
): OpenFile {
  const { file, folder, temporary } = name.paths;
  const path = temporary(claims.lockOf(name).epoch);
  const copy = OpenFile.open(files, path, 'replace');
  try {
    if (!claims.isKept(name)) throw claims.missing(name);
    write(copy);
    if (sync) copy.sync();
    files.rename(path, file);
  } catch (error) {
    copy.close();
    files.remove(path);
    // A later owner has removed the copy, so that it cannot be renamed.
    if (isSystemError(error) && error.code === 'ENOENT' && !claims.isKept(name)) throw claims.missing(name);
    throw error;
  }
  if (sync) syncFolder(files, folder);
  return copy.named(file);
}

/** Copies the bytes from `from` to before `to`. @returns the offset after them in the copy */
export function copyBytes(source: OpenFile, from: number, to: number, copy: OpenFile, at: number): number {
  let position = at;
  for (let done = from; done < to; done += chunk) {
    const bytes = source.read(done, Math.min(to, done + chunk));
    copy.write(bytes, bytes.length, position);
    position += bytes.length;
  }
  return position;
}
