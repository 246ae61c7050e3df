import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { packPackages } from './pack.ts';

// Checks every package as it would be published: publint, are-the-types-wrong, and that nothing of the workspace leaks.
const folder = mkdtempSync(join(tmpdir(), 'hansard-pack-'));
let problems = 0;
const report = (name: string, problem: string) => {
  problems += 1;
  console.error(`${name}: ${problem}`);
};

try {
  for (const { name, tarball } of packPackages(folder)) {
    const bytes = new Uint8Array(readFileSync(tarball));
    const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
    for (const message of messages) report(name, formatMessage(message, pkg ?? {}) ?? message.code);
    const manifest = JSON.stringify(pkg);
    for (const leak of ['workspace:', '@hansard/source', '/src/']) {
      if (manifest.includes(leak)) report(name, `its published package.json has ${leak}`);
    }
    try {
      execFileSync('attw', [tarball, '--profile', 'esm-only', '--format', 'table-flipped', '--no-color'], {
        encoding: 'utf8',
      });
    } catch (error) {
      report(name, (error as { stdout?: string }).stdout ?? String(error));
    }
    console.log(`checked ${name}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = problems === 0 ? 0 : 1;
