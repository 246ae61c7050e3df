import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { startServer, type TestServer } from '@hansard/testing/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../../../../scripts/engines/browser.ts';
import { builtViewer } from './built-viewer.ts';
import { dispatchId, LineProcess, type StoreOfTest, taskDir, tokenOfTest } from './store-of-test.ts';
import { type Page, positionsIn } from './viewer-page.ts';

let root: string;
let server: TestServer;
let browser: Awaited<ReturnType<typeof openBrowser>>;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'hansard-viewer-'));
  [server, browser] = await Promise.all([startServer(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(root, { recursive: true, force: true });
});

const patient = { timeout: 20_000 };
const place = `#/d/${encodeURIComponent(taskDir)}/${dispatchId}`;
const addressAt = (port: number) => `http://127.0.0.1:${port}/?t=${tokenOfTest}${place}`;
const rowAt = (position: number) => `.row[data-position="${position}"] .text`;
const alerts = (page: Page) => page.locator('header [role=alert]').allTextContents();

/** Waits until the page is at the end of this number of events, with the rows before it, each once. */
async function atEndOf(page: Page, count: number): Promise<void> {
  await expect
    .poll(() => page.locator('.count').textContent(), patient)
    .toBe(`${count.toLocaleString('en-GB')} events`);
  await expect.poll(async () => (await positionsIn(page)).at(-1), patient).toBe(count - 1);
  const positions = await positionsIn(page);
  expect(positions.length).toBeGreaterThan(20);
  expect(positions).toEqual(positions.map((_, at) => count - positions.length + at));
  expect(await page.locator(rowAt(count - 1)).textContent()).toBe(`text ${count - 1}`);
}

describe.each(['jsonfile', 'sqlite', 'postgres'] as const)(
  'a dispatch of store-%s that another process writes',
  (kind) => {
    const storeOf = (name: string): StoreOfTest =>
      kind === 'jsonfile'
        ? { kind, root: join(root, name) }
        : kind === 'sqlite'
          ? { kind, path: join(root, `${name}.db`) }
          : { kind, url: server.url(), schema: name };

    it('is shown live, found and opened, and continues after the viewer was killed and started again', async () => {
      const store = storeOf(`main_${kind}`);
      await using writer = new LineProcess('write', store);
      let count = await writer.ask(700);
      let viewing = new LineProcess('view', store);
      const port = await viewing.next();
      const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
      try {
        await page.goto(addressAt(port));
        await atEndOf(page, count);
        for (const more of [1, 1, 40, 1]) {
          count = await writer.ask(more);
          await atEndOf(page, count);
        }
        await page.locator('#find').fill('text 69');
        const found = page.locator('.find output');
        await expect.poll(() => found.textContent(), patient).toBe('11 rows');
        await page.locator(`.row[data-position="${count - 2}"] button`).click();
        await page.waitForFunction(
          (text) => document.querySelector('aside pre.body')?.textContent === text,
          `text ${count - 2}`,
        );
        await viewing.kill();
        await expect
          .poll(() => alerts(page), patient)
          .toContainEqual(expect.stringContaining('does not answer'));
        count = await writer.ask(9);
        viewing = new LineProcess('view', store, port);
        expect(await viewing.next()).toBe(port);
        await expect.poll(() => alerts(page), patient).toEqual([]);
        await atEndOf(page, count);
        // A page elsewhere shows how many rows came, those during a second restart included: each once.
        await page.locator('.list').focus();
        await page.keyboard.press('g');
        await page.waitForSelector('.row[data-position="0"] .text');
        count = await writer.ask(3);
        await expect.poll(() => page.locator('.unseen').textContent(), patient).toBe('▼ 3 new');
        await viewing.kill();
        count = await writer.ask(300);
        viewing = new LineProcess('view', store, port);
        await viewing.next();
        count = await writer.ask(30);
        await expect.poll(() => page.locator('.unseen').textContent(), patient).toBe('▼ 333 new');
        expect(await positionsIn(page)).toContain(0);
        await page.locator('.unseen').click();
        await atEndOf(page, count);
        await expect.poll(() => alerts(page), patient).toEqual([]);
      } finally {
        await page.close();
        await viewing.kill();
      }
    });
  },
);

it('says that PostgreSQL does not answer, keeps its rows, and continues when the server is back', async () => {
  const store: StoreOfTest = { kind: 'postgres', url: server.url(), schema: 'away' };
  await using writer = new LineProcess('write', store);
  await writer.ask(200);
  await using viewing = new LineProcess('view', store);
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
  try {
    await page.goto(addressAt(await viewing.next()));
    await atEndOf(page, 200);
    await server.kill();
    try {
      await expect.poll(() => alerts(page), patient).toContainEqual(expect.stringContaining('Trying again'));
      expect(await positionsIn(page)).toContain(199);
    } finally {
      await server.start();
    }
    await expect.poll(() => alerts(page), patient).toEqual([]);
    await atEndOf(page, await writer.ask(5));
  } finally {
    await page.close();
  }
});

it('reads a SQLite file while another program keeps others from writing, and then what was written', async () => {
  const path = join(root, 'locked.db');
  const store: StoreOfTest = { kind: 'sqlite', path };
  await using writer = new LineProcess('write', store);
  await writer.ask(400);
  await using viewing = new LineProcess('view', store);
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
  try {
    await page.goto(addressAt(await viewing.next()));
    await atEndOf(page, 400);
    const locking = new DatabaseSync(path);
    locking.exec('BEGIN EXCLUSIVE');
    const waiting = writer.ask(3);
    await page.locator('.list').focus();
    await page.keyboard.press('g');
    await page.waitForSelector(rowAt(0));
    await expect.poll(() => page.locator(rowAt(0)).textContent(), patient).toBe('text 0');
    await page.keyboard.press('G');
    await atEndOf(page, 400);
    expect(await alerts(page)).toEqual([]);
    locking.exec('ROLLBACK');
    locking.close();
    await atEndOf(page, await waiting);
  } finally {
    await page.close();
  }
}, 240_000);

it('says that the viewer was started with another token, and continues when its address is opened', async () => {
  const store: StoreOfTest = { kind: 'jsonfile', root: join(root, 'token') };
  await using writer = new LineProcess('write', store);
  await writer.ask(50);
  await using viewing = new LineProcess('view', store);
  const port = await viewing.next();
  const { createViewer } = await builtViewer();
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(addressAt(port));
    await atEndOf(page, 50);
    await viewing.kill();
    const again = openDispatchStore(openJsonFileStore({ root: store.root }));
    const running = await createViewer({ store: again }).start({ port });
    try {
      await expect
        .poll(() => alerts(page), patient)
        .toContainEqual(expect.stringContaining('was started again'));
      const count = await writer.ask(5);
      await (await context.newPage()).goto(running.url);
      await expect.poll(() => alerts(page), patient).toEqual([]);
      await atEndOf(page, count);
    } finally {
      await running.close();
      await again.close();
    }
  } finally {
    await context.close();
  }
}, 240_000);
