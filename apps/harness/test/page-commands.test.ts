import { afterAll, expect, it } from 'vitest';
import { openBrowser } from '../../../scripts/engines/browser.ts';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';

const browser = await openBrowser();
afterAll(() => browser.close());

/** Two dispatches of one task: the place of the older one cannot be left out. */
async function recorded(): Promise<CommandLine> {
  const line = commandLine();
  for (const stream of ['subagent', 'tools-and-thinking'])
    expect(await line.hansard('run', demoStream(stream), '--task', 'a/b', '--json')).toMatchObject({
      code: 0,
    });
  return line;
}

/** The page of a dispatch. */
async function viewed(line: CommandLine, dispatch: string, signal: AbortSignal) {
  const printed = Promise.withResolvers<string>();
  const args = ['view', `a/b/${dispatch}`, '--json'];
  const viewing = line.start(args, { signal, onOutput: printed.resolve });
  const { address } = JSON.parse(await printed.promise) as { address: string };
  const page = await browser.newPage();
  await page.goto(address);
  await page.waitForSelector('.row');
  return { page, viewing };
}

it('prints commands beside each event that print that event and its causes', async () => {
  using line = await recorded();
  const listed = (await line.hansard('ls', 'a/b', '--json')).json() as { dispatchId: string }[];
  const dispatch = listed.find((one) => one.dispatchId !== listed[0]?.dispatchId)?.dispatchId ?? '';
  const events = (await line.hansard('show', `a/b/${dispatch}`, '--raw', '--json')).json() as {
    id: string;
  }[];
  const ending = new AbortController();
  const { page, viewing } = await viewed(line, dispatch, ending.signal);
  const positions = [0, 1, 4, events.length - 1];
  for (const position of positions) {
    await page.evaluate((at) => {
      location.hash = `${location.hash.split('?')[0]}?open=${at}`;
    }, position);
    await page.waitForFunction(
      (at) => document.querySelector('aside h2')?.textContent === `Event ${at}`,
      position,
    );
    await page.waitForFunction(() => document.querySelectorAll('aside .command code').length === 2);
    const commands = await page.locator('aside .command code').allTextContents();
    const [shown = '', why = ''] = commands.map((command) => command.replace(/^hansard /, ''));
    const { out } = await line.hansard(...shown.split(' '));
    expect((JSON.parse(out) as { id: string }).id).toBe(events[position]?.id);
    const causes = await line.hansard(...why.split(' '), '--json');
    expect(causes.code, causes.err).toBe(0);
    expect(JSON.stringify(causes.json()), why).toContain(events[position]?.id);
  }
  ending.abort();
  await viewing;
  await page.close();
});

it('never shows an event under the number of another one, however slowly it is read', async () => {
  using line = await recorded();
  const ending = new AbortController();
  const { page, viewing } = await viewed(line, 'latest', ending.signal);
  const open = (position: number) =>
    page.evaluate((at) => {
      location.hash = `${location.hash.split('?')[0]}?open=${at}`;
    }, position);
  const shown = () =>
    page.evaluate(() => [
      document.querySelector('aside h2')?.textContent?.replace('Event ', ''),
      document.querySelector('aside .command code')?.textContent?.split(' ')[3],
    ]);
  await open(1);
  await page.waitForSelector('aside .command code');
  await page.route(/\/event/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    await route.continue();
  });
  const seen = new Set<string>();
  await open(4);
  await expect
    .poll(
      async () => {
        const [heading, command] = await shown();
        seen.add(`${heading} ${command}`);
        return heading;
      },
      { interval: 20, timeout: 20_000 },
    )
    .toBe('4');
  expect([...seen].sort()).toEqual(['1 1', '4 4']);
  ending.abort();
  await viewing;
  await page.close();
});

it('marks the row of the open event, however it was opened', async () => {
  using line = await recorded();
  const ending = new AbortController();
  const { page, viewing } = await viewed(line, 'latest', ending.signal);
  /** The open event, and the events of the marked row. */
  const state = () =>
    page.evaluate(() => ({
      open: document.querySelector('aside h2')?.textContent?.replace('Event ', '') ?? null,
      marked: [...document.querySelectorAll<HTMLElement>('.row.current')].map((row) => row.dataset.position),
    }));
  const opened = async (position: string) => {
    await page.waitForFunction(
      (wanted) => document.querySelector('aside h2')?.textContent === `Event ${wanted}`,
      position,
    );
    await page.waitForFunction(
      (wanted) =>
        document.querySelectorAll('.row.current').length === 1 &&
        document.querySelector(`.row.current[data-position="${wanted}"]`) !== null,
      position,
      { timeout: 5_000 },
    );
    expect(await state()).toEqual({ open: position, marked: [position] });
  };
  const rows = await page
    .locator('.row')
    .evaluateAll((all) =>
      all
        .map((row) => (row as HTMLElement).dataset.position ?? '')
        .sort((one, other) => Number(one) - Number(other)),
    );
  const [first = '', second = '', third = ''] = rows;
  await page.locator(`.row[data-position="${second}"] button`).click();
  await opened(second);
  await page.locator(`.row[data-position="${first}"] button`).click();
  await opened(first);
  await page.keyboard.press('j');
  await opened(second);
  await page.keyboard.press('j');
  await opened(third);
  await page.locator('#find').fill('e');
  await page.waitForFunction(() => document.querySelector('.find')?.textContent?.match(/\d/) !== null);
  await page.locator('button[aria-label="Next"]').click();
  await page.waitForFunction(
    (before) => document.querySelector('aside h2')?.textContent !== `Event ${before}`,
    third,
  );
  await opened((await state()).open ?? '');
  ending.abort();
  await viewing;
  await page.close();
});
