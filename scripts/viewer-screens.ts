/**
 * Takes pictures of the screens of the viewer, after `pnpm build`: `node --conditions=@hansard/source scripts/viewer-screens.ts [--out FOLDER] [--only SCREEN] [--docs]`.
 *
 * Every screen is taken at three widths in two themes, from one store: recorded agents of `hansard demo`, generated sessions of a coding agent,
 * and the sessions of `HANSARD_CORPUS`, where it is. A sheet shows the six pictures of a screen. A screen that is wider than its window, or that
 * writes an error, is a failure. `--docs` writes those of docs/viewer instead, except run.png, which is not taken by a script.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { openBrowser } from './engines/browser.ts';
import { writeSessions } from './generated-sessions.ts';
import { root } from './workspace.ts';

type Browser = Awaited<ReturnType<typeof openBrowser>>;
type Page = Awaited<ReturnType<Browser['newPage']>>;

const { values } = parseArgs({
  options: { out: { type: 'string' }, only: { type: 'string', multiple: true }, docs: { type: 'boolean' } },
});
const command = join(root, 'apps/harness/dist/bin.js');
const folder = mkdtempSync(join(tmpdir(), 'hansard-screens-'));
const env = { ...process.env, HOME: folder };
const corpus = process.env.HANSARD_CORPUS ?? join(root, '../../shared/fixtures');
const out = values.out ?? (values.docs ? join(root, 'docs/viewer') : join(tmpdir(), 'hansard-pictures'));
const widths = [1_440, 900, 400] as const;

/** Opens a session of the library by its title. */
const session = (title: RegExp, then?: (page: Page) => Promise<void>) => async (page: Page) => {
  await page.evaluate(`location.hash = '#/?days=all'`);
  await page.getByRole('link', { name: title }).first().click();
  await page.waitForSelector('.turn');
  await then?.(page);
};

const key = (name: string, shown: string) => async (page: Page) => {
  await page.keyboard.press(name);
  await page.waitForSelector(shown);
};

const at = (hash: string, shown: string) => async (page: Page) => {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.waitForSelector(shown);
};

interface Screen {
  readonly name: string;
  /** Its picture in docs/viewer: the width, and whether it is also taken dark. Absent: it has none. */
  readonly docs?: { readonly width: number; readonly isDark?: boolean };
  /** Shown only with the corpus. */
  readonly isOfCorpus?: true;
  readonly open: (page: Page) => Promise<void>;
}

const screens: readonly Screen[] = [
  { name: 'library', docs: { width: 1_280, isDark: true }, open: at('#/', 'tbody th a') },
  {
    name: 'conversation',
    docs: { width: 1_280, isDark: true },
    open: session(/Rotate the refresh token/, async (page) => {
      await page.waitForSelector('.prose table');
      await page.locator('.fold').nth(1).click();
    }),
  },
  {
    name: 'marks',
    docs: { width: 1_280 },
    open: session(/a\.txt has 6 bytes/, async (page) => {
      await page.waitForSelector('header .note-text');
    }),
  },
  {
    name: 'time',
    docs: { width: 1_280 },
    open: session(/Rotate the refresh token/, key('6', '.figures-table')),
  },
  {
    name: 'reader',
    docs: { width: 1_280 },
    open: session(/Rotate the refresh token/, key('e', '.row .what')),
  },
  {
    name: 'event',
    docs: { width: 1_280 },
    open: session(/a\.txt has 6 bytes/, async (page) => {
      await page.keyboard.press('e');
      await page.locator('.row.call button').first().click();
      await page.waitForSelector('aside .command');
    }),
  },
  {
    name: 'find',
    docs: { width: 1_280 },
    open: session(/a\.txt has 6 bytes/, async (page) => {
      await page.keyboard.press('e');
      await page.locator('#find').fill('a.txt');
      await page.getByLabel('only these').check();
      await page.locator('.find output', { hasText: /rows?$/ }).waitFor();
    }),
  },
  { name: 'dialog', docs: { width: 1_280 }, open: session(/Jack and Jill/, key('2', '.talk li')) },
  { name: 'perspective', docs: { width: 1_280 }, open: session(/Jack and Jill/, key('3', '.talk li')) },
  { name: 'heard', docs: { width: 1_280 }, open: session(/Jack and Jill/, key('4', '.wide tbody tr')) },
  { name: 'tree', docs: { width: 1_280 }, open: session(/a\.txt has 6 bytes/, key('5', '.tree tbody tr')) },
  {
    name: 'context',
    docs: { width: 1_280 },
    open: session(/Jack and Jill/, async (page) => {
      await page.keyboard.press('e');
      await page.locator('.row.said button').last().click();
      await page.getByRole('link', { name: 'What the model was given' }).click();
      await page.waitForSelector('ol.given li');
    }),
  },
  { name: 'search', docs: { width: 1_280 }, open: at('#/search?text=token', '.found .hit') },
  { name: 'empty', open: at('#/?filter=nothing-has-this', '.library') },
  { name: 'corpus-claude', isOfCorpus: true, open: session(/Check CI linting failures/) },
  { name: 'corpus-codex', isOfCorpus: true, open: session(/Review all open PRs/) },
  {
    name: 'corpus-time',
    isOfCorpus: true,
    open: session(/Review all open PRs/, key('6', '.figures-table')),
  },
  {
    name: 'corpus-claude-time',
    isOfCorpus: true,
    open: session(/Check CI linting/, key('6', '.figures-table')),
  },
];

execFileSync(process.execPath, [command, 'demo', '--delay', '0', '--root', folder], { stdio: 'ignore', env });
const sources = [writeSessions(join(folder, '.claude/projects'), Date.now())];
if (existsSync(corpus)) sources.push(join(corpus, 'claude-transcripts'), join(corpus, 'codex'));
execFileSync(process.execPath, [command, 'import', '--root', folder, ...sources], { stdio: 'ignore', env });

const marked = ['note', '--root', folder, 'a.txt has', '--as', 'ann'];
for (const mark of [
  ['Ask the reviewer about empty files.', '--event', 'latest'],
  ['--tag', 'files', '--rate', '4', '--bookmark'],
  ['A good example for the handbook.'],
])
  execFileSync(process.execPath, [command, ...marked, ...mark], { stdio: 'ignore', env });

const viewing = spawn(process.execPath, [command, 'view', '--json', '--as', 'ann', '--root', folder], {
  stdio: ['ignore', 'pipe', 'ignore'],
  env,
});
const faults: string[] = [];
mkdirSync(out, { recursive: true });
const browser = await openBrowser();
try {
  const lines = createInterface({ input: viewing.stdout })[Symbol.asyncIterator]();
  const { address } = JSON.parse(String((await lines.next()).value)) as { readonly address: string };
  for (const screen of screens) {
    if (values.only !== undefined && !values.only.includes(screen.name)) continue;
    if (screen.isOfCorpus && !existsSync(corpus)) continue;
    if (values.docs !== true) await sheetOf(screen, address);
    else if (screen.docs !== undefined) {
      const { width, isDark } = screen.docs;
      for (const dark of isDark === true ? [false, true] : [false])
        await picture(screen, address, { width, dark, name: `${screen.name}${dark ? '-dark' : ''}` });
    }
  }
} finally {
  await browser.close();
  viewing.kill();
  rmSync(folder, { recursive: true });
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

async function picture(
  { name: screen, open }: Screen,
  address: string,
  { width, dark, name }: { readonly width: number; readonly dark: boolean; readonly name: string },
): Promise<string> {
  const height = width < 500 ? 800 : width < 1_000 ? 860 : 900;
  const page = await browser.newPage({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
  });
  page.on('pageerror', (error) => faults.push(`${name}: ${error}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`${name}: ${message.text()}`);
  });
  const path = join(out, `${name}.png`);
  try {
    await page.goto(address);
    await page.waitForSelector('.library tbody tr, .library p');
    await open(page);
    // Figures and fonts come a moment after the first rows.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 250))');
    const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    if (Number(excess) > 0) faults.push(`${name}: ${excess} pixels wider than its window of ${width}`);
  } catch (error) {
    faults.push(`${screen} at ${width}: ${String(error).split('\n')[0]}`);
  }
  await page.screenshot({ path });
  await page.close();
  return values.docs === true ? await smaller(path) : path;
}

/** Turns a picture into a WebP of a fifth of its size. */
async function smaller(path: string): Promise<string> {
  const page = await browser.newPage();
  const webp = await page.evaluate(
    async (source) => {
      const image = await createImageBitmap(await (await fetch(source)).blob());
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [image.width, image.height];
      canvas.getContext('2d')?.drawImage(image, 0, 0);
      return canvas.toDataURL('image/webp', 0.85);
    },
    `data:image/png;base64,${readFileSync(path).toString('base64')}`,
  );
  await page.close();
  rmSync(path);
  const small = path.replace(/png$/, 'webp');
  writeFileSync(small, Buffer.from(webp.slice(webp.indexOf(',') + 1), 'base64'));
  return small;
}

/** The pictures of a screen, and one picture with all of them. */
async function sheetOf(screen: Screen, address: string): Promise<void> {
  const paths: string[] = [];
  for (const dark of [false, true])
    for (const width of widths)
      paths.push(
        await picture(screen, address, {
          width,
          dark,
          name: `${screen.name}-${width}-${dark ? 'dark' : 'light'}`,
        }),
      );
  const images = paths.map((path) => {
    const data = readFileSync(path).toString('base64');
    return `<img height=780 src="data:image/png;base64,${data}">`;
  });
  const page = await browser.newPage({ viewport: { width: 2_500, height: 1_600 } });
  const rows = [images.slice(0, 3), images.slice(3)].map(
    (row) => `<p style="display:flex;gap:8px;margin:8px">${row.join('')}</p>`,
  );
  await page.setContent(`<body style="margin:0;background:#888">${rows.join('')}</body>`);
  writeFileSync(join(out, `sheet-${screen.name}.png`), await page.screenshot());
  await page.close();
}
