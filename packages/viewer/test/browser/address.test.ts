import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { faultsIn, openViewer, type Page, positionsIn } from './viewer-page.ts';

const taskDir = 'lab/tasks/maps';
const place = `/d/${encodeURIComponent(taskDir)}/long`;
const events = 2_000;
/** Every tenth event is by Ben, and every hundredth is a failure. */
const event = (at: number): NewEvent =>
  at % 100 === 50
    ? { type: 'harness:error', agentId: 'b1', data: { message: `broken ${at}` } }
    : { type: 'agent:text', agentId: at % 10 === 0 ? 'b1' : 'a1', data: { text: `text ${at}` } };

let root: string;
let store: DispatchStore;
let viewer: Awaited<ReturnType<typeof openViewer>>;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'hansard-viewer-'));
  store = openDispatchStore(openJsonFileStore({ root }));
  const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'long', title: 'Map' });
  await dispatch.append([
    { type: 'agent:created', agentId: 'a1', data: { name: 'Ada', languageModel: 'm' } },
    { type: 'agent:created', agentId: 'b1', data: { name: 'Ben', languageModel: 'm' } },
    ...Array.from({ length: events - 2 }, (_, at) => event(at + 2)),
  ]);
  viewer = await openViewer(store);
});

afterAll(async () => {
  await viewer?.close();
  await store?.close();
  rmSync(root, { recursive: true, force: true });
});

const patient = { timeout: 10_000 };
const rowAt = (position: number) => `.row[data-position="${position}"]`;
const fields = (page: Page) =>
  page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.split('?')[1] ?? '')));

async function shown(page: Page) {
  return {
    fields: await fields(page),
    rows: await positionsIn(page),
    found: await page.locator('.find output').allTextContents(),
    open: await page.locator('aside h2').allTextContents(),
    text: await page.locator('#find').inputValue(),
    kind: await page.getByLabel('Kind').inputValue(),
    agent: await page.getByLabel('Agent', { exact: true }).inputValue(),
  };
}

it('has the query, the filters, the place and the open event in its address: another page shows the same', async () => {
  await using opened = await viewer.open(place);
  const { page, problems } = opened;
  await page.waitForSelector(rowAt(events - 1));
  await page.keyboard.press('/');
  await page.keyboard.type('text 1');
  await page.getByLabel('Kind').selectOption('said');
  await page.getByLabel('Agent', { exact: true }).selectOption('b1');
  await page.getByLabel('only these').check();
  // 10, 100 to 190 without 150, and 1000 to 1990 without the failures.
  await expect.poll(() => page.locator('.find output').textContent(), patient).toBe('100 rows');
  await page.locator('.list').focus();
  await page.keyboard.press('g');
  await page.waitForSelector(rowAt(10));
  await page.locator(`${rowAt(100)} button`).click();
  await page.locator('aside').waitFor();
  await expect
    .poll(() => fields(page), patient)
    .toEqual({ text: 'text 1', kind: 'said', agent: 'b1', only: '1', at: '10', open: '100' });
  const before = await shown(page);
  expect(before.rows.slice(0, 3)).toEqual([10, 100, 110]);
  await page.reload();
  await page.waitForSelector('aside pre.body');
  await expect.poll(() => shown(page), patient).toEqual(before);
  await using other = await viewer.open((await page.evaluate(() => location.hash)).slice(1));
  await other.page.waitForSelector('aside pre.body');
  await expect.poll(() => shown(other.page), patient).toEqual(before);
  expect([problems, other.problems]).toEqual([[], []]);
});

it('goes back and forward over open events, queries, places and screens', async () => {
  await using opened = await viewer.open('/?filter=Map');
  const { page, problems } = opened;
  await page.waitForSelector('a.session');
  await page.evaluate((hash) => {
    location.hash = hash;
  }, place);
  await page.waitForSelector(rowAt(events - 1));
  await page.locator(`${rowAt(events - 3)} button`).click();
  await page.waitForSelector(`aside[aria-label="Event ${events - 3}"]`);
  await page.getByLabel('failed').check();
  await expect.poll(() => page.locator('.find output').textContent(), patient).toBe('20 rows');
  await page.locator('.beside a', { hasText: 'Ada' }).click();
  await page.waitForSelector(`.current${rowAt(0)}`);
  const isOpen = () => page.locator('aside').count();
  const isFailed = () => page.getByLabel('failed').isChecked();
  const state = async () => [await isOpen(), await isFailed(), (await positionsIn(page)).includes(0)];
  await expect.poll(state, patient).toEqual([0, true, true]);
  await page.goBack();
  await expect.poll(state, patient).toEqual([1, true, false]);
  await page.waitForSelector(rowAt(events - 1));
  await page.goBack();
  await expect.poll(state, patient).toEqual([1, false, false]);
  await page.goBack();
  await expect.poll(state, patient).toEqual([0, false, false]);
  await page.goBack();
  await page.waitForSelector('.library');
  expect(await page.getByLabel('Search titles').inputValue()).toBe('Map');
  await page.goForward();
  await page.waitForSelector(rowAt(events - 1));
  await page.goForward();
  await page.goForward();
  await expect.poll(state, patient).toEqual([1, true, false]);
  await expect.poll(() => page.locator('.find output').textContent(), patient).toBe('20 rows');
  await page.goForward();
  await expect.poll(state, patient).toEqual([0, true, true]);
  expect(problems).toEqual([]);
});

it('follows a link and the back button when the place before them is written only then', async () => {
  await using opened = await viewer.open('/?filter=Map');
  const { page, problems } = opened;
  // What a slow machine does: the timer that writes the place runs after the address changed, before the page did.
  await page.addInitScript(() => {
    const { setTimeout: later, clearTimeout: clear } = window;
    let late: { id: number; run: () => void } | undefined;
    Object.assign(window, {
      setTimeout: (run: () => void, ms?: number, ...rest: unknown[]) => {
        const id = Number(later(ms === 300 ? () => undefined : run, ms, ...rest));
        if (ms !== 300) return id;
        late = { id, run };
        document.documentElement.dataset.late = 'waits';
        return id;
      },
      clearTimeout: (id?: number) => {
        if (late?.id === id) late = undefined;
        clear(id);
      },
    });
    addEventListener('popstate', () => {
      document.documentElement.dataset.late = 'ran';
      late?.run();
    });
  });
  await page.reload();
  await page.goto(`${viewer.running.url}#${place}?at=200`);
  await page.waitForSelector(rowAt(200));
  const waits = () => page.waitForFunction(() => document.documentElement.dataset.late === 'waits');
  await waits();
  await page.locator('.beside a', { hasText: 'Ada' }).click();
  await page.waitForSelector(`.current${rowAt(0)}`);
  await waits();
  await page.goBack();
  await page.waitForSelector(rowAt(200));
  expect((await positionsIn(page)).includes(0)).toBe(false);
  expect(problems).toEqual([]);
});

it('copies the text, the line and the history of an event, and says so', async () => {
  await using opened = await viewer.open(`${place}?open=60`);
  const { page, problems } = opened;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = async (button: string, done: string) => {
    await page.locator('aside button', { hasText: button }).click();
    await expect.poll(() => page.locator('aside output').textContent(), patient).toBe(done);
    return page.evaluate(() => navigator.clipboard.readText());
  };
  expect(await copied('Text', 'Text copied.')).toBe('text 60');
  expect(JSON.parse(await copied('JSON line', 'JSON line copied.'))).toMatchObject({ type: 'agent:text' });
  const lines = (await copied('History up to here', 'History copied.')).trimEnd().split('\n');
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([
    61,
    expect.stringContaining('Ada'),
    expect.stringContaining('text 60'),
  ]);
  expect(problems).toEqual([]);
});

it.each([false, true])(
  'has no fault that axe finds with the inspector and find open (dark: %s)',
  async (dark) => {
    await using opened = await viewer.open(`${place}?at=40&open=50&failed=1&text=broken&only=1`, { dark });
    const { page, problems } = opened;
    await page.waitForSelector('aside .command');
    await expect.poll(() => page.locator('.find output').textContent(), patient).toBe('20 rows');
    expect(await faultsIn(page)).toEqual([]);
    await page.locator('aside button', { hasText: 'JSON' }).first().click();
    await page.waitForSelector('aside pre.fields');
    await page.locator('#find').focus();
    expect(await faultsIn(page)).toEqual([]);
    expect(problems).toEqual([]);
  },
);
