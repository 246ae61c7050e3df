import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// `pnpm hansard …` in the repository: builds the command where it is not built yet, and runs it where it was called.
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const binary = path('../apps/harness/dist/bin.js');
if (!existsSync(binary)) {
  const built = spawnSync('turbo', ['run', 'build', '--output-logs=errors-only'], {
    cwd: path('..'),
    stdio: ['ignore', 2, 2],
  });
  if (built.status !== 0) process.exit(built.status ?? 1);
}
const cwd = process.env.INIT_CWD ?? process.cwd();
const { status } = spawnSync(process.execPath, [binary, ...process.argv.slice(2)], { cwd, stdio: 'inherit' });
process.exitCode = status ?? 1;
