import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type CliContext, terminalWidth } from '../src/terminal/context.ts';
import { commandLine, demoStream } from './command-line.ts';

const widthOf = (stdout: { readonly isTTY?: boolean; readonly columns?: number }) =>
  terminalWidth({ stdout: Object.assign(new PassThrough(), stdout) } as unknown as CliContext);

describe('the width of lines', () => {
  it('is that of the terminal, and not bounded by one that says it has none', () => {
    expect(widthOf({ isTTY: true, columns: 80 })).toBe(80);
    expect(widthOf({ isTTY: true, columns: 0 })).toBeUndefined();
    expect(widthOf({ columns: 80 })).toBeUndefined();
  });
});

describe('lines of events on a terminal', () => {
  it('are coloured in events and timeline, with the same text as without colours', async () => {
    using line = commandLine();
    await line.hansard('run', demoStream('hook-deny'), '--task', 'a/b', '--quiet');
    for (const args of [
      ['show', 'a/b/latest', '--raw'],
      ['show', 'a/b', '--raw'],
    ]) {
      const print = async (env: Readonly<Record<string, string>>) =>
        (await line.start(args, { signal: new AbortController().signal, columns: 100, env })).out;
      const [coloured, plain] = [await print({}), await print({ NO_COLOR: '1' })];
      expect(coloured).toContain('\u001b[36m');
      expect(plain).not.toContain('\u001b');
      expect(stripVTControlCharacters(coloured)).toBe(plain);
    }
  });
});
