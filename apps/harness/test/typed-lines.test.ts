import { PassThrough } from 'node:stream';
import { openHarness } from '@hansard/compose';
import { describe, expect, it } from 'vitest';
import { harnessContext, packageDirs } from '../src/harness.ts';
import { typedLines } from '../src/session/typed-lines.ts';
import { commandLine } from './command-line.ts';

/** What is taken of lines that are typed into a terminal and followed by Ctrl-D, read by a console or without one. */
async function takenOf(load: 'live' | 'record', typed: readonly string[]) {
  using line = commandLine();
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const { signal } = new AbortController();
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const context = { stdin, stdout, stderr, cwd: line.cwd, env: {}, signal, readSignal: signal };
  const harness = await openHarness({ ...harnessContext(context), packageDirs, load });
  // The console reads the input of the process, so here its lines are given by hand.
  harness.communication.attach = (_dispatchId, deliver) => {
    for (const text of typed) void deliver(text, { kind: 'user' });
    stdin.resume().end();
    return () => {};
  };
  if (load !== 'live') stdin.end(typed.map((text) => `${text}\n`).join(''));
  try {
    const taken: string[] = [];
    for await (const { text } of typedLines(context, harness, 'd1')) taken.push(text);
    return taken;
  } finally {
    await harness.close();
  }
}

describe.each(['live', 'record'] as const)('typedLines, %s', (load) => {
  it('ends with Ctrl-D, after what was typed before', async () => {
    expect(await takenOf(load, ['one', 'two'])).toEqual(['one', 'two']);
  });

  it('ends with /end, and takes nothing after it', async () => {
    expect(await takenOf(load, ['one', ' /end ', 'two'])).toEqual(['one']);
  });
});
