import { PassThrough } from 'node:stream';
import { openHarness } from '@hansard/compose';
import type { CommunicationHost, CommunicationProvider, LanguageModelProvider } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { harnessContext, packageDirs } from '../src/harness.ts';
import { TypedLines } from '../src/session/typed-lines.ts';
import { commandLine } from './command-line.ts';

const model: LanguageModelProvider = {
  contract: 1,
  generate: async () => ({
    text: 'yes',
    toolCalls: [],
    model: 'm',
    usage: { inputTokens: 1, outputTokens: 1 },
  }),
};

/** What is taken of lines that are typed into a terminal and followed by Ctrl-D, read by a console or without one. */
async function takenOf(load: 'live' | 'record', typed: readonly string[]) {
  using line = commandLine();
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const { signal } = new AbortController();
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const context = { stdin, stdout, stderr, cwd: line.cwd, env: {}, signal, readSignal: signal };
  const hosts: CommunicationHost[] = [];
  // The console reads the input of the process, so here another provider gives its lines.
  const hand: CommunicationProvider = {
    contract: 1,
    start: (host) => {
      hosts.push(host);
    },
    eventRecorded() {},
  };
  const communication = load === 'live' ? [hand] : [];
  const harness = await openHarness({ ...harnessContext(context), packageDirs, load, communication });
  const lines = new TypedLines(context, harness);
  const { session } = await harness.chat({
    task: 'talks/typed',
    model: { model, languageModel: 'm' },
    onIncoming: (text) => lines.onIncoming(text),
  });
  if (load === 'live') {
    for (const text of typed) void hosts[0]?.deliver({ text, dispatchId: session.dispatchId });
    stdin.resume().end();
  } else stdin.end(typed.map((text) => `${text}\n`).join(''));
  try {
    const taken: string[] = [];
    for await (const { text } of lines.of(session)) taken.push(text);
    const recorded = (await session.root.transcript()).map(({ content }) => content);
    return { taken, recorded };
  } finally {
    await session.close();
    await harness.close();
  }
}

describe.each([
  ['live', true],
  ['record', false],
] as const)('typedLines, %s', (load, isHeard) => {
  const recordedOf = (lines: readonly string[]) => (isHeard ? lines : []);

  it('ends with Ctrl-D, after what was typed before', async () => {
    const lines = ['one', 'two'];
    expect(await takenOf(load, lines)).toEqual({ taken: lines, recorded: recordedOf(lines) });
  });

  it('ends with /end, and takes nothing after it', async () => {
    const lines = ['one', ' /end ', 'two'];
    expect(await takenOf(load, lines)).toEqual({ taken: ['one'], recorded: recordedOf(['one']) });
  });
});
