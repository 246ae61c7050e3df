import { execFileSync } from 'node:child_process';

/** The pnpm that runs this script, or else the one that npx finds. */
const running = process.env.npm_execpath;
const [command = '', ...words] = commandOf(running);

/** Runs pnpm in a folder and gives what it prints. The error of one that fails has its words, `stdout` and `stderr`. */
export function runPnpm(cwd: string, args: readonly string[]): string {
  return execFileSync(command, [...words, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function commandOf(pnpm: string | undefined): string[] {
  if (pnpm?.includes('pnpm') !== true) return ['npx', '--yes', 'pnpm@12'];
  // As a script it may not be executable, and never is on Windows.
  return /\.[cm]?js$/.test(pnpm) ? [process.execPath, pnpm] : [pnpm];
}
