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
  viewer = await openViewer(store, { reader: 'ann' });
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

const markdown = `# Head ${hostile}

[web](https://example.org/a) [script](javascript:globalThis.taken=true) [data](data:text/html,x) ![image](https://tracker.example/x.png)

| a | b |
|---|---|
| ${hostile} | \`code\` |

\`\`\`html
<script>globalThis.taken = true</script> // "text"
\`\`\`
`;

it('shows a conversation with Markdown from an allow-list, and calls folded, and goes by keys', async () => {
  const dispatch = await store.beginDispatch('p9/tasks/talk', {
    role: 'r',
    dispatchId: 'talk',
    title: hostile,
  });
  const call = (at: number) => ({ tool: hostile, toolCallId: `c${at}`, target: 'a.ts', metadata: {} });
  for (const turn of [0, 1])
    await dispatch.append([
      { type: 'user:message', data: { text: `Prompt ${turn} ${markdown}`, source: { kind: 'user' } } },
      { type: 'agent:thinking', data: { text: '' } },
      { type: 'agent:tool_call', data: call(turn * 2) },
      { type: 'agent:tool_result', data: { ...call(turn * 2), status: 'completed' } },
      { type: 'agent:tool_call', data: call(turn * 2 + 1) },
      { type: 'agent:tool_result', data: { ...call(turn * 2 + 1), status: 'error', error: hostile } },
      { type: 'agent:text', data: { text: `${markdown}\n${'long line\n\n'.repeat(60)}` } },
    ] as NewEvent[]);
  await dispatch.end({ status: 'completed' });
  await using opened = await viewer.open(`/d/${encodeURIComponent('p9/tasks/talk')}/talk/conversation`);
  const { page, problems } = opened;
  await page.waitForSelector('.prose td code');
  expect(
    await page
      .locator('.prose a')
      .evaluateAll((links) => [...new Set(links.map((link) => link.getAttribute('href')))]),
  ).toEqual(['https://example.org/a', 'https://tracker.example/x.png']);
  expect(await page.locator('.prose img, .prose script, img').count()).toBe(0);
  expect(await page.locator('.prose .heading').first().textContent()).toBe(`Head ${hostile}`);
  expect(await page.locator('.code-comment').first().textContent()).toBe('// "text"');
  expect(await page.locator('.fold').allTextContents()).toEqual(
    Array(2).fill(`2 calls: 2 ${hostile} · 1 failed`),
  );
  expect(await faultsIn(page)).toEqual([]);
  await page.keyboard.press('p');
  await page.waitForSelector('.map .prompt[aria-current="true"] >> text=Prompt 1');
  await expect.poll(() => page.evaluate(() => location.hash)).toContain('at=7');
  await page.keyboard.press('P');
  await page.waitForSelector('.map .prompt[aria-current="true"] >> text=Prompt 0');
  await page.locator('.fold').first().click();
  await page.locator('.line.bad').first().click();
  await page.waitForSelector('aside[aria-label="Event 4"]');
  await page.keyboard.press('Escape');
  await page.waitForSelector('aside', { state: 'detached' });
  await page.keyboard.press('e');
  await page.waitForSelector('.row.call .what');
  await page.keyboard.press('c');
  await page.waitForSelector('.turn');
  expect([await page.evaluate(() => 'taken' in globalThis), problems]).toEqual([false, []]);
});

it('draws when what ran, zooms by the wheel and by keys, and has the figures of each tool', async () => {
  const dispatch = await store.beginDispatch('p8/tasks/time', { role: 'r', dispatchId: 'time' });
  for (const at of [0, 1]) {
    const call = { tool: hostile, toolCallId: `c${at}`, target: 'a.ts', metadata: {} };
    await dispatch.append([
      { type: 'agent:tool_call', data: call },
      {
        type: 'agent:tool_result',
        data: { ...call, status: at === 0 ? 'completed' : 'error', durationMs: 9_000 },
      },
    ] as NewEvent[]);
  }
  await dispatch.end({ status: 'completed' });
  await using opened = await viewer.open(`/d/${encodeURIComponent('p8/tasks/time')}/time/time`);
  const { page, problems } = opened;
  await page.waitForSelector('.figures-table tbody th');
  expect(await page.locator('.figures-table tbody td').allTextContents()).toEqual([
    '2',
    '1 (50 %)',
    '9.0s',
    '9.0s',
    '18.0s',
    '',
  ]);
  expect(await faultsIn(page)).toEqual([]);
  const canvas = page.locator('canvas').first();
  const drawn = () => canvas.evaluate((element) => (element as HTMLCanvasElement).toDataURL());
  const before = await drawn();
  await canvas.hover({ position: { x: 300, y: 5 } });
  await page.mouse.wheel(0, -600);
  await expect.poll(drawn).not.toBe(before);
  await page.keyboard.press('0');
  await expect.poll(drawn).toBe(before);
  await page.keyboard.press('?');
  await page.waitForSelector('dialog[open] kbd');
  await page.keyboard.press('Escape');
  await canvas.click({ position: { x: 300, y: 30 } });
  await page.waitForSelector('aside[aria-label="Event 0"]');
  expect([await page.evaluate(() => 'taken' in globalThis), problems]).toEqual([false, []]);
});

it('marks a session and an event, in two tabs, finds the marks, and keeps them', async () => {
  await using opened = await viewer.open('/d/p0%2Ftasks%2Ft/d0/conversation');
  await using other = await viewer.open('/d/p0%2Ftasks%2Ft/d0/conversation?open=1');
  const { page, problems } = opened;
  const marksOf = (name: string) => ({
    star: page.locator(`${name} .place-marks .star`),
    input: page.locator(`${name} .place-marks input`),
  });
  const session = marksOf('header');
  await session.input.fill('#harbour');
  await session.input.press('Enter');
  await page.locator('header .tag', { hasText: '#harbour' }).waitFor();
  await page.locator('header select').selectOption('4');
  await session.star.click();
  await page.locator('header .star[aria-pressed="true"]').waitFor();
  const event = other.page.locator('aside .place-marks input');
  await event.fill(`${hostile} is it there?`);
  await event.press('Enter');
  await other.page.locator('aside .note-text', { hasText: 'is it there?' }).waitFor();
  await page.reload();
  await page.locator('.turn .note-text', { hasText: `ann ${hostile} is it there?` }).waitFor();
  expect(await page.locator('header select').inputValue()).toBe('4');
  expect(await page.locator('.map .person').count()).toBe(1);
  await page.evaluate(() => {
    location.hash = '#/?filter=%23harbour';
  });
  await page.locator('.title .mark-signs .star').waitFor();
  expect(await titles(page)).toEqual(['Draw the map']);
  await page.getByRole('button', { name: 'Save this filter' }).click();
  await page.getByLabel('Name of the filter').fill('Harbours');
  await page.getByLabel('Name of the filter').press('Enter');
  await page.locator('.saved a', { hasText: 'Harbours' }).waitFor();
  await page.getByRole('button', { name: 'Remove the filter Harbours' }).click();
  await page.locator('.saved a').waitFor({ state: 'detached' });
  expect([await faultsIn(page), await faultsIn(other.page), problems, other.problems]).toEqual([
    [],
    [],
    [],
    [],
  ]);
});
