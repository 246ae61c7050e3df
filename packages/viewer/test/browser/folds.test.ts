import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Dispatch, type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openViewer, type Page, positionsIn } from './viewer-page.ts';

const taskDir = 'lab/tasks/rolls';
const place = `/d/${encodeURIComponent(taskDir)}/d1`;
const patient = { timeout: 10_000 };
const rowAt = (position: number) => `.row[data-position="${position}"]`;

let root: string;
let store: DispatchStore;
let dispatch: Dispatch;
let viewer: Awaited<ReturnType<typeof openViewer>>;

const asked = (id: string, text: string): NewEvent => ({
  id,
  ...newEvent('user:message', { text, source: { kind: 'user' } }),
});
const said = (id: string, text: string): NewEvent => ({ id, ...newEvent('agent:text', { text }) });

const noFigures = { cost: null, models: null, periods: null, prices: null, openCalls: null };
const tenth = { inputTokens: 100, outputTokens: 20 };

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'hansard-viewer-'));
  store = openDispatchStore(openJsonFileStore({ root }));
  dispatch = await store.beginDispatch(taskDir, { role: 'baker', dispatchId: 'd1' });
  await dispatch.append([
    asked('p1', 'Write a recipe.'),
    said('t1', 'With which flour?'),
    asked('p2', 'Wheat.'),
    said('t2', 'Wheat rolls it is.'),
    { id: 'r1', ...newEvent('session:rewind', { keptThrough: 't1' }) },
    asked('p3', 'Rye.'),
    said('t3', 'Rye rolls it is.'),
  ]);
  const imported = await store.beginDispatch('lab/tasks/buns', { role: 'baker', dispatchId: 'd2' });
  await imported.append([asked('b1', 'Buns.'), { ...said('b2', 'Now.'), timestamp: null }]);
  const usage = { inputTokens: 1_000, outputTokens: 200 };
  const copies = { among: 'x', events: 2, calls: 1, of: ['d1'], figures: { ...noFigures, usage: tenth } };
  await imported.end({
    ...{ status: 'completed', usage, completedAt: '2026-03-01T09:30:00.000Z' },
    source: { format: 'f', files: [], copies, openRewind: { id: 'r9', keptThrough: 'b1' } },
  });
  viewer = await openViewer(store);
});

afterAll(async () => {
  await viewer?.close();
  await store?.close();
  rmSync(root, { recursive: true, force: true });
});

const expectRows = (page: Page, positions: readonly number[]) =>
  expect.poll(() => positionsIn(page), patient).toEqual(positions);

it('shows a branch that was left as one row, opens it by a click, and folds it again', async () => {
  for (const dark of [false, true]) {
    await using opened = await viewer.open(place, { dark });
    const { page, problems } = opened;
    await expectRows(page, [0, 1, 2, 4, 5, 6]);
    expect(await page.locator(`${rowAt(2)} .what`).textContent()).toBe(
      '▸ 1 prompt, 2 events, abandoned by a rewind; it ends with 3',
    );
    await page.locator(`${rowAt(2)} button`).click();
    await expectRows(page, [0, 1, 2, 3, 4, 5, 6]);
    expect(await page.locator(`${rowAt(3)} .figures`).textContent()).toBe('abandoned');
    expect(await page.locator(`${rowAt(5)} .figures`).textContent()).toBe('');
    await page.keyboard.press('o');
    await expectRows(page, [0, 1, 2, 4, 5, 6]);
    expect(problems).toEqual([]);
  }
});

it('shows a row that is found on such a branch, alone and in its place', async () => {
  await using opened = await viewer.open(place);
  const { page, problems } = opened;
  await expectRows(page, [0, 1, 2, 4, 5, 6]);
  await page.locator('#find').fill('Wheat rolls');
  await page.locator('#find').blur();
  await expect.poll(() => page.locator('.find').textContent(), patient).toMatch(/1/);
  await page.keyboard.press('n');
  await page.waitForSelector(`.current${rowAt(3)}`);
  await expectRows(page, [0, 1, 2, 3, 4, 5, 6]);
  expect(problems).toEqual([]);
});

it('folds a branch that is left while the page is open', async () => {
  await using opened = await viewer.open(place);
  const { page } = opened;
  await expectRows(page, [0, 1, 2, 4, 5, 6]);
  await dispatch.append([{ id: 'r2', ...newEvent('session:rewind', { keptThrough: 't1' }) }]);
  await expectRows(page, [0, 1, 2, 4, 5, 7]);
  expect(await page.locator(`${rowAt(5)} .what`).textContent()).toContain('abandoned by a rewind');
});

it('says where a session comes from, that a rewind was requested, how much is copied, and what each figure of a narrow list is', async () => {
  await using opened = await viewer.open('/d/lab%2Ftasks%2Fbuns/d2');
  const { page } = opened;
  await expect
    .poll(() => page.locator('.reader header .note').allTextContents(), patient)
    .toEqual([
      'd2 repeats 1 call of d1 (derived: no log names the origin)',
      'a rewind to b1 was requested; nothing has followed it yet',
    ]);
  await page.setViewportSize({ width: 400, height: 900 });
  await page.goto(page.url().replace(/#.*/, '#/'));
  const row = page.locator('tr', { has: page.locator('a[href*="buns/d2"]') });
  await expect.poll(() => row.locator('.tokens').textContent(), patient).toBe('1.2K (1.1K copied)');
  expect(await row.locator('.when').getAttribute('title')).toContain('UTC');
  const label = (cell: string) =>
    row
      .locator(cell)
      .first()
      .evaluate((one) => getComputedStyle(one, '::before').content);
  expect(await label('.tokens')).toBe('"tokens "');
});

it('has no column for agents where only the dispatched agent speaks', async () => {
  await using opened = await viewer.open(place, { width: 400 });
  const { page } = opened;
  await page.waitForSelector(rowAt(0));
  expect(await page.locator(`${rowAt(0)} .agent`).isVisible()).toBe(false);
  const [row, words] = await Promise.all(
    [rowAt(0), `${rowAt(0)} .what`].map((which) => page.locator(which).boundingBox()),
  );
  expect((words?.width ?? 0) / (row?.width ?? 1)).toBeGreaterThan(0.75);
});
