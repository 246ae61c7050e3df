import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Dispatch, type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { faultsIn, openViewer, type Page } from './viewer-page.ts';

const taskDir = 'lab/tasks/maps';
/** More than a scroll bar with a pixel per pixel can show. */
const events = 1_000_000;
const hostile =
  '<img src="https://tracker.example/x" onerror="globalThis.taken = true"><script>globalThis.taken = true</script>';

let root: string;
let store: DispatchStore;
let long: Dispatch;
let viewer: Awaited<ReturnType<typeof openViewer>>;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'hansard-viewer-'));
  store = openDispatchStore(openJsonFileStore({ root, durability: 'process' }));
  long = await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'long', title: 'Draw the map' });
  await long.append({ type: 'agent:created', agentId: 'a1', data: { name: 'Ada', languageModel: 'm' } });
  for (let at = 1; at < events; at += 4_000)
    await long.append(Array.from({ length: Math.min(4_000, events - at) }, (_, more) => text(at + more)));
  const other = await store.beginDispatch(taskDir, { role: hostile, dispatchId: 'hostile', title: hostile });
  await other.append([
    { type: 'agent:created', agentId: 'a1', data: { name: hostile, languageModel: hostile } },
    { type: 'agent:text', agentId: 'a1', data: { text: hostile } },
    {
      type: 'agent:tool_call',
      agentId: 'a1',
      data: { tool: hostile, toolCallId: 'c1', metadata: {}, input: { [hostile]: hostile } },
    },
    { type: `made:up`, agentId: 'a2', data: { text: `${hostile}\u202e\u001b[31m` } },
  ]);
  viewer = await openViewer(store);
});

afterAll(async () => {
  await viewer?.close();
  await store?.close();
  rmSync(root, { recursive: true, force: true });
});

function text(position: number): NewEvent {
  return { type: 'agent:text', agentId: 'a1', data: { text: `text ${position}` } };
}

const longPlace = `/d/${encodeURIComponent(taskDir)}/long`;

/** The rows in the window as the browser has laid them out, from top to bottom. */
async function laidOut(page: Page) {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('.row')]
      .map((row) => ({
        position: Number(row.dataset.position),
        top: row.getBoundingClientRect().top,
        height: row.getBoundingClientRect().height,
        text: row.querySelector('.text')?.textContent ?? '',
      }))
      .sort((left, right) => left.top - right.top),
  );
}

/** The rows that are not below the one before them, or do not show the event of their place. */
function misplaced(rows: Awaited<ReturnType<typeof laidOut>>): number[] {
  const [first] = rows;
  return rows.flatMap(({ position, top, height, text: shown }, at) => {
    const isInPlace = height === 24 && top - (first?.top ?? 0) === at * 24;
    const isNext = position === (first?.position ?? 0) + at && shown === `text ${position}`;
    return isInPlace && isNext ? [] : [position];
  });
}

async function firstShown(page: Page): Promise<number> {
  return (await laidOut(page))[0]?.position ?? -1;
}

const lastText = (page: Page, position: number) =>
  page.waitForFunction(
    (wanted) =>
      [...document.querySelectorAll('.row')].some(
        (row) =>
          row.getAttribute('data-position') === String(wanted) && row.textContent?.includes(`text ${wanted}`),
      ),
    position,
    { timeout: 20_000 },
  );

it('opens at the end, with rows below each other, each the one at its place', async () => {
  await using opened = await viewer.open(longPlace);
  const { page, problems } = opened;
  await lastText(page, events - 1);
  await page.waitForFunction(
    (count) => document.querySelector('.count')?.textContent === count,
    '1,000,000 events',
  );
  const rows = await laidOut(page);
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.length).toBeLessThan(60);
  expect(misplaced(rows)).toEqual([]);
  const { height, nodes } = await page.evaluate(() => ({
    height: document.querySelector('.list')?.scrollHeight,
    nodes: document.querySelectorAll('.list *').length,
  }));
  expect([height, nodes < 600]).toEqual([8_000_000, true]);
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  expect(metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value).toBeLessThan(60e6);
  const under = await page.evaluate(() => {
    const list = document.querySelector('.list')?.getBoundingClientRect();
    const element = document.elementFromPoint(640, (list?.top ?? 0) + 24 * 10 + 12);
    return Number(element?.closest<HTMLElement>('.row')?.dataset.position);
  });
  expect(under).toBe((rows[0]?.position ?? 0) + 10);
  expect(await page.locator('.row .agent').first().textContent()).toBe('Ada');
  // Rows without a unit in their place, all at one place, and rows that are not where they say, would be found.
  for (const mutate of [
    () => {
      for (const row of document.querySelectorAll<HTMLElement>('.row')) row.style.top = '';
    },
    () => {
      for (const [at, row] of document.querySelectorAll<HTMLElement>('.row').entries())
        row.style.top = `${at * 25}px`;
    },
    () => {
      for (const [at, row] of document.querySelectorAll<HTMLElement>('.row').entries()) {
        row.style.top = `${at * 24}px`;
        row.dataset.position = String(Number(row.dataset.position) + 1);
      }
    },
  ]) {
    await page.evaluate(mutate);
    expect(misplaced(await laidOut(page)).length).toBeGreaterThan(10);
  }
  expect(problems).toEqual([]);
});

it('moves by as many rows as the wheel says, and jumps with keys', async () => {
  await using opened = await viewer.open(`${longPlace}?at=500000`);
  const { page, problems } = opened;
  await lastText(page, 500_000);
  expect(await firstShown(page)).toBe(500_000);
  await page.mouse.move(640, 450);
  for (let turn = 1; turn <= 60; turn += 1) {
    await page.mouse.wheel(0, 240);
    await page.waitForFunction(
      (wanted) => document.querySelector(`.row[data-position="${wanted}"]`) !== null,
      500_000 + turn * 10 + 20,
    );
  }
  await expect.poll(() => firstShown(page)).toBe(500_600);
  await page.keyboard.press('g');
  await page.waitForFunction(() => document.querySelector('.row[data-position="0"]') !== null);
  expect(await firstShown(page)).toBe(0);
  await page.keyboard.press('G');
  await lastText(page, events - 1);
  for (let step = 0; step < 3; step += 1) await page.keyboard.press('k');
  await page.waitForFunction(
    (wanted) => document.querySelector(`.row.current[data-position="${wanted}"]`) !== null,
    events - 4,
  );
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    (wanted) => document.querySelector('aside pre.body')?.textContent === wanted,
    `text ${events - 4}`,
  );
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelector('aside') === null);
  expect(problems).toEqual([]);
});

it('shows what comes at the end, and says how much has come when it is elsewhere', async () => {
  await using opened = await viewer.open(longPlace);
  const { page, problems } = opened;
  await lastText(page, events - 1);
  let last = events - 1;
  for (let turn = 0; turn < 5; turn += 1) {
    await long.append([text(last + 1), text(last + 2)]);
    last += 2;
    await lastText(page, last);
  }
  // Faster than the page is drawn: it stays at the end.
  for (let burst = 0; burst < 20; burst += 1) {
    await long.append(Array.from({ length: 300 }, (_, at) => text(last + 1 + at)));
    last += 300;
  }
  await lastText(page, last);
  await page.keyboard.press('g');
  await page.waitForFunction(() => document.querySelector('.row[data-position="0"]') !== null);
  await long.append(Array.from({ length: 37 }, (_, at) => text(last + 1 + at)));
  last += 37;
  await page.waitForFunction(() => document.querySelector('.unseen')?.textContent?.includes('37 new'));
  expect(await firstShown(page)).toBe(0);
  await page.locator('.unseen').click();
  await lastText(page, last);
  expect(problems).toEqual([]);
});

it('shows what comes in each of eight pages at once', async () => {
  await using dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'tabs' });
  await dispatch.append(Array.from({ length: 100 }, (_, at) => text(at)));
  // The pages of a context share the six connections of a browser.
  const context = await viewer.browser.newContext();
  try {
    const first = await context.newPage();
    await first.goto(viewer.running.url);
    await first.close();
    const tabs = await Promise.all(Array.from({ length: 8 }, () => context.newPage()));
    const address = `${new URL(viewer.running.url).origin}/#/d/${encodeURIComponent(taskDir)}/tabs`;
    for (const page of tabs) await page.goto(address);
    for (let last = 99; last < 103; last += 1) {
      if (last > 99) await dispatch.append(text(last));
      for (const page of tabs)
        await expect
          .poll(() => page.locator('.row .text').last().textContent(), { timeout: 10_000 })
          .toBe(`text ${last}`);
    }
  } finally {
    await context.close();
  }
}, 240_000);

it.each([
  [1_280, false],
  [1_280, true],
  [400, false],
])('a hostile log %s pixels wide runs nothing and asks for nothing (dark: %s)', async (width, dark) => {
  await using opened = await viewer.open(`/d/${encodeURIComponent(taskDir)}/hostile`, { width, dark });
  const { page, problems } = opened;
  await page.waitForFunction(() => document.querySelectorAll('.row .what').length >= 4);
  await page.locator('.row button').nth(1).click();
  await page.waitForFunction(() => document.querySelector('aside pre.body') !== null);
  expect(await page.locator('aside pre.body').textContent()).toBe(hostile);
  await page.locator('header a').first().click();
  await page.waitForFunction(() => document.querySelector('.library') !== null);
  await page.waitForFunction(() => document.querySelectorAll('.library a').length >= 4);
  expect(await page.evaluate(() => 'taken' in globalThis)).toBe(false);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  expect(problems).toEqual([]);
});

it.each([
  ['the reader', longPlace, false],
  ['the reader', longPlace, true],
  ['the library', '/', false],
  ['the library', '/', true],
])('%s has no fault that axe finds (%s, dark: %s)', async (_, hash, dark) => {
  await using opened = await viewer.open(hash, { dark });
  const { page } = opened;
  await page.waitForFunction(() => document.querySelectorAll('.row .what, .library a').length >= 4);
  expect(await faultsIn(page)).toEqual([]);
});
