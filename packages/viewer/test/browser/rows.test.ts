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
});

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

const patient = { timeout: 10_000 };
const rowAt = (position: number) => `.row[data-position="${position}"]`;

it('shows a call, its records and its result on one row, with failures marked', async () => {
  await using opened = await viewer.open(place);
  const { page, problems } = opened;
  const last = 1 + (calls - 1) * 4;
  await page.waitForSelector(rowAt(last));
  // Until rows are read, each event has a line of its own.
  const areCalls = async () => {
    const positions = await positionsIn(page);
    return (
      positions.length > 30 &&
      positions.every((at, index) => at === last - 4 * (positions.length - 1 - index))
    );
  };
  await expect.poll(areCalls, patient).toBe(true);
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
  await expect.poll(async () => (await positionsIn(page))[0], patient).toBe(1 + 199 * 4);
  // At rest, the scroll bar is where the topmost row is.
  await expect
    .poll(() => page.locator('.list').evaluate((list) => list.scrollTop / list.scrollHeight), patient)
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

it('shows the dispatches above and below, and agents, as links that stay current', async () => {
  await using child = await dispatch.beginChild({ role: 'helper', dispatchId: 'child', title: 'Look it up' });
  await child.append({ type: 'agent:text', data: { text: 'I look.' } });
  await using opened = await viewer.open(place);
  const { page, problems } = opened;
  const entry = (text: string) => page.locator('.beside li', { hasText: text });
  await expect.poll(() => entry('Look it up').textContent(), patient).toContain('running');
  expect(await entry('worker').locator('a').getAttribute('aria-current')).toBe('page');
  await child.update({ cost: 1.25 });
  await child.end({ status: 'completed' });
  await expect.poll(() => entry('Look it up').textContent(), patient).toBe('Look it up completed $1.25');
  await page.locator('.beside a', { hasText: 'Ada' }).click();
  await page.waitForSelector(`.current${rowAt(0)}`);
  await entry('Look it up').locator('a').click();
  await page.waitForFunction(() => document.querySelector('.row .text')?.textContent === 'I look.');
  await expect.poll(() => page.locator('.beside li').allTextContents(), patient).toHaveLength(2);
  await entry('worker').locator('a').click();
  await page.waitForFunction(() => document.querySelectorAll('.row').length > 20);
  expect(problems).toEqual([]);
});

it('opens a row: input, edits, outcome, what was said and received, and links both ways', async () => {
  const session = await store.beginDispatch(taskDir, { role: 'talk', dispatchId: 'talk', fidelity: 'full' });
  const input = { file_path: 'a.ts', old_string: 'one\ntwo', new_string: 'one\nthree' };
  const edit = { tool: 'Edit', toolCallId: 'c1', target: 'a.ts', metadata: {} };
  const [, , said] = await session.append([
    { type: 'agent:created', agentId: 'a1', data: { name: 'Ada', languageModel: 'm' } },
    { type: 'agent:created', agentId: 'b1', data: { name: 'Ben', languageModel: 'm' } },
    { type: 'agent:text', agentId: 'a1', data: { text: 'Move the job to three in the morning.' } },
  ]);
  const [heard] = await session.append([
    {
      type: 'user:message',
      agentId: 'b1',
      substance: said?.id ?? '',
      data: { text: 'Move the job to [a time].', source: { kind: 'agent', agentId: 'a1' } },
    },
  ]);
  await session.append([
    { type: 'agent:tool_call', agentId: 'b1', cause: heard?.id ?? '', data: { ...edit, input } },
    {
      type: 'agent:tool_result',
      agentId: 'b1',
      data: { ...edit, status: 'error', error: 'read only \u202e<b>' },
    },
  ] as NewEvent[]);
  await using opened = await viewer.open(`/d/${encodeURIComponent(taskDir)}/talk`);
  const { page, problems } = opened;
  const panel = page.locator('aside');
  await page.waitForSelector(rowAt(4));
  expect(await page.locator(`${rowAt(2)} .notes`).textContent()).toBe('⇢ heard by Ben, altered');
  await page.locator(`${rowAt(2)} button`).click();
  await panel.locator('.altered').waitFor();
  expect(await panel.locator('.altered del').allTextContents()).not.toEqual([]);
  expect(await panel.locator('.altered ins').allTextContents()).not.toEqual([]);
  await panel.locator('.links button', { hasText: '4' }).click();
  await panel.locator('pre.diff').waitFor();
  expect(await panel.locator('pre.diff del').textContent()).toBe('- two\n');
  expect(await panel.locator('pre.diff ins').textContent()).toBe('+ three\n');
  expect(await panel.locator('pre.body').last().textContent()).toBe('read only <U+202E><b>');
  await page.waitForSelector(`.current${rowAt(4)}`);
  await panel.locator('button', { hasText: 'JSON' }).first().click();
  expect(JSON.parse((await panel.locator('pre.fields').textContent()) ?? '')).toMatchObject({
    type: 'agent:tool_call',
    data: { input },
  });
  expect(await panel.locator('.command').first().textContent()).toContain(
    'hansard show lab/maps/talk 4 -n 1',
  );
  await panel.locator('.links button', { hasText: '3' }).first().click();
  await page.waitForSelector(`.current${rowAt(2)}`);
  expect(problems).toEqual([]);
});

it('finds rows while the log is read, goes to the next one, and shows those alone', async () => {
  await using opened = await viewer.open(`${place}?at=0`);
  const { page, problems } = opened;
  await page.waitForSelector(rowAt(1));
  const failed = (at: number) => 1 + (3 + 10 * at) * 4;
  await page.keyboard.press('/');
  await page.keyboard.type('FAILED 1');
  const output = page.locator('.find output');
  // 13 and 103 to 193.
  await expect.poll(() => output.textContent(), patient).toBe('11 rows');
  await page.keyboard.press('Enter');
  await page.waitForSelector(`.current${rowAt(failed(1))}`);
  await page.locator('.list').focus();
  for (const at of [10, 11]) {
    await page.keyboard.press('n');
    await page.waitForSelector(`.current${rowAt(failed(at))}`);
  }
  await page.keyboard.press('N');
  await page.waitForSelector(`.current${rowAt(failed(10))}`);
  await page.getByLabel('only these').check();
  const hits = [1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19].map(failed);
  await expect.poll(() => positionsIn(page), patient).toEqual(hits);
  await page.locator('#find').fill('');
  await page.getByLabel('failed').check();
  await expect.poll(() => output.textContent(), patient).toBe('40 rows');
  // A row that fails later is found, too.
  const at = await dispatch.count();
  const [call, , , result] = callWithResult(1_003);
  await dispatch.append([call, result] as NewEvent[]);
  await expect.poll(() => output.textContent(), patient).toBe('41 rows');
  await page.getByLabel('Agent', { exact: true }).selectOption('a1');
  await page.getByLabel('Kind').selectOption('said');
  await expect.poll(() => output.textContent(), patient).toBe('0 rows');
  await page.getByLabel('Kind').selectOption('call');
  await expect.poll(() => output.textContent(), patient).toBe('41 rows');
  await page.getByLabel('only these').check();
  await page.waitForSelector(rowAt(at));
  expect(problems).toEqual([]);
});
