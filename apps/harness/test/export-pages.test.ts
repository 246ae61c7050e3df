import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../../../scripts/engines/browser.ts';
import { type CommandLine, commandLine } from './command-line.ts';

type Browser = Awaited<ReturnType<typeof openBrowser>>;

const hostile =
  '</script><script>globalThis.taken = true</script><img src=x onerror="globalThis.taken = true">';
let cli: CommandLine;
let browser: Browser;

/** Three tasks, the last one active with a worker. */
beforeAll(async () => {
  cli = commandLine();
  browser = await openBrowser();
  const store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
  for (const taskDir of ['lab/tasks/roads', 'lab/tasks/maps', 'shop/tasks/tea']) {
    await using parent = await store.beginDispatch(taskDir, {
      role: 'lead',
      title: `Plan ${taskDir} ${hostile}`,
    });
    await using worker = await parent.beginChild({ role: 'helper', title: 'Count the rooms' });
    await worker.append([newEvent('agent:text', { text: `Nine. ${hostile}` })]);
    await worker.end({ status: 'completed' });
    await parent.append([newEvent('agent:text', { text: 'All counted.' })]);
    await parent.end({ status: 'completed' });
  }
  await store.close();
});

afterAll(async () => {
  await browser?.close();
  cli?.[Symbol.dispose]();
});

const urlOf = (...parts: string[]) => pathToFileURL(join(cli.cwd, ...parts)).href;

describe('all tasks as pages', () => {
  it('are an index that can be searched, and pages that lead to each other', async () => {
    const { code, err, out } = await cli.hansard('export', '--as', 'pages', '--out', 'site', '--json');
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toMatchObject({ format: 'pages', tasks: 3, dispatches: 6, files: 7 });
    const page = await browser.newPage();
    const problems: string[] = [];
    const requests: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => problems.push(message.text()));
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(urlOf('site', 'index.html'));
    // The task with the latest event is first.
    expect(await page.locator('h2').allTextContents()).toEqual(['shop/tea', 'lab/maps', 'lab/roads']);
    await page.keyboard.press('/');
    await page.keyboard.type('maps rooms');
    await page.locator('#shown', { hasText: '1 of 6 sessions' }).waitFor();
    expect(await page.locator('tbody tr:visible').allInnerTexts()).toEqual([
      expect.stringContaining('Count the rooms'),
    ]);
    await page.locator('tbody tr:visible a').click();
    await page.locator('.row', { hasText: 'Nine.' }).waitFor();
    await page.locator('nav a', { hasText: 'Plan lab/tasks/maps' }).click();
    await page.locator('.row', { hasText: 'All counted.' }).waitFor();
    await page.locator('nav a', { hasText: 'All sessions' }).click();
    expect(await page.locator('tbody tr:visible').count()).toBe(6);
    expect(await page.evaluate('globalThis.taken')).toBeUndefined();
    expect(requests.every((url) => url.startsWith(urlOf('site')))).toBe(true);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('are readable without a script, and fit 400 columns of pixels', async () => {
    const page = await browser.newPage({ javaScriptEnabled: false, viewport: { width: 400, height: 800 } });
    await page.goto(urlOf('site', 'index.html'));
    expect(await page.locator('tbody tr:visible').count()).toBe(6);
    expect(await page.locator('#bar').isVisible()).toBe(false);
    await page.locator('tbody a').first().click();
    expect(await page.locator('.row').textContent()).toContain('All counted.');
    await page.close();
  });

  it('can be those of some projects, or of one task', async () => {
    const some = await cli.hansard('export', '--as', 'pages', '--project', 'LAB', '--out', 'lab', '--json');
    expect(JSON.parse(some.out)).toMatchObject({ tasks: 2, dispatches: 4, files: 5 });
    const one = await cli.hansard('export', 'shop/tea', '--as', 'pages', '--out', 'tea', '--json');
    expect(JSON.parse(one.out)).toMatchObject({ tasks: 1, dispatches: 2, files: 3 });
    expect(readdirSync(join(cli.cwd, 'tea')).sort()).toEqual(['index.html', 'shop-tea']);
    expect(statSync(join(cli.cwd, 'tea', 'shop-tea')).mode & 0o077).toBe(0);
  });

  it('are wrong usage of a format of one task, and of a project beside a task', async () => {
    const noTask = await cli.hansard('export', '--as', 'html', '--out', 'x.html');
    expect([noTask.code, noTask.err]).toEqual([
      2,
      expect.stringContaining('html is written of one task or session.'),
    ]);
    const both = await cli.hansard('export', 'shop/tea', '--as', 'pages', '--project', 'lab', '--out', 'x');
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('--project chooses among all tasks.')]);
    const none = await cli.hansard('export', '--as', 'pages', '--project', 'none', '--out', 'x');
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('No project contains "none".')]);
  });

  it('have every readable dispatch beside a damaged one, which is named', async () => {
    using other = commandLine();
    const store = openDispatchStore(openJsonFileStore({ root: join(other.cwd, '.projects') }));
    for (const dispatchId of ['good', 'bad']) {
      await using dispatch = await store.beginDispatch('lab/tasks/two', { role: 'lead', dispatchId });
      await dispatch.end({ status: 'completed' });
    }
    await store.close();
    const folder = join(other.cwd, '.projects/lab/tasks/two/dispatches');
    const [file = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.includes('bad') && name.endsWith('.json'),
    );
    writeFileSync(join(folder, file), 'x'.repeat(statSync(join(folder, file)).size));
    const { code, err } = await other.hansard('export', '--as', 'pages', '--out', 'site');
    expect(code).toBe(3);
    expect(err).toContain("1 of 1 tasks can't be read completely; the others are exported.");
    expect(readdirSync(join(other.cwd, 'site', 'lab-two'))).toEqual(['good.html']);
  });
});
