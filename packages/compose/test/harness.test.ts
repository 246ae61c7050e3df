import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newEvent } from '@hansard/events';
import { openScriptedModel } from '@hansard/model-scripted';
import type { AgentProvider } from '@hansard/provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { harnessErrors, type OpenHarnessOptions, openHarness } from '../src/index.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'hansard-compose-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const open = (options: Partial<OpenHarnessOptions> = {}) =>
  openHarness({ cwd, env: {}, load: 'record', packageDirs: [import.meta.dirname], ...options });

const configure = (config: object) => writeFileSync(join(cwd, 'hansard.config.json'), JSON.stringify(config));

/** An agent that repeats its prompt. */
const parrot: AgentProvider = {
  contract: 1,
  async *run({ prompt }) {
    yield { kind: 'event', event: newEvent('agent:text', { text: prompt }) };
    yield { kind: 'event', event: newEvent('session:complete', { status: 'completed', result: prompt }) };
  },
};

describe('a limit of cost', () => {
  it('that does not count what a model used is named in a note at the end of a run', async () => {
    configure({ limits: { costUsd: 2 } });
    const call = { model: 'free-1', durationMs: 1 };
    const notes: string[] = [];
    await using harness = await open({ onNote: (note) => notes.push(note) });
    for (const spent of [{}, { costUsd: 0.1 }]) {
      const agent: AgentProvider = {
        contract: 1,
        async *run() {
          const usage = { inputTokens: 5, outputTokens: 5 };
          yield { kind: 'event', event: newEvent('agent:inference', { ...call, usage, ...spent }) };
        },
      };
      await harness.run({ task: 'a/b', agent });
    }
    expect(notes).toEqual([
      'hansard: limits.costUsd (2) did not count this session: the log does not state what the calls of free-1 cost. limits.timeMs limits its time.',
    ]);
  });
});

const scenario = `
user:
  - Hello.
agents:
  root:
    - say: Good morning.
    - say: And good night.
`;

async function scriptedModel() {
  const path = join(cwd, 'scenario.yaml');
  writeFileSync(path, scenario);
  return { model: await openScriptedModel({ path }), languageModel: `scripted:${path}` };
}

describe('a harness without a configuration', () => {
  it('records a run, a chat and a resumed chat into .projects, and finds each by one word', async () => {
    const first = await open();
    const ended = await first.run({ task: 'a/b', agent: parrot, prompt: 'Say so.', role: 'parrot' });
    expect(ended).toMatchObject({ status: 'completed', role: 'parrot', title: 'Say so.' });
    const model = await scriptedModel();
    const { root, session } = await first.chat({ task: 'a/talk', model });
    await root.harken('Hello.', { source: { kind: 'user' } });
    expect(String(await root.response())).toBe('Good morning.');
    await session.close();
    await first.close();

    await using second = await open();
    const again = await second.resumeChat('a/talk', { model });
    expect(again.session.dispatchId).toBe(session.dispatchId);
    await again.root.harken('And now?', { source: { kind: 'user' } });
    expect(String(await again.root.response())).toBe('And good night.');
    await again.session.close();
    expect(existsSync(join(cwd, '.projects/a/tasks/b'))).toBe(true);
  });

  it('puts the outcomes of earlier sessions before a prompt', async () => {
    await using harness = await open();
    await harness.run({ task: 'a/b', agent: parrot, prompt: 'First of all.' });
    const { dispatchId } = await harness.run({
      ...{ task: 'a/b', agent: parrot, prompt: 'Then this.', withHistory: true },
    });
    const [given, asked, said] = await harness.store.getDispatchEvents('a/tasks/b', dispatchId);
    expect(given).toMatchObject({
      type: 'agent:system_prompt',
      data: { text: expect.stringContaining('First of all.'), outcomesOf: [expect.any(String)] },
    });
    expect(asked?.data).toEqual({ text: 'Then this.', source: { kind: 'user' } });
    expect(said?.data.text).toBe(`${given?.data.text}\n\nThen this.`);
  });

  it('counts activities, and aborts what its signal stops', async () => {
    const stop = new AbortController();
    await using harness = await open({ signal: stop.signal });
    const counts: number[] = [];
    const endless: AgentProvider = {
      contract: 1,
      async *run({ signal }) {
        yield { kind: 'event', event: newEvent('agent:text', { text: 'I wait.' }) };
        stop.abort('enough');
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      },
    };
    const onActivity = (count: number) => counts.push(count);
    const ended = await harness.run({ task: 'a/b', agent: endless, onActivity });
    expect([ended.status, counts]).toEqual(['aborted', [1]]);
  });

  it('closes once, however often it is closed', async () => {
    const harness = await open();
    await Promise.all([harness.close(), harness.close()]);
    await harness[Symbol.asyncDispose]();
    await expect(harness.run({ task: 'a/b', agent: parrot })).rejects.toMatchObject({ code: 'STORE_CLOSED' });
  });
});

describe('a harness that cannot be composed', () => {
  it.each([
    ['a key that does not exist', () => configure({ stoer: 'x' }), 'HARNESS_CONFIG_INVALID'],
    [
      'a file that is not JSON',
      () => writeFileSync(join(cwd, 'hansard.config.json'), '{'),
      'HARNESS_CONFIG_INVALID',
    ],
    ['a store that does not exist', () => configure({ store: '@nobody/store' }), 'PLUGIN_NOT_FOUND'],
  ])('says so with a code: %s', async (_, prepare, code) => {
    prepare();
    await expect(open()).rejects.toMatchObject({ code });
  });

  it('says so with a code: a folder that does not exist', async () => {
    await expect(open({ root: 'none' })).rejects.toMatchObject({ code: 'HARNESS_FOLDER_MISSING' });
  });

  it('names the agents and models that are loaded where another one is named', async () => {
    await using harness = await open();
    const run = harness.run({ task: 'a/b', agent: 'nobody' });
    await expect(run).rejects.toThrow('There is no agent "nobody" (loaded: none).');
    const chat = harness.chat({ task: 'a/b', model: 'nobody' });
    await expect(chat).rejects.toThrow('There is no language model "nobody" (loaded: none).');
    const named = harness.run({ task: 'a', agent: parrot });
    await expect(named).rejects.toSatisfy((error) => harnessErrors.is(error, 'HARNESS_NAME_INVALID'));
    expect(await harness.store.listTasks()).toEqual([]);
  });
});

it('notes a plugin that cannot be loaded, and goes without it', async () => {
  configure({ plugins: ['@nobody/tools'] });
  const notes: string[] = [];
  await using harness = await open({ onNote: (line) => notes.push(line) });
  expect(notes.join()).toContain('PLUGIN_NOT_FOUND');
  expect(await harness.run({ task: 'a/b', agent: parrot })).toMatchObject({ status: 'completed' });
});
