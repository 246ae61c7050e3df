import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, note } from '../terminal/context.ts';

/** 128 bits, as this command makes them, are 22 characters. */
const tokenPattern = /^[A-Za-z0-9_-]{22,200}$/;

/** The token of a page in a file that only its owner can read. Makes the file if it is missing. */
export function readTokenFile(context: CliContext, file: string): string {
  const path = resolve(context.cwd, file);
  const mode = modeOf(path);
  if (mode === null) return makeTokenFile(context, path);
  // Windows has no such modes.
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new CliError(
      exitCode.failed,
      `Other users of this machine can read or change ${path}, so its token must be replaced.`,
      'Give a file that does not exist: the command makes it.',
    );
  const token = readFileSync(path, 'utf8').trim();
  if (tokenPattern.test(token)) return token;
  throw new CliError(
    exitCode.failed,
    `${path} has no token, which is 22 to 200 letters, digits, "-" and "_".`,
    'Give a file that does not exist: the command makes it.',
  );
}

/** Null: there is no such file. */
function modeOf(path: string): number | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (stats.isFile()) return stats.mode;
  throw new CliError(exitCode.failed, `${path} is not a file.`, 'Give a file, or one that does not exist.');
}

function makeTokenFile(context: CliContext, path: string): string {
  const token = randomBytes(16).toString('base64url');
  writeFileSync(path, `${token}\n`, { mode: 0o600, flag: 'wx' });
  note(context, `Made a token in ${path}.`);
  return token;
}
