import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Dispatch, type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { faultsIn, openViewer, type Page } from './viewer-page.ts';

const taskDir = 'lab/tasks/café';
const place = `/d/${encodeURIComponent(taskDir)}/talk`;
const hostile = '<img src=x onerror="globalThis.taken = true">\u202e';

let root: string;
let store: DispatchStore;
let talk: Dispatch;
let viewer: Awaited<ReturnType<typeof openViewer>>;

const says = (id: string, agentId: string, text: string): NewEvent => ({
  id,
  type: 'agent:text',
  agentId,
  messageId: `message-${id}`,
  data: { text },
});
const hears = (agentId: string, substance: string, text: string): NewEvent => ({
  type: 'user:message',
  agentId,
  substance,
  data: { text, source: { kind: 'agent', agentId: 'a1' } },
});

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'hansard-viewer-'));
  store = openDispatchStore(openJsonFileStore({ root }));
  talk = await store.beginDispatch(taskDir, { role: 'host', dispatchId: 'talk', title: 'An evening' });
  await talk.append([
    { type: 'agent:created', agentId: 'a1', data: { name: 'Ada', languageModel: 'm' } },
    { type: 'agent:created', agentId: 'a2', data: { name: 'Ben', languageModel: 'm' } },
    { type: 'agent:created', agentId: 'a3', data: { name: hostile, languageModel: 'm' } },
    // Position 3 to 5.
    says('s1', 'a1', 'The till opens with 4711.'),
    hears('a2', 's1', 'The till opens with 4711.'),
    hears('a3', 's1', 'The till opens with [a number].'),
    // Position 6 and 7: Ben alone hears it.
    says('s2', 'a1', hostile),
    hears('a2', 's2', hostile),
  ]);
  const child = await talk.beginChild({ role: 'scout', dispatchId: 'scout', title: 'Look around' });
  await child.end({ status: 'completed', cost: 0.25 });
  viewer = await openViewer(store);
});

afterAll(async () => {
  await viewer?.close();
  await store?.close();
  rmSync(root, { recursive: true, force: true });
});

const patient = { timeout: 10_000 };
const textsOf = (page: Page, selector: string) => page.locator(selector).allTextContents();

it('shows a dispatch through each lens, live, by keys and links, and goes to events and back', async () => {
  await using opened = await viewer.open(place);
  const { page, problems } = opened;
  await page.waitForSelector('.row .what');
  await page.keyboard.press('2');
  await page.waitForSelector('.talk li');
  expect(await textsOf(page, '.talk p > b')).toEqual(['Ada', 'Ada']);
  expect(await textsOf(page, '.talk .notice')).toEqual([
    expect.stringMatching(/^heard by .*, altered$/),
    expect.stringMatching(/^not heard by /),
  ]);
  expect(await textsOf(page, '.talk pre.altered')).toEqual(['The till opens with [a number].']);
  // What is said now appears.
  await talk.append([says('s3', 'a2', 'Keep it.')]);
  await expect.poll(() => textsOf(page, '.talk p > b'), patient).toEqual(['Ada', 'Ada', 'Ben']);
  // Chosen agents are in the address.
  await page.getByLabel('Ben').check();
  await expect.poll(() => page.evaluate(() => location.hash), patient).toBe(`#${place}/dialog?agent=a2`);
  await page.keyboard.press('3');
  await expect.poll(() => textsOf(page, '.talk p > b'), patient).toEqual(['said', 'said']);
  await page.getByLabel('Agent').selectOption('Ben');
  await expect.poll(() => textsOf(page, '.talk p > b'), patient).toEqual(['heard', 'heard', 'said']);
  await page.keyboard.press('4');
  await page.waitForSelector('.wide tbody tr');
  expect(await textsOf(page, '.wide tbody tr:nth-child(1) .cell')).toEqual(['said', 'same', 'altered']);
  expect(await textsOf(page, '.wide tbody tr:nth-child(2) .cell')).toEqual(['said', 'same', '·']);
  await page.getByRole('link', { name: 'Event 6' }).click();
  await page.waitForSelector('aside[aria-label="Event 6"]');
  await page.goBack();
  await page.waitForSelector('.wide tbody tr');
  await page.keyboard.press('5');
  await page.waitForSelector('.tree tbody tr');
  expect(await textsOf(page, '.tree th a')).toEqual(['An evening', 'Look around']);
  expect(await textsOf(page, '.tree tbody tr:first-child .number')).toEqual(
    expect.arrayContaining(['–', '$0.25']),
  );
  await page.getByRole('link', { name: 'Look around' }).click();
  await expect.poll(() => page.title(), patient).toBe('Look around · Hansard');
  expect(await page.evaluate(() => 'taken' in globalThis)).toBe(false);
  expect(problems).toEqual([]);
});

it('has no fault that axe finds in any lens and theme, and fits 400 pixels', async () => {
  for (const [dark, width] of [
    [false, 1_280],
    [true, 400],
  ] as const) {
    await using opened = await viewer.open('/', { dark, width });
    const { page, problems } = opened;
    for (const [hash, shown] of [
      [`${place}/dialog`, '.talk li'],
      [`${place}/perspective`, '.talk li'],
      [`${place}/heard`, '.wide tbody tr'],
      [`/t/${encodeURIComponent(taskDir)}/tree`, '.tree tbody tr'],
    ] as const) {
      await page.evaluate((to) => {
        location.hash = to;
      }, hash);
      await page.waitForSelector(shown);
      expect([hash, dark, await faultsIn(page)]).toEqual([hash, dark, []]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }
    expect(problems).toEqual([]);
  }
});
