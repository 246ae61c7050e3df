import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { renderContext } from '@hansard/prompt';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { faultsIn, openViewer, type Page } from './viewer-page.ts';

const taskDir = 'lab/tasks/café';
const place = `/d/${encodeURIComponent(taskDir)}/talk`;
const hostile = '<img src=x onerror="globalThis.taken = true">\u202e[REDACTED:key]';

let root: string;
let store: DispatchStore;
let viewer: Awaited<ReturnType<typeof openViewer>>;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'hansard-viewer-'));
  store = openDispatchStore(openJsonFileStore({ root }));
  const talk = await store.beginDispatch(taskDir, {
    ...{ role: 'host', dispatchId: 'talk', title: 'An evening', fidelity: 'full' },
  });
  await talk.append({ type: 'agent:created', agentId: 'a1', data: { name: 'Ada', languageModel: 'm' } });
  const ask = (text: string): NewEvent => {
    return { type: 'user:message', agentId: 'a1', data: { text, source: { kind: 'user' } } };
  };
  const answer = async (messageId: string, text: string, hash?: string) => {
    const events = await store.getDispatchEvents(taskDir, 'talk');
    const { manifest } = renderContext(events.filter(({ agentId }) => agentId === 'a1'));
    const context = { ...manifest, ...(hash === undefined ? {} : { hash }) };
    const usage = { inputTokens: 1, outputTokens: 1 };
    await talk.append([
      { type: 'agent:text', agentId: 'a1', messageId, data: { text } },
      {
        type: 'agent:inference',
        agentId: 'a1',
        messageId,
        data: { model: 'm', usage, durationMs: 5, context },
      } as unknown as NewEvent,
    ]);
  };
  await talk.append(ask(hostile));
  // Position 2 and 3.
  await answer('m1', 'Good evening.');
  await talk.append(ask('y'.repeat(9_000)));
  // Position 5 and 6.
  await answer('m2', 'So many letters.', 'sha256:00');
  viewer = await openViewer(store);
});

afterAll(async () => {
  await viewer?.close();
  await store?.close();
  rmSync(root, { recursive: true, force: true });
});

const patient = { timeout: 10_000 };
const textsOf = (page: Page, selector: string) => page.locator(selector).allTextContents();
const hash = (page: Page) => page.evaluate(() => location.hash);

it('shows from an event what its model was given, verified, call by call, and goes back to the event', async () => {
  await using opened = await viewer.open(`${place}?open=2`);
  const { page, problems } = opened;
  await page.getByRole('link', { name: 'What the model was given' }).click();
  await page.waitForSelector('ol.given li');
  expect(await hash(page)).toBe(`#${place}/context?call=2`);
  expect(await textsOf(page, '.verdict.good')).toEqual([expect.stringMatching(/^✓ Identical: 1 messages/)]);
  expect(await textsOf(page, 'ol.given pre')).toEqual([hostile.replace('\u202e', '<U+202E>')]);
  expect(await textsOf(page, 'ol.given mark')).toEqual(['[REDACTED:key]']);
  await page.keyboard.press(']');
  await expect.poll(() => textsOf(page, 'ol.given h3'), patient).toEqual(['1 user', '2 assistant', '3 user']);
  expect(await textsOf(page, '.verdict.bad')).toEqual([
    expect.stringContaining('✗ The rendered context differs'),
  ]);
  await page.getByRole('button', { name: 'Show all of it' }).click();
  await expect
    .poll(async () => (await textsOf(page, 'ol.given pre')).at(-1), patient)
    .toBe('y'.repeat(9_000));
  await page.keyboard.press('[');
  await expect.poll(() => textsOf(page, 'ol.given h3'), patient).toEqual(['1 user']);
  await page.keyboard.press('Escape');
  await page.waitForSelector('aside[aria-label="Event 3"]');
  await page.goBack();
  await page.waitForSelector('ol.given li');
  expect(await page.evaluate(() => 'taken' in globalThis)).toBe(false);
  expect(problems).toEqual([]);
});

it('finds events of all tasks, by words, and goes to the row and back', async () => {
  await using opened = await viewer.open('/');
  const { page, problems } = opened;
  await page.getByRole('link', { name: 'Find in events' }).click();
  await page.locator('#search:focus').waitFor();
  await page.keyboard.type('TAKEN onerror');
  const output = page.locator('.search output');
  await expect.poll(() => output.textContent(), patient).toBe('1 event in 1 session');
  expect(await hash(page)).toBe('#/search?text=TAKEN+onerror');
  expect(await textsOf(page, '.found h2')).toEqual(['An evening']);
  expect(await textsOf(page, '.hits mark')).toEqual(['onerror', 'taken']);
  expect(await textsOf(page, '.hits .text')).toEqual([hostile.replace('\u202e', '<U+202E>')]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForSelector('aside[aria-label="Event 1"]');
  await page.waitForSelector('.row[data-position="1"]');
  await page.goBack();
  await expect.poll(() => output.textContent(), patient).toBe('1 event in 1 session');
  expect(await page.locator('#search').inputValue()).toBe('TAKEN onerror');
  await page.locator('#search').fill('walrus');
  await expect.poll(() => output.textContent(), patient).toBe('0 events in 0 sessions');
  await page.locator('#search').fill('— !');
  await page.waitForSelector('[role=alert]');
  expect(await textsOf(page, '[role=alert]')).toEqual([expect.stringContaining('has no word')]);
  expect(await page.evaluate(() => 'taken' in globalThis)).toBe(false);
  expect(problems).toEqual([]);
});

it.each([
  [false, 1_280],
  [true, 400],
])('has no fault that axe finds (dark: %s), and fits %i pixels', async (dark, width) => {
  await using opened = await viewer.open(`${place}/context?call=6`, { dark, width });
  const { page, problems } = opened;
  await page.waitForSelector('ol.given li');
  await page.locator('summary').click();
  expect(await faultsIn(page)).toEqual([]);
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  expect(await fits()).toBe(true);
  await page.evaluate(() => {
    location.hash = '#/search?text=letters+so';
  });
  await page.waitForSelector('.hits mark');
  expect(await faultsIn(page)).toEqual([]);
  expect(await fits()).toBe(true);
  expect(problems).toEqual([]);
});
