import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser } from '../engines/browser.ts';
import { packPackages } from '../pack.ts';
import { root, workspacePackages } from '../workspace.ts';

/** A folder with nothing but the packed packages of the command, installed. */
const folder = mkdtempSync(join(tmpdir(), 'hansard-packed-viewer-'));
const modules = join(folder, 'node_modules');
const mostBytes = 240_000;
const env = {
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  HOME: folder,
  npm_config_offline: 'true',
};

beforeAll(() => {
  const names = neededBy('hansard');
  expect(names).toContain('@hansard/viewer');
  const tarballs = mkdtempSync(join(tmpdir(), 'hansard-tarballs-'));
  for (const { name, tarball } of packPackages(tarballs, names)) {
    mkdirSync(join(modules, name), { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '-C', join(modules, name), '--strip-components=1']);
  }
  rmSync(tarballs, { recursive: true });
  for (const name of names) linkLibraries(name);
  const bin = join(modules, '.bin/hansard');
  mkdirSync(dirname(bin));
  symlinkSync('../hansard/dist/bin.js', bin);
  chmodSync(bin, 0o755);
}, 240_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

function manifestIn(path: string): Manifest {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest;
}

/** A package of the workspace, and those that it is installed with. */
function neededBy(name: string, needed: string[] = []): string[] {
  const found = workspacePackages().find((one) => one.name === name);
  if (found === undefined || needed.includes(name)) return needed;
  needed.push(name);
  for (const other of Object.keys(manifestIn(join(root, found.folder)).dependencies ?? {}))
    neededBy(other, needed);
  return needed;
}

/** Links the libraries of others that a packed package declares, as an installation brings them. */
function linkLibraries(name: string): void {
  const home = join(root, workspacePackages().find((one) => one.name === name)?.folder ?? '');
  for (const library of Object.keys(manifestIn(join(modules, name)).dependencies ?? {})) {
    const target = join(modules, library);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(realpathSync(join(home, 'node_modules', library)), target);
  }
}

it('`npx hansard view` of the packed packages shows the page in an empty folder', async () => {
  expect(readdirSync(folder)).toEqual(['node_modules']);
  execFileSync('npx', ['hansard', 'demo', '--delay', '0'], { cwd: folder, env, stdio: 'pipe' });
  // In a group of its own: npx does not pass on every signal.
  const viewing = spawn('npx', ['hansard', 'view', '--json'], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const browser = await openBrowser();
  try {
    const lines = createInterface({ input: viewing.stdout })[Symbol.asyncIterator]();
    const { address } = JSON.parse(String((await lines.next()).value)) as { readonly address: string };
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== new URL(address).origin) problems.push(request.url());
    });
    await page.goto(address);
    await page.locator('tbody th a').first().click();
    await page.waitForSelector('.turn');
    expect(await page.locator('.figures .state').first().textContent()).toBe('completed');
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
    process.kill(-(viewing.pid ?? 0), 'SIGKILL');
  }
}, 240_000);

it('the page of the packed package is small, and has nothing from the sources', () => {
  const page = join(modules, '@hansard/viewer/dist/page');
  const files = globSync('**/*', { cwd: page }).sort();
  const all = ['THIRD-PARTY-LICENCES.txt', 'app.css', 'app.js', 'index.html'];
  const atOnce = files.filter((file) => all.includes(file) || file.startsWith('chunk-'));
  const late = files.filter((file) => !atOnce.includes(file) && !file.endsWith('.LEGAL.txt'));
  expect(all.every((file) => atOnce.includes(file))).toBe(true);
  expect(late.map((file) => file.replace(/-.*/, ''))).toEqual(['markdown', 'time']);
  const sizeOf = (file: string) => gzipSync(readFileSync(join(page, file))).length;
  const loaded = atOnce.filter((file) => /\.(?:js|css|html)$/.test(file));
  expect(loaded.reduce((sum, file) => sum + sizeOf(file), 0)).toBeLessThan(60_000);
  const bytes = files.reduce((sum, file) => sum + sizeOf(file), 0);
  expect(bytes).toBeLessThan(mostBytes);
  expect(existsSync(join(modules, '@hansard/viewer/src'))).toBe(false);
});
