import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { appendEvents, createDispatch, updateDispatch } from '@hansard/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../../../scripts/engines/browser.ts';
import { type CommandLine, commandLine } from './command-line.ts';

type Browser = Awaited<ReturnType<typeof openBrowser>>;

const hostile =
  '<img src="https://tracker.example/x" onerror="globalThis.taken = true"><script>globalThis.taken = true</script>';
let cli: CommandLine;
let browser: Browser;

beforeAll(async () => {
  cli = commandLine();
  browser = await openBrowser();
  const store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
  const { dispatchId } = await createDispatch(store, 'lab/tasks/talk', { role: 'host', fidelity: 'full' });
  const say = newEvent('agent:text', { text: hostile }, { agentId: 'agent_001', messageId: 'm1' });
  await appendEvents(store, 'lab/tasks/talk', dispatchId, [
    newEvent('agent:created', { name: 'Ann' }, { agentId: 'agent_001' }),
    newEvent('agent:created', { name: 'Ben' }, { agentId: 'agent_002' }),
    { ...say, id: 'said' },
    newEvent(
      'user:message',
      { text: hostile, source: { kind: 'agent', agentId: 'agent_001' } },
      { agentId: 'agent_002', substance: 'said' },
    ),
    newEvent('session:complete', { status: 'completed', costUsd: 0.25, result: hostile }),
  ]);
  await updateDispatch(store, 'lab/tasks/talk', dispatchId, {
    status: 'completed',
    completedAt: new Date().toISOString(),
    cost: 0.25,
  });
  await store.close();
});

afterAll(async () => {
  await browser?.close();
  cli?.[Symbol.dispose]();
});

describe('a task as a page, in a real browser', () => {
  it('runs nothing, asks for nothing, and shows what was said and who heard it', async () => {
    const { code, err } = await cli.hansard('export', 'lab/talk', '--as', 'html', '--out', 'talk.html');
    expect([code, err]).toEqual([0, '']);
    const page = await browser.newPage();
    const requests: string[] = [];
    const problems: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => problems.push(message.text()));
    const url = pathToFileURL(join(cli.cwd, 'talk.html')).href;
    await page.goto(url);
    expect(await page.evaluate('globalThis.taken')).toBeUndefined();
    expect(requests).toEqual([url]);
    expect(problems).toEqual([]);
    expect(await page.title()).toContain('talk');
    expect(await page.locator('td', { hasText: '$0.25' }).count()).toBe(2);

    const dialog = page.locator('details', { hasText: 'Who said what' });
    expect(await dialog.locator('li').first().isVisible()).toBe(false);
    await dialog.locator('summary').first().click();
    const said = dialog.locator('li', { hasText: 'heard by Ben' });
    expect(await said.locator('.who').textContent()).toBe('Ann');
    expect(await said.locator('.text').textContent()).toBe(hostile);
    expect(await said.isVisible()).toBe(true);

    await page.locator('summary', { hasText: 'What Ben saw' }).click();
    const heard = page.locator('details', { hasText: 'What Ben saw' }).locator('li');
    expect(await heard.allInnerTexts()).toEqual([expect.stringContaining('from Ann')]);
    await page.close();
  });

  it('fits a narrow window, and shows all of it on paper', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 640 } });
    await page.goto(pathToFileURL(join(cli.cwd, 'talk.html')).href);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    const said = page.locator('details', { hasText: 'Who said what' }).locator('li').first();
    const height = async () => (await said.boundingBox())?.height ?? 0;
    expect(await height()).toBe(0);
    await page.emulateMedia({ media: 'print' });
    expect(await height()).toBeGreaterThan(10);
    await page.close();
  });

  it('would notice a page that runs what an agent wrote', async () => {
    const page = await browser.newPage();
    const file = join(cli.cwd, 'naive.html');
    writeFileSync(file, `<!doctype html><p>${hostile}</p>`);
    await page.goto(pathToFileURL(file).href);
    expect(await page.evaluate('globalThis.taken')).toBe(true);
    await page.close();
  });
});

describe('a task as Markdown', () => {
  it('is written to standard output, with the tree and the dialog', async () => {
    const { code, out } = await cli.hansard('export', 'lab/talk', '--as', 'markdown');
    expect(code).toBe(0);
    expect(out).toContain('### Who said what\n\n**Ann**: &lt;img');
    expect(out).toContain('\n\nheard by Ben\n');
    expect(out).toContain('$0.25');
    expect(out).toContain('**said**: &lt;img src=');
  });

  it('never overwrites a file', async () => {
    writeFileSync(join(cli.cwd, 'mine.md'), 'mine');
    const { code, err } = await cli.hansard('export', 'lab/talk', '--as', 'markdown', '--out', 'mine.md');
    expect(code).toBe(1);
    expect(err).toContain("mine.md can't be written");
    expect(readFileSync(join(cli.cwd, 'mine.md'), 'utf8')).toBe('mine');
  });
});
