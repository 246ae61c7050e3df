import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findSilentDamage } from './damage-battery.ts';

/** Runs the battery with the sources in a folder. Arguments: the folder. Prints the number of silent damages, or the error. */
const [, , folder = ''] = process.argv;
const { openJsonFileStore } = await import(pathToFileURL(join(folder, 'index.ts')).href);
const base = mkdtempSync(join(tmpdir(), 'hansard-mutant-'));
let roots = 0;
const makeRoot = () => {
  roots += 1;
  return join(base, String(roots));
};
const found = findSilentDamage((root) => openJsonFileStore({ root }), makeRoot);
process.stdout.write(JSON.stringify(found));
