/** Makes the pictures of docs/viewer.md from the demo, after `pnpm build`: `node --conditions=@hansard/source scripts/viewer-screens.ts`. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openBrowser } from './engines/browser.ts';
import { root } from './workspace.ts';

const command = join(root, 'apps/harness/dist/bin.js');
const out = join(root, 'docs/viewer');
const folder = mkdtempSync(join(tmpdir(), 'hansard-screens-'));
mkdirSync(out, { recursive: true });
execFileSync(process.execPath, [command, 'demo', '--delay', '0', '--root', folder], { stdio: 'ignore' });
const viewing = spawn(process.execPath, [command, 'view', '--json', '--root', folder], {
  stdio: ['ignore', 'pipe', 'ignore'],
});
/** A task of the demo, the key of a lens, the name of its picture, and what is shown when it is ready. */
const lenses = [
  [/cafe/, '2', 'dialog', '.talk li'],
  [/cafe/, '3', 'perspective', '.talk li'],
  [/cafe/, '4', 'heard', '.wide tbody tr'],
  [/tour/, '5', 'tree', '.tree tbody tr'],
] as const;
const browser = await openBrowser();
try {
  const lines = createInterface({ input: viewing.stdout })[Symbol.asyncIterator]();
  const { address } = JSON.parse(String((await lines.next()).value)) as { readonly address: string };
  for (const dark of [false, true]) {
    const page = await browser.newPage({
      viewport: { width: 1_280, height: 720 },
      colorScheme: dark ? 'dark' : 'light',
    });
    const shoot = async (name: string) => {
      if (dark && name !== 'reader') return;
      await page.screenshot({ path: join(out, `${name}${dark ? '-dark' : ''}.png`) });
    };
    await page.goto(address);
    await page.waitForSelector('tbody th a');
    await shoot('library');
    await page
      .locator('tbody tr', { has: page.locator('.state') })
      .last()
      .locator('th a')
      .click();
    await page.waitForSelector('.row .what');
    await page.waitForSelector('.beside li');
    await shoot('reader');
    await page.locator('.row.call button').first().click();
    await page.waitForSelector('aside .command');
    await shoot('event');
    await page.keyboard.press('Escape');
    await page.locator('#find').fill('a.txt');
    await page.getByLabel('only these').check();
    await page.locator('.find output', { hasText: /rows?$/ }).waitFor();
    await shoot('find');
    for (const [task, key, name, shown] of lenses) {
      await page.evaluate("location.hash = '#/'");
      await page.locator('tbody tr', { hasText: task }).last().locator('th a').click();
      await page.waitForSelector('.row .what');
      await page.keyboard.press(key);
      await page.waitForSelector(shown);
      await shoot(name);
    }
    await page.evaluate("location.hash = '#/'");
    await page.locator('tbody tr', { hasText: /cafe/ }).last().locator('th a').click();
    await page.locator('.row.said button').last().click();
    await page.getByRole('link', { name: 'What the model was given' }).click();
    await page.waitForSelector('ol.given li');
    await shoot('context');
    await page.evaluate("location.hash = '#/search?text=jack'");
    await page.locator('.search output', { hasText: /sessions?$/ }).waitFor();
    await shoot('search');
    await page.close();
  }
  await shootRun();
} finally {
  await browser.close();
  viewing.kill();
  rmSync(folder, { recursive: true });
}

/** The page of a run that plays a recorded stream, while an agent is writing. */
async function shootRun(): Promise<void> {
  const stream = join(root, 'apps/harness/demo/tools-and-thinking.jsonl');
  const options = [
    '--task',
    'lab/tour',
    '--role',
    'guide',
    '--delay',
    '500',
    '--view',
    '--quiet',
    '--root',
    folder,
  ];
  const run = spawn(process.execPath, [command, 'run', stream, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    for await (const line of createInterface({ input: run.stderr })) {
      const [, address] = /^The page of this run: (\S+)$/.exec(line) ?? [];
      if (address === undefined) continue;
      const page = await browser.newPage({ viewport: { width: 1_280, height: 420 } });
      await page.goto(address);
      await page.waitForSelector('.row.call');
      await page.waitForSelector('.growing.text');
      await page.screenshot({ path: join(out, 'run.png') });
      await page.close();
      return;
    }
  } finally {
    run.kill();
  }
}
