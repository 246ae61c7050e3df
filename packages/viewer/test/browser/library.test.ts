import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { faultsIn, openViewer, type Page } from './viewer-page.ts';

const hostile = '<img src=x onerror="globalThis.taken = true">';

let root: string;
let store: DispatchStore;
let viewer: Awaited<ReturnType<typeof openViewer>>;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'hansard-library-'));
  store = openDispatchStore(openJsonFileStore({ root, durability: 'process' }));
  for (const [at, title] of ['Draw the map', 'Sail the sea', hostile].entries()) {
    const dispatch = await store.beginDispatch(`p${at}/tasks/t`, { role: 'r', dispatchId: `d${at}`, title });
    await dispatch.append([
      { type: 'user:message', data: { text: `Where is the harbour${at}?`, source: { kind: 'user' } } },
      { type: 'agent:text', messageId: 'm', data: { text: 'The lighthouse stands beside it.' } },
      {
        type: 'agent:inference',
        messageId: 'm',
        data: { model: 'big', usage: { inputTokens: 9, outputTokens: 9 }, costUsd: at + 1 },
      },
    ] as NewEvent[]);
    await dispatch.end({ status: at === 1 ? 'crashed' : 'completed' });
  }
  viewer = await openViewer(store);
});

afterAll(async () => {
  await viewer?.close();
  await store?.close();
  rmSync(root, { recursive: true, force: true });
});

const titles = (page: Page) => page.locator('a.session').allTextContents();

it('sorts, filters by a bar, and finds titles first and then contents, all in the address', async () => {
  await using opened = await viewer.open('/');
  const { page, problems } = opened;
  await page.waitForSelector('.days i');
  expect(await titles(page)).toEqual([hostile, 'Sail the sea', 'Draw the map']);
  expect(await page.locator('.sessions .state').allTextContents()).toEqual(['crashed']);
  await page.locator('thead .cost button').click();
  await page.locator('thead .cost button').click();
  expect(await titles(page)).toEqual(['Draw the map', 'Sail the sea', hostile]);
  await page.locator('.days button').last().click();
  await page.locator('.shares button', { hasText: 'p1' }).click();
  expect(await titles(page)).toEqual(['Sail the sea']);
  expect(page.url()).toMatch(/project=p1&day=\d{4}-\d\d-\d\d&sort=-cost/);
  await page.reload();
  await page.getByRole('button', { name: 'Remove the filter project' }).click();
  await page.locator('.days button').nth(3).click();
  expect(await titles(page)).toEqual([]);
  await page.locator('.days button').nth(3).click();
  await page.keyboard.press('/');
  await page.keyboard.type('map');
  expect(await page.locator('a.session mark').allTextContents()).toEqual(['map']);
  await page.getByLabel('Search titles').fill('lighthouse');
  await page.waitForSelector('.hit mark');
  await expect.poll(() => page.locator('.contents .hit').count()).toBe(3);
  expect([await titles(page), await page.evaluate(() => 'taken' in globalThis), problems]).toEqual([
    [],
    false,
    [],
  ]);
});

it('the library with figures and hits has no fault that axe finds', async () => {
  await using opened = await viewer.open('/?filter=harbour1', { dark: true });
  await opened.page.waitForSelector('.hit mark');
  expect(await faultsIn(opened.page)).toEqual([]);
});
