/** Measures the size of the installed command: every package is packed, and installed by npm in an empty folder. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packPackages } from '../scripts/pack.ts';
import { report, rounded } from './report.ts';
import { temporaryFolder } from './temporary-folder.ts';

const mostMegabytes = 30;
/** Folders smaller than this are not listed. */
const leastMegabytes = 0.5;

const folder = temporaryFolder('bench-install');
const tarballs = join(folder, 'tarballs');
mkdirSync(tarballs);
const packed = packPackages(tarballs).map(({ name, tarball }) => [name, `file:${tarball}`] as const);
const [command, others] = [packed.filter(isCommand), packed.filter((one) => !isCommand(one))];
const project = {
  private: true,
  dependencies: Object.fromEntries(command),
  overrides: Object.fromEntries(others),
};
writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
  cwd: folder,
  stdio: 'inherit',
});

const installed = join(folder, 'node_modules');
for (const name of readdirSync(installed)) {
  const megabytes = diskMegabytes(join(installed, name));
  if (megabytes >= leastMegabytes)
    report({ benchmark: 'install', part: name, megabytes: rounded(megabytes) });
}
report({ benchmark: 'install', part: 'all', megabytes: rounded(diskMegabytes(installed)) }, [
  { key: 'megabytes', atMost: mostMegabytes },
]);
rmSync(folder, { recursive: true });

function isCommand([name]: readonly [string, string]): boolean {
  return name === 'hansard';
}

/** What `du` counts: the blocks on the disk, folders included. */
function diskMegabytes(path: string): number {
  const isFolder = statSync(path).isDirectory();
  const below = isFolder ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : [];
  const blocks = ['', ...below].reduce((sum, name) => sum + statSync(join(path, name)).blocks, 0);
  return (blocks * 512) / 2 ** 20;
}
