import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';

/**
 * Imports modules of a copy of a package's `src`, in which one piece of one file is replaced, and gives what they export together. Equal pieces give
 * the unbroken case. The copy is deleted when the test ends.
 *
 * @throws Error if the file does not have the piece exactly once
 */
export async function importMutated(
  home: string,
  [file, piece, instead]: readonly [file: string, piece: string, instead: string],
  ...modules: readonly string[]
): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-mutant-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  symlinkSync(join(home, 'node_modules'), join(folder, 'node_modules'));
  cpSync(join(home, 'src'), join(folder, 'src'), { recursive: true });
  const path = join(folder, 'src', file);
  const pieces = readFileSync(path, 'utf8').split(piece);
  if (pieces.length !== 2)
    throw new Error(`${file} has the piece ${pieces.length - 1} times, not once: ${piece}`);
  writeFileSync(path, pieces.join(instead));
  const urls = modules.map((module) => pathToFileURL(join(folder, 'src', module)).href);
  return Object.assign({}, ...(await Promise.all(urls.map((url) => import(url)))));
}
