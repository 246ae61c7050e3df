import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const packages = join(import.meta.dirname, 'node_modules');
const carrier = '@sparticuz/chromium';
const browsers = join(packages, '.browser');

/** Chromium as the package of this folder carries it, unpacked; null: it is not. */
export function unpackedBrowser(): string | null {
  const file = join(browsers, carriedVersion() ?? '', 'chromium');
  return existsSync(file) ? file : null;
}

/**
 * Unpacks the browser once for each version. The package itself unpacks into the folder for temporary files, where another process finds
 * half a browser meanwhile, or an older one. @throws Error if the package is not installed
 */
export function unpackBrowser(): void {
  if (unpackedBrowser() !== null) return;
  const version = carriedVersion();
  if (version === null) throw new Error(`The package ${carrier} is not installed.`);
  mkdirSync(browsers, { recursive: true });
  for (const name of readdirSync(browsers))
    if (!name.includes(version)) rmSync(join(browsers, name), { recursive: true, force: true });
  const folder = mkdtempSync(join(browsers, `${version}-`));
  const unpack = `const { default: chromium } = await import('${carrier}'); await chromium.executablePath();`;
  try {
    execFileSync(process.execPath, ['--input-type=module', '--eval', unpack], {
      cwd: import.meta.dirname,
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    renameSync(folder, join(browsers, version));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    // Another process was faster.
    if (unpackedBrowser() === null) throw error;
  }
}

function carriedVersion(): string | null {
  const file = join(packages, carrier, 'package.json');
  if (!existsSync(file)) return null;
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
