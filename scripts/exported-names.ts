import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root } from './workspace.ts';

/** A list of names that a file exports: of another file of the same package, or of the file itself. */
const exportLists = /export (?:type )?\{([^}]*)\} from '(\.[^']*)'/g;

/** Every name that the entries of several packages export as their own, with those packages. */
export function namesExportedTwice(): string[] {
  const owners = new Map<string, Set<string>>();
  for (const file of globSync('{packages,plugins}/*/src/*.ts', { cwd: root })) {
    const owner = basename(dirname(dirname(file)));
    for (const [, list = ''] of readFileSync(join(root, file), 'utf8').matchAll(exportLists))
      for (const item of list.split(',')) {
        const name =
          item
            .trim()
            .replace(/^type /, '')
            .split(' as ')
            .at(-1) ?? '';
        if (name !== '') owners.set(name, (owners.get(name) ?? new Set()).add(owner));
      }
  }
  return [...owners].filter(([, of]) => of.size > 1).map(([name, of]) => `${name}: ${[...of].join(', ')}`);
}
