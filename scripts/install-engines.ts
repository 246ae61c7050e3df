import { join } from 'node:path';
import { runPnpm } from './running-pnpm.ts';
import { root } from './workspace.ts';

/**
 * Installs what the tests run for real and users do not install: `scripts/engines`, with a lockfile of its own. Says so
 * only where it is not there yet; it is some 250 MB to load.
 */
const folder = join(root, 'scripts/engines');
const install = ['install', '--ignore-workspace', '--frozen-lockfile', '--prefer-offline'];
try {
  runPnpm(folder, install);
} catch (error) {
  const { stdout = '' } = error as { stdout?: string };
  process.stderr.write(
    `The engines that the tests run could not be installed in ${folder}:\n${stdout}\nTry: cd scripts/engines && npx pnpm@12 ${install.join(' ')}\n`,
  );
  process.exitCode = 1;
}
