import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The path of a file of the demonstration, which lies beside the built code and above the sources. */
export function demoFile(name: string): string {
  const beside = fileURLToPath(new URL(`../demo/${name}`, import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL(`../../demo/${name}`, import.meta.url));
}
