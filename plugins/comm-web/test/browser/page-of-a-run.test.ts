import {
  createCommunicationHub,
  type DispatchRun,
  openDispatchStore,
  startDispatch,
} from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser } from '../../../../scripts/engines/browser.ts';
import { faultsIn } from '../../../../scripts/engines/faults-in.ts';
import { createRunPage } from '../../src/index.ts';
import { Steps, scriptedAgent } from './scripted-agent.ts';

const taskDir = 'lab/tasks/maps';
const hostile = '<img src=x onerror="globalThis.taken=true">';
const says = [`I draw the ${hostile} map.`, 'North it is.', 'Nobody reads the end of this.'];

let browser: Awaited<ReturnType<typeof openBrowser>>;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

type Page = Awaited<ReturnType<typeof browser.newPage>>;
type Opened = Awaited<ReturnType<typeof open>>;

async function open(address: string, width = 1_280, dark = false) {
  const page = await browser.newPage({
    viewport: { width, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
  });
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('dialog', (dialog) => problems.push(dialog.message()));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  await page.goto(address);
  return { page, problems };
}

/** Waits until the page shows these growing texts and no other. */
const growing = (page: Page, ...texts: string[]) =>
  page.waitForFunction(
    (wanted) =>
      JSON.stringify([...document.querySelectorAll('.growing .words')].map((one) => one.textContent)) ===
      JSON.stringify(wanted),
    texts,
    { timeout: 10_000 },
  );

const rows = (page: Page) =>
  page.evaluate(() => [...document.querySelectorAll('.row .text')].map((row) => row.textContent));

const row = (page: Page, text: string) =>
  page.waitForFunction(
    (wanted) => [...document.querySelectorAll('.row .text')].some((one) => one.textContent === wanted),
    text,
    { timeout: 10_000 },
  );

it('shows text as it is written, takes a message by keyboard, and stops the agent after a confirmation', async () => {
  await using store = openDispatchStore(createMemoryStore());
  const announced = Promise.withResolvers<string>();
  const runPage = createRunPage({ announce: announced.resolve });
  const communication = createCommunicationHub([runPage], { store });
  await communication.start();
  const steps = new Steps();
  const agent = await scriptedAgent(steps, says);
  const earlier = await store.beginDispatch(taskDir, { role: 'earlier' });
  await earlier.append({ type: 'agent:text', data: { text: 'long ago' } });
  await earlier.end({ status: 'completed' });
  const run = await startDispatch({ store, taskDir, role: 'worker', prompt: 'Draw.', agent, communication });
  const address = await announced.promise;

  const first = await open(address);
  const second = await showsGrowingText(steps, first, address);
  await takesMessages(steps, first.page, second.page);
  await stopsAfterAQuestion(first.page, [first.page, second.page], run);
  const events = await store.getDispatchEvents(taskDir, run.dispatchId);
  expect(events.map(({ type, data }) => [type, data.text ?? data.by ?? data.name])).toEqual([
    ['user:message', 'Draw.'],
    ['agent:created', 'Ada'],
    ['agent:text', says[0]],
    ['user:message', 'Where is jk north?'],
    ['agent:text', 'North it is.'],
    ['user:message', 'Go on.'],
    ['harness:abort', 'user'],
  ]);
  expect(events[3]?.data.source).toEqual({ kind: 'user' });

  // A dispatch that does not run here has nothing to send.
  const [other] = address.split('#');
  const third = await open(`${other}#/d/${encodeURIComponent(taskDir)}/${earlier.dispatchId}`);
  await row(third.page, 'long ago');
  expect(await third.page.locator('.run').count()).toBe(0);
  await communication.close();
  await runPage.close();
  await first.page.getByRole('alert').filter({ hasText: 'The run has ended' }).waitFor();
  expect(await first.page.evaluate(() => Reflect.get(globalThis, 'taken'))).toBeUndefined();
  for (const { page, problems } of [first, second]) {
    expect(problems).toEqual([]);
    await page.close();
  }
  await third.page.close();
});

/** Opens a second page in the middle of a text. */
async function showsGrowingText(steps: Steps, first: Opened, address: string): Promise<Opened> {
  await row(first.page, 'Draw.');
  steps.go();
  await growing(first.page, 'I ');
  steps.go(2);
  await growing(first.page, 'I draw the ');
  // A page that comes in the middle of a text has what was written so far.
  const second = await open(address, 400, true);
  await growing(second.page, 'I draw the ');
  steps.go(4);
  for (const { page } of [first, second]) {
    await growing(page, says[0] ?? '');
    expect(await faultsIn(page)).toEqual([]);
    expect(await rows(page)).not.toContain(says[0]);
  }
  steps.go();
  for (const { page } of [first, second]) {
    await growing(page);
    expect((await rows(page)).filter((text) => text === says[0])).toHaveLength(1);
  }
  return second;
}

async function takesMessages(steps: Steps, first: Page, second: Page): Promise<void> {
  await first.keyboard.press('m');
  await first.keyboard.type('Where is jk north?');
  await first.keyboard.press('Enter');
  await first.getByRole('status').filter({ hasText: 'Delivered.' }).waitFor();
  expect(await first.getByLabel('Message to the agent').inputValue()).toBe('');
  await row(second, 'Where is jk north?');
  steps.go(4);
  await row(second, 'North it is.');
  await first.keyboard.type('Go on.');
  await first.keyboard.press('Enter');
  await row(first, 'Go on.');
  steps.go(2);
  await growing(first, 'Nobody reads ');
}

async function stopsAfterAQuestion(
  first: Page,
  pages: readonly Page[],
  run: Pick<DispatchRun, 'ended'>,
): Promise<void> {
  const abort = first.getByRole('button', { name: 'Abort', exact: true });
  await abort.focus();
  await first.keyboard.press('Enter');
  const question = first.getByRole('dialog');
  await question.waitFor();
  expect(await faultsIn(first)).toEqual([]);
  await first.keyboard.press('Escape');
  await question.waitFor({ state: 'hidden' });
  await growing(first, 'Nobody reads ');
  await abort.click();
  await first.getByRole('button', { name: 'Abort the session' }).click();
  expect((await run.ended).status).toBe('aborted');
  for (const page of pages) {
    await growing(page);
    await page.locator('.state.aborted').first().waitFor();
    expect(await page.locator('textarea').count()).toBe(0);
  }
}
