import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Dispatch, type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openViewer, positionsIn } from './viewer-page.ts';

const taskDir = 'lab/tasks/maps';
const place = `/d/${encodeURIComponent(taskDir)}/calls`;
/** Each call has its result three positions later, after two records of the engine. */
const calls = 400;

let root: string;
let store: DispatchStore;
let dispatch: Dispatch;
let viewer: Awaited<ReturnType<typeof openViewer>>;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'hansard-viewer-'));
  store = openDispatchStore(openJsonFileStore({ root }));
  dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'calls' });
  await dispatch.append([
    { type: 'agent:created', agentId: 'a1', data: { name: 'Ada', languageModel: 'm' } },
    ...Array.from({ length: calls }, (_, at) => callWithResult(at)).flat(),
  ]);
  viewer = await openViewer(store);
}, 120_000);

afterAll(async () => {
  await viewer?.close();
  await store?.close();
  rmSync(root, { recursive: true, force: true });
});

function callWithResult(at: number): NewEvent[] {
  const call = { tool: 'Bash', toolCallId: `c${at}`, target: `step ${at}`, metadata: {} };
  const outcome =
    at % 10 === 3 ? { status: 'error', error: `failed ${at}` } : { status: 'completed', metadata: { at } };
  const record: NewEvent = { type: 'system:hook_progress', agentId: 'a1', data: { toolUseID: `c${at}` } };
  return [
    { type: 'agent:tool_call', agentId: 'a1', data: call },
    record,
    record,
    { type: 'agent:tool_result', agentId: 'a1', data: { ...call, ...outcome } },
  ] as NewEvent[];
}

const rowAt = (position: number) => `.row[data-position="${position}"]`;

it('shows a call, its records and its result on one row, with failures marked', async () => {
  await using opened = await viewer.open(place);
  const { page, problems } = opened;
  const last = 1 + (calls - 1) * 4;
  await page.waitForSelector(rowAt(last));
  await expect.poll(async () => (await positionsIn(page)).length).toBeGreaterThan(30);
  const positions = await positionsIn(page);
  expect(positions).toEqual(positions.map((_, at) => last - 4 * (positions.length - 1 - at)));
  const failed = 1 + 393 * 4;
  expect(await page.locator(`${rowAt(failed)} .kind`).textContent()).toBe('✗ call');
  expect(await page.locator(`${rowAt(failed)} .head`).textContent()).toBe('Bash step 393');
  expect(await page.locator(`${rowAt(failed)} .outcome`).textContent()).toBe('→ failed 393');
  expect(await page.locator(`${rowAt(failed)} .agent`).textContent()).toBe('Ada');
  expect(await page.locator(`${rowAt(failed + 4)} .kind`).textContent()).toBe('call');
  expect(problems).toEqual([]);
});

it('moves by rows, over the events that belong to them', async () => {
  await using opened = await viewer.open(`${place}?at=0`);
  const { page, problems } = opened;
  await page.waitForSelector(rowAt(1));
  await page.keyboard.press('g');
  for (let step = 0; step < 5; step += 1) await page.keyboard.press('j');
  await page.waitForSelector(`.current${rowAt(17)}`);
  await page.mouse.move(640, 450);
  for (let turn = 1; turn <= 20; turn += 1) {
    await page.mouse.wheel(0, 240);
    await page.waitForSelector(rowAt(1 + (turn * 10 - 1 + 20) * 4));
  }
  await expect.poll(async () => (await positionsIn(page))[0]).toBe(1 + 199 * 4);
  // At rest, the scroll bar is where the topmost row is.
  await expect
    .poll(() => page.locator('.list').evaluate((list) => list.scrollTop / list.scrollHeight))
    .toBeGreaterThan(0.45);
  await page.keyboard.press('G');
  await page.waitForSelector(rowAt(1 + (calls - 1) * 4));
  expect(problems).toEqual([]);
});

it('completes the row of a call when its result comes, and stays at the end', async () => {
  await using opened = await viewer.open(place);
  const { page, problems } = opened;
  let next = await dispatch.count();
  await page.waitForSelector(rowAt(next - 4));
  for (let at = calls; at < calls + 3; at += 1) {
    const [call, ...rest] = callWithResult(at);
    await dispatch.append(call as NewEvent);
    await page.waitForSelector(`${rowAt(next)} .head`);
    expect(await page.locator(`${rowAt(next)} .figures`).textContent()).toContain('open');
    await dispatch.append(rest);
    await page.waitForFunction((row) => {
      const text = document.querySelector(`${row} .figures`)?.textContent;
      return text !== undefined && text !== null && !text.includes('open');
    }, rowAt(next));
    next += 4;
  }
  expect((await positionsIn(page)).at(-1)).toBe(next - 4);
  expect(problems).toEqual([]);
});
