import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unpackBrowser } from './engines/unpack-browser.ts';
import { runPnpm } from './running-pnpm.ts';
import { root } from './workspace.ts';

/**
 * Installs what the tests run for real and users do not install: `scripts/engines`, with a lockfile of its own. It
 * prints a message only for the first installation, which downloads some 300 MB.
 */
const folder = join(root, 'scripts/engines');
const install = ['install', '--ignore-workspace', '--frozen-lockfile', '--prefer-offline'];
if (!existsSync(join(folder, 'node_modules')))
  process.stderr.write(`Installing the engines that the tests run in ${folder}, some 300 MB.\n`);
try {
  runPnpm(folder, install);
  unpackBrowser();
} catch (error) {
  const { stdout = '', stderr = String(error) } = error as { stdout?: string; stderr?: string };
  process.stderr.write(
    `The engines that the tests run could not be installed in ${folder}:\n${stdout}${stderr}\nTry: cd scripts/engines && npx pnpm@12 ${install.join(' ')}\n`,
  );
  process.exitCode = 1;
}
