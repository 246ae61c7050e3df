/// <reference lib="dom" />
/** Measures the viewer in a browser, after `pnpm build`: `viewer.ts [EVENTS]`. The server is a process of its own. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { openBrowser } from '../scripts/engines/browser.ts';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';
import { temporaryFolder } from './temporary-folder.ts';
import {
  type Context,
  idle,
  jumps,
  lens,
  live,
  memory,
  type Page,
  rounds,
  type Say,
  type Seen,
  wheel,
} from './viewer-figures.ts';
import { openStore, type StoreKind, taskDir, writeLog } from './viewer-log.ts';

const lensEvents = 50_000;
const [events = '1000000'] = process.argv.slice(2);

for (const kind of ['sqlite', 'jsonfile'] as const) await measure(kind, Number(events));

async function measure(kind: StoreKind, events: number): Promise<void> {
  const folder = temporaryFolder('viewer');
  const path = join(folder, kind);
  const store = openStore(kind, path);
  await writeLog(store, 'long', events);
  await writeLog(store, 'lens', lensEvents);
  const args = [fileURLToPath(new URL('viewer-server.mjs', import.meta.url)), kind, path];
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const browser = await openBrowser();
  try {
    const url = String(
      (await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next()).value,
    );
    const pid = server.pid ?? 0;
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
    await context.addInitScript(watchRows);
    const first = await context.newPage();
    await first.goto(url);
    const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
    await first.close();
    const origin = new URL(url).origin;
    const say = (figures: Record<string, number>, limits: Record<string, number>) =>
      report(
        { benchmark: 'viewer', store: kind, events, ...figures },
        Object.entries(limits).map(([key, atMost]) => ({ key, atMost })),
      );
    const address = `${origin}/#/d/${encodeURIComponent(taskDir)}`;
    const page = await paints(context, `${address}/long`, kind, say);
    await jumps(page, `${address}/long`.split('#')[1] ?? '', events, say);
    await wheel(page, events, say);
    await memory(page, pid, say);
    await page.close();
    await lens(origin, cookie, say);
    await live(context, store, `${address}/live`, say);
    await idle(context, `${address}/long`, pid, say);
    const bytes = await Promise.all(
      ['/', '/app.js', '/app.css'].map(async (file) => {
        const answer = await fetch(origin + file, { headers: { cookie } });
        return gzipSync(Buffer.from(await answer.arrayBuffer())).length;
      }),
    );
    say(
      { pageKilobytes: rounded(bytes.reduce((sum, size) => sum + size, 0) / 1_000) },
      { pageKilobytes: 60 },
    );
  } finally {
    await browser.close();
    server.kill();
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

/** Runs in the page: when it showed the first rows and the number of all, and how long after its time each text that has one. */
function watchRows(): void {
  const seen: Record<string, number> = {};
  const delays: number[] = [];
  Object.assign(globalThis, { seen, delays });
  const known = new Set<string>();
  new MutationObserver(() => {
    if (seen.rows === undefined && document.querySelector('.row .what') !== null)
      seen.rows = performance.now();
    if (seen.total === undefined && /^\d/.test(document.querySelector('.count')?.textContent ?? ''))
      seen.total = performance.now();
    for (const text of document.querySelectorAll('.row .text')) {
      const sent = /^sent (\d+) (\d+)$/.exec(text.textContent ?? '');
      if (sent === null || known.has(sent[1] ?? '')) continue;
      known.add(sent[1] ?? '');
      delays.push(Date.now() - Number(sent[2]));
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });
}

async function paints(context: Context, address: string, kind: StoreKind, say: Say): Promise<Page> {
  const [rows, totals]: [number[], number[]] = [[], []];
  for (let round = 0; ; round += 1) {
    const page = await context.newPage();
    await page.goto(address);
    await page.waitForFunction(() => (globalThis as unknown as Seen).seen.total !== undefined);
    const { seen } = await page.evaluate(() => ({ seen: (globalThis as unknown as Seen).seen }));
    rows.push(seen.rows ?? Number.NaN);
    totals.push(seen.total ?? Number.NaN);
    if (round === rounds - 1) {
      const [firstRowsMs, totalMs] = [rounded(median(rows)), rounded(median(totals))];
      say({ firstRowsMs, totalMs }, { firstRowsMs: kind === 'sqlite' ? 250 : 300, totalMs: 1_000 });
      return page;
    }
    await page.close();
  }
}
