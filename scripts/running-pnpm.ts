import { execFileSync } from 'node:child_process';

/** The pnpm that runs this script, or else the one that npx finds. */
const running = process.env.npm_execpath;
const [command = '', ...words] = running?.includes('pnpm') === true ? [running] : ['npx', '--yes', 'pnpm@12'];

/** Runs pnpm in a folder and gives what it prints. */
export function runPnpm(cwd: string, args: readonly string[]): string {
  return execFileSync(command, [...words, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}
