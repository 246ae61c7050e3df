import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../../../scripts/engines/browser.ts';
import { type CommandLine, commandLine } from './command-line.ts';

type Browser = Awaited<ReturnType<typeof openBrowser>>;
type Page = Awaited<ReturnType<Browser['newPage']>>;

const calls = 1_500;
const hostile =
  '</script></li></ol><script>globalThis.taken = true</script><img src="https://tracker.example/x" onerror="globalThis.taken = true"> [here](javascript:taken) ![x](https://tracker.example/y)';
let cli: CommandLine;
let browser: Browser;
let url: string;

beforeAll(async () => {
  cli = commandLine();
  browser = await openBrowser();
  const root = join(cli.cwd, '.projects');
  const store = openDispatchStore(openJsonFileStore({ root }));
  const dispatch = await store.beginDispatch('lab/tasks/long', { role: 'dev', fidelity: 'full' });
  await dispatch.append([
    newEvent('agent:created', { name: 'Ben' }, { agentId: 'ben' }),
    newEvent('agent:thinking', { text: hostile }),
  ]);
  await dispatch.append(Array.from({ length: calls }, (_, at) => step(at)).flat());
  await dispatch.append([newEvent('agent:text', { text: '**All** of `them` ran.' }, { agentId: 'ben' })]);
  await dispatch.end({ status: 'completed' });
  await store.close();
  const { code, err } = await cli.hansard('export', 'lab/long', '--as', 'html', '--out', 'long.html');
  expect([code, err]).toEqual([0, '']);
  url = pathToFileURL(join(cli.cwd, 'long.html')).href;
});

afterAll(async () => {
  await browser?.close();
  cli?.[Symbol.dispose]();
});

/** A call, its result and the records of the harness about it and after it: two rows of four events. */
function step(at: number): NewEvent[] {
  const call = { toolCallId: `c${at}`, tool: 'Bash', target: `make part-${at}`, metadata: {} };
  const isError = at % 100 === 99;
  return [
    newEvent('agent:tool_call', { ...call, input: { command: `make part-${at}` } }),
    { type: 'system:hook_started', data: { toolUseID: `c${at}` } },
    newEvent(
      'agent:tool_result',
      isError
        ? { ...call, status: 'error', error: `part-${at} failed ${hostile}` }
        : { ...call, status: 'completed', output: `part-${at} made` },
    ),
    newEvent('session:status', { status: 'requesting' }),
  ];
}

/** The page with everything that it asked for or complained about. */
async function visit(
  address = url,
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<{ page: Page; requests: string[]; problems: string[] }> {
  const page = await browser.newPage(options);
  const requests: string[] = [];
  const problems: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => problems.push(message.text()));
  await page.goto(address);
  return { page, requests, problems };
}

/** Waits until the page says how many rows it shows. */
const counted = (page: Page, text: string) => page.locator('#shown', { hasText: text }).waitFor();
const shownRows = (page: Page) => page.locator('.row:visible');

describe('the page of a task with 3,003 rows', () => {
  it('runs nothing and asks for nothing, with all of its rows unfolded', async () => {
    const { page, requests, problems } = await visit();
    await page.fill('#find', 'no such words');
    await counted(page, '0 of 3,003 rows');
    expect(await page.evaluate('globalThis.taken')).toBeUndefined();
    expect(await page.locator('.what img, .what script, a[href^="javascript"]').count()).toBe(0);
    expect(requests).toEqual([url]);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('finds words in rows that are not unfolded yet, and filters by failure, agent and kind', async () => {
    const { page } = await visit();
    expect(await page.locator('.part').count()).toBeGreaterThan(0);
    await page.fill('#find', 'part-1400 made');
    await counted(page, '1 of 3,003 rows');
    expect(await shownRows(page).textContent()).toContain('make part-1400');
    await page.fill('#find', '');
    await page.check('#failed');
    await counted(page, '15 of 3,003 rows');
    await page.uncheck('#failed');
    await page.selectOption('#agents', 'Ben');
    await counted(page, '2 of 3,003 rows');
    expect(await page.locator('.said strong').textContent()).toBe('All');
    await page.selectOption('#agents', '');
    for (const kind of ['noise', 'event', 'call']) await page.uncheck(`#kinds input[value=${kind}]`);
    await counted(page, '2 of 3,003 rows');
    await page.close();
  });

  it('opens at the anchor of any event, folded ones too', async () => {
    // Of call 1,300: its row, the record about it, its result, and the record after it.
    const first = 2 + 1_300 * 4;
    const { page } = await visit(`${url}#d1-${first}`);
    for (const [at, text] of [
      [first, 'make part-1300'],
      [first + 1, 'hook'],
      [first + 2, 'make part-1300'],
      [first + 3, 'harness record'],
    ] as const) {
      await page.evaluate(`location.hash = 'd1-${at}'`);
      const row = page.locator('.row:focus', { hasText: text });
      await row.waitFor();
      expect(
        await row
          .locator(`[id=d1-${at}]`)
          .or(page.locator(`[id=d1-${at}].row`))
          .count(),
      ).toBe(1);
    }
    await page.close();
  });

  it('works with the keyboard alone', async () => {
    const { page } = await visit();
    await page.keyboard.press('/');
    await page.keyboard.type('part-7');
    await page.keyboard.press('Enter');
    await page.locator('.row:focus').waitFor();
    expect(await page.locator('.row:focus').textContent()).toContain('part-7');
    await page.keyboard.press('Escape');
    const focused = () => page.evaluate<string>('document.activeElement.id');
    const before = await focused();
    await page.keyboard.press('j');
    expect(await focused()).not.toBe(before);
    await page.keyboard.press('k');
    expect(await focused()).toBe(before);
    await page.keyboard.press('f');
    expect(await page.locator('.row:focus.failed').textContent()).toContain('part-99 failed');
    await page.close();
  });

  it('shows the index and the first 2,000 rows without a script', async () => {
    const { page, problems } = await visit(url, { javaScriptEnabled: false });
    expect(await page.locator('.row').count()).toBe(2_000);
    expect(await page.locator('#bar').isVisible()).toBe(false);
    expect(await page.locator('td a').textContent()).toBe('dev');
    expect(await page.locator('.note').textContent()).toContain('need its script');
    expect(problems).toEqual([]);
    await page.close();
  });

  it('is light or dark as the reader prefers, and fits 400 columns of pixels', async () => {
    const grounds: unknown[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await visit(url, { colorScheme, viewport: { width: 400, height: 800 } });
      grounds.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(400);
      await page.close();
    }
    expect(grounds).toEqual(['rgb(253, 252, 250)', 'rgb(22, 23, 26)']);
  });
});
