import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';

/** The path of a relative import, between its quotes. */
const relativeImport = /(?<=\b(?:from|import)\s*\(?\s*')\.[^']*(?=')/g;

/**
 * Imports modules of a package's `src` in which one piece of one file is replaced, and gives what they export together. That file and the
 * files that need it are copied; all others are imported as they are, so that they are compiled once. Equal pieces give the unbroken case. The
 * copies are deleted when the test ends.
 *
 * @throws Error if the file does not have the piece exactly once, or none of the modules needs the file
 */
export async function importMutated(
  home: string,
  [file, piece, instead]: readonly [file: string, piece: string, instead: string],
  ...modules: readonly string[]
): Promise<unknown> {
  const sources = readSources(join(home, 'src'));
  const pieces = sources.get(file)?.split(piece) ?? [];
  if (pieces.length !== 2)
    throw new Error(`${file} has the piece ${pieces.length - 1} times, not once: ${piece}`);
  const copied = filesThatNeed(file, sources);
  if (!modules.some((module) => copied.has(module)))
    throw new Error(`None of ${modules.join(', ')} needs ${file}.`);

  const folder = mkdtempSync(join(tmpdir(), 'hansard-mutant-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  symlinkSync(join(home, 'node_modules'), join(folder, 'node_modules'));
  for (const path of copied) {
    const source = path === file ? pieces.join(instead) : (sources.get(path) ?? '');
    const target = join(folder, 'src', path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(
      target,
      source.replace(relativeImport, (imported) =>
        copied.has(join(dirname(path), imported)) ? imported : join(home, 'src', dirname(path), imported),
      ),
    );
  }
  const urls = modules.map(
    (module) => pathToFileURL(join(copied.has(module) ? folder : home, 'src', module)).href,
  );
  return Object.assign({}, ...(await Promise.all(urls.map((url) => import(url)))));
}

function readSources(folder: string): ReadonlyMap<string, string> {
  const paths = globSync('**/*.ts', { cwd: folder });
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

/** The file, and all files that import it, also by others. */
function filesThatNeed(file: string, sources: ReadonlyMap<string, string>): ReadonlySet<string> {
  const importers = new Map<string, string[]>();
  for (const [path, source] of sources)
    for (const [imported] of source.matchAll(relativeImport)) {
      const target = join(dirname(path), imported);
      importers.set(target, [...(importers.get(target) ?? []), path]);
    }
  const found = new Set([file]);
  for (const path of found) for (const importer of importers.get(path) ?? []) found.add(importer);
  return found;
}
