import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findSilentDamage } from './damage-battery.ts';

/** Runs the battery with the sources in a folder. Arguments: the folder. Prints a list with the first silent damage, or an empty one. */
const [, , folder = ''] = process.argv;
const { openJsonFileStore } = await import(pathToFileURL(join(folder, 'index.ts')).href);
const base = mkdtempSync(join(tmpdir(), 'hansard-mutant-'));
let roots = 0;
const makeRoot = () => {
  roots += 1;
  return join(base, String(roots));
};
const [first] = findSilentDamage((root) => openJsonFileStore({ root }), makeRoot);
process.stdout.write(JSON.stringify(first === undefined ? [] : [first]));
