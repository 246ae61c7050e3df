import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trainingFormatIds } from '@hansard/datasets';
import { newEvent } from '@hansard/events';
import { sessionFormats } from '@hansard/formats';
import type { AgentProvider } from '@hansard/provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportFormats, type Harness, openHarness } from '../src/index.ts';

let cwd: string;
let harness: Harness;
let dispatchId: string;

/** An agent that repeats its prompt. */
const parrot: AgentProvider = {
  contract: 1,
  async *run({ prompt }) {
    yield { kind: 'event', event: newEvent('agent:text', { text: prompt }) };
    yield { kind: 'event', event: newEvent('session:complete', { status: 'completed', result: prompt }) };
  },
};

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'hansard-export-'));
  harness = await openHarness({ cwd, env: {}, load: 'record', packageDirs: [import.meta.dirname] });
  ({ dispatchId } = await harness.run({ task: 'lab/talk', agent: parrot, prompt: 'Read the map.' }));
});
afterEach(async () => {
  await harness.close();
  rmSync(cwd, { recursive: true, force: true });
});

const written = () => readdirSync(cwd).filter((name) => name !== '.projects');

/** A text in memory. */
function textSink() {
  const pieces: string[] = [];
  return { pieces, write: async (piece: string) => void pieces.push(piece) };
}

describe('an export of a program that composes the harness', () => {
  it('is a file, which has its name when it is complete', async () => {
    const exported = await harness.export({ as: 'html', session: 'lab/talk', out: 'talk.html' });
    expect(exported).toMatchObject({ path: join(cwd, 'talk.html'), summary: { dispatches: 1 }, notes: [] });
    expect(written()).toEqual(['talk.html']);
    expect(readFileSync(join(cwd, 'talk.html'), 'utf8')).toContain('Read the map.');
  });

  it('is a text that the program receives, with the number of events that were read', async () => {
    const text = textSink();
    const counts: number[] = [];
    const onEvents = (count: number) => counts.push(count);
    const exported = await harness.export({ as: 'markdown', session: dispatchId, out: text, onEvents });
    expect([exported.path, counts.at(-1), written()]).toEqual([null, expect.any(Number), []]);
    expect(counts.at(-1)).toBeGreaterThan(1);
    expect(text.pieces.join('')).toContain('Read the map.');
  });

  it('is a folder of all tasks', async () => {
    await harness.run({ task: 'other/one', agent: parrot, prompt: 'Elsewhere.' });
    const { summary, listed } = await harness.export({ as: 'pages', out: 'site' });
    expect([summary.tasks, listed.length]).toEqual([2, 2]);
    expect(readdirSync(join(cwd, 'site')).sort()).toEqual(['index.html', 'lab-talk', 'other-one']);
    const { summary: ofLab } = await harness.export({ as: 'pages', project: 'LAB', out: 'lab-site' });
    expect(ofLab.tasks).toBe(1);
  });

  it('has no secret that the configuration replaces, and counts it', async () => {
    const secret = 'walrus-in-a-blanket-4711';
    await harness.run({ task: 'lab/key', agent: parrot, prompt: `The key is ${secret}.` });
    await harness.close();
    const redact = { environment: ['KEY'] };
    writeFileSync(join(cwd, 'hansard.config.json'), JSON.stringify({ redact }));
    const packageDirs = [import.meta.dirname];
    harness = await openHarness({ cwd, env: { KEY: secret }, load: 'store', packageDirs });
    const text = textSink();
    const { redactions } = await harness.export({ as: 'markdown', session: 'lab/key', out: text });
    expect(text.pieces.join('')).not.toContain(secret);
    expect(Object.values(redactions).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  });
});

describe('an export that cannot be written', () => {
  it.each([
    ['without a session', { as: 'html', out: 'a' }, 'HARNESS_OPTION_INVALID'],
    ['of a session that does not exist', { as: 'html', session: 'none', out: 'a' }, 'HARNESS_NOT_FOUND'],
    ['as a folder that is not named', { as: 'pages' }, 'HARNESS_OPTION_INVALID'],
    ['as a text that nobody takes', { as: 'html', session: 'lab/talk' }, 'HARNESS_OPTION_INVALID'],
    ['over a folder', { as: 'html', session: 'lab/talk', out: '.projects' }, 'HARNESS_FILE_UNUSABLE'],
    [
      'with an option of another format',
      { as: 'html', session: 'lab/talk', out: 'a', agents: ['jack'] },
      'HARNESS_OPTION_INVALID',
    ],
    [
      'with a project besides a session',
      { as: 'pages', session: 'lab/talk', out: 'a', project: 'lab' },
      'HARNESS_OPTION_INVALID',
    ],
    [
      'with a mapping that is not there',
      { as: 'streams', session: 'lab/talk', out: 'a', mapping: 'none.yaml' },
      'HARNESS_FILE_UNUSABLE',
    ],
  ] as const)('fails with a code, and leaves nothing: %s', async (_, options, code) => {
    await expect(harness.export(options)).rejects.toMatchObject({ code });
    expect(written()).toEqual([]);
  });
});

it('knows every format of session logs and training data', () => {
  const known = Object.keys(exportFormats);
  expect(known).toEqual(expect.arrayContaining([...trainingFormatIds, ...Object.keys(sessionFormats)]));
});
