import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { viewerErrors } from '../viewer-errors.ts';

/** 128 bits, as `readTokenFile` makes them, are 22 characters. */
const tokenPattern = /^[A-Za-z0-9_-]{22,200}$/;

/** The token of a viewer in a file that only its owner can read. Makes the file if it is missing. @throws VIEW_TOKEN_FILE_UNUSABLE */
export function readTokenFile(path: string): { readonly token: string; readonly isNew: boolean } {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) {
    const token = randomBytes(16).toString('base64url');
    writeFileSync(path, `${token}\n`, { mode: 0o600, flag: 'wx' });
    return { token, isNew: true };
  }
  if (!stats.isFile()) throw unusable(path, `${path} is not a file.`);
  // Windows has no such modes.
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
    throw unusable(
      path,
      `Other users of this machine can read or change ${path}, so its token must be replaced.`,
    );
  const token = readFileSync(path, 'utf8').trim();
  if (tokenPattern.test(token)) return { token, isNew: false };
  throw unusable(path, `${path} has no token, which is 22 to 200 letters, digits, "-" and "_".`);
}

function unusable(file: string, message: string) {
  return viewerErrors.error('VIEW_TOKEN_FILE_UNUSABLE', message, { details: { file } });
}
