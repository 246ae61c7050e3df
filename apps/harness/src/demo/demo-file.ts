import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The path of a file of the demo. The folder is one level above the built code, and two above the source. */
export function demoFile(name: string): string {
  const beside = fileURLToPath(new URL(`../demo/${name}`, import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL(`../../demo/${name}`, import.meta.url));
}
