import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The part of an esbuild metafile that is read here: the files that went into a bundle, relative to the working directory. */
interface Metafile {
  readonly outputs: Readonly<
    Record<string, { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }>
  >;
}

/** Where the licences of inlined libraries stand in a built package. */
export const licencesFile = 'THIRD-PARTY-LICENCES.txt';

/** Writes the licence of each library of which a bundle has code into `folder`, or removes the file of an earlier build. */
export function writeLicences(metafile: Metafile, folder: string): void {
  const texts = [...librariesIn(metafile)]
    .sort(byName)
    .map(([name, home]) => `${name}\n\n${licenceOf(name, home)}\n`);
  const file = join(folder, licencesFile);
  if (texts.length > 0) writeFileSync(file, texts.join('\n---\n\n'));
  else if (existsSync(file)) rmSync(file);
}

/** The folder of each library, by its name. */
function librariesIn({ outputs }: Metafile): Map<string, string> {
  const found = new Map<string, string>();
  for (const { inputs } of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const [, home, name] = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(path) ?? [];
      if (home !== undefined && name !== undefined && bytesInOutput > 0) found.set(name, resolve(home));
    }
  }
  return found;
}

function byName([left]: [string, string], [right]: [string, string]): number {
  return left < right ? -1 : 1;
}

function licenceOf(name: string, home: string): string {
  const [file] = globSync('{LICEN[CS]E,licen[cs]e}*', { cwd: home });
  if (file === undefined)
    throw new Error(`${name}, of which the bundle has code, has no file with its licence.`);
  return readFileSync(join(home, file), 'utf8').trim();
}
