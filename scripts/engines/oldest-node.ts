import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The oldest Node that programs with the packages may use: `engines` of the packages names it, and this folder installs it.
 * Null: there is none for this machine.
 */
export function oldestNode(): { readonly executable: string; readonly version: string } | null {
  const folder = join(import.meta.dirname, `node_modules/node-${process.platform}-${process.arch}`);
  if (!existsSync(folder)) return null;
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { executable: join(folder, 'bin/node'), version };
}
