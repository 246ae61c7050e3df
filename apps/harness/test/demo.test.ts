import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

describe('hansard demo', () => {
  it('ends with three views, each as its own command prints it, and how to open the page', async () => {
    using line = commandLine();
    const { out, code, err } = await line.hansard('demo', '--delay', '0');
    expect([code, err]).toEqual([0, '']);
    const called = [...out.matchAll(/^\$ hansard (.+)$/gm)].map(([, words = '']) => words);
    expect(called.map((words) => words.split(' ')[0])).toEqual(['tree', 'show', 'heard']);
    for (const words of called) {
      const again = await line.hansard(...words.split(' '));
      expect(again.code).toBe(0);
      expect(out).toContain(again.out.trimEnd());
    }
    expect(out).toContain('deleting is not allowed here');
    expect(out).toContain('altered');
    const [, folder = ''] = /^The files, one for each session: (\S+)$/m.exec(out) ?? [];
    expect(existsSync(folder)).toBe(true);
    expect(out).toMatch(/^hansard view {3}# prints the address$/m);
  });

  it('prints less than a screen of lines before the first view', async () => {
    using line = commandLine();
    const { out } = await line.hansard('demo', '--delay', '0', '--no-view');
    const [before = ''] = out.split('\n$ hansard tree');
    expect(before.split('\n').length).toBeLessThanOrEqual(10);
  });

  it.each([80, 140])('fits a terminal of %i columns, and serves the page there', async (columns) => {
    using line = commandLine();
    const served = await untilServed(line, columns, ['--delay', '0']);
    expect(served.code).toBe(0);
    const lines = stripVTControlCharacters(served.out).split('\n');
    const isPlace = (text: string) => text.includes(line.cwd) || text.includes('http://');
    expect(lines.filter((text) => text.length > columns && !isPlace(text))).toEqual([]);
    expect(served.isAdmitted).toBe(true);
  });

  it('serves the page elsewhere if --view asks for it', async () => {
    using line = commandLine();
    expect((await untilServed(line, undefined, ['--delay', '0', '--view'])).isAdmitted).toBe(true);
  });

  it('says why there is nothing to read where the store keeps nothing', async () => {
    using line = commandLine();
    writeFileSync(join(line.cwd, 'hansard.config.json'), '{ "store": "@hansard/store-memory" }');
    const { out, code } = await line.hansard('demo', '--delay', '0');
    expect(code).toBe(0);
    expect(out).toContain('The configured store keeps nothing after the command');
    expect(out).not.toMatch(/^\$|\.projects/m);
  });
});

/** Runs the demo until it prints the address of the page, asks for it, and stops the demo. `isAdmitted`: the page lets a browser in. */
async function untilServed(
  line: CommandLine,
  columns: number | undefined,
  options: readonly string[],
): Promise<{ readonly code: number; readonly out: string; readonly isAdmitted: boolean }> {
  const stop = new AbortController();
  const asked: Promise<boolean>[] = [];
  const { code, out } = await line.start(['demo', ...options], {
    signal: stop.signal,
    ...(columns === undefined ? {} : { columns }),
    onOutput(text) {
      const [address] = /http:\/\/127\.0\.0\.1:\S+/.exec(text) ?? [];
      if (address === undefined || asked.length > 0) return;
      const answer = fetch(address, { redirect: 'manual' });
      asked.push(answer.then(({ headers }) => headers.has('set-cookie')).finally(() => stop.abort('enough')));
    },
  });
  return { code, out, isAdmitted: (await Promise.all(asked))[0] ?? false };
}
