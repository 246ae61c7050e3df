import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { specifiedStreams } from '@hansard/datasets';
import { canaryGame, canaryMapping } from '@hansard/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../src/index.ts';

const taskDir = 'village/tasks/game';

let cwd: string;
let harness: Harness;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'hansard-follow-'));
  writeFileSync(join(cwd, 'game.json'), JSON.stringify(canaryMapping));
  harness = await openHarness({ cwd, env: {}, load: 'record', packageDirs: [import.meta.dirname] });
});
afterEach(async () => {
  await harness.close();
  rmSync(cwd, { recursive: true, force: true });
});

const filesIn = (folder: string) =>
  specifiedStreams.map((stream) => readFileSync(join(cwd, folder, `${stream}.jsonl`), 'utf8'));
const follow = (out: string, more: object = {}) =>
  harness.export({ as: 'streams', session: 'latest', mapping: 'game.json', follow: true, out, ...more });

describe('an export of streams that follows', () => {
  it('writes what is recorded, and continues its files after it was stopped', async () => {
    const { events } = canaryGame(3);
    const dispatch = await harness.store.beginDispatch(taskDir, { role: 'game', fidelity: 'full' });
    await dispatch.append(events.slice(0, 60));
    const stop = new AbortController();
    const seen = Promise.withResolvers<void>();
    const first = follow('live', {
      signal: stop.signal,
      onEvents: (count: number) => count === 60 && seen.resolve(),
    });
    await seen.promise;
    stop.abort();
    expect((await first).notes).toEqual([expect.stringContaining('still running')]);
    const before = filesIn('live');
    // As a kill in the middle of a line would leave it.
    appendFileSync(join(cwd, 'live/inference_trace.jsonl'), '{"timestamp":"2026-0');
    const second = follow('live');
    await dispatch.append(events.slice(60));
    await dispatch.end({ status: 'completed' });
    expect((await second).notes).toEqual([]);
    await harness.export({ as: 'streams', session: 'latest', mapping: 'game.json', out: 'whole' });
    expect(filesIn('live')).toEqual(filesIn('whole'));
    expect(filesIn('live').map((text, at) => text.startsWith(before[at] ?? '?'))).not.toContain(false);
    expect(before.join('').length).toBeLessThan(filesIn('live').join('').length);
    expect(readdirSync(join(cwd, 'live')).sort()).toEqual(
      specifiedStreams.map((name) => `${name}.jsonl`).sort(),
    );
  });

  it('never changes the files of another log', async () => {
    const dispatch = await harness.store.beginDispatch(taskDir, { role: 'game', fidelity: 'full' });
    await dispatch.append(canaryGame(4).events);
    await dispatch.end({ status: 'completed' });
    await follow('live');
    const before = filesIn('live');
    const other = await harness.store.beginDispatch(taskDir, { role: 'game', fidelity: 'full' });
    await other.append(canaryGame(5).events);
    await other.end({ status: 'completed' });
    await expect(follow('live', { session: other.dispatchId })).rejects.toMatchObject({
      code: 'FORMAT_FILE_DIFFERS',
    });
    expect(filesIn('live')).toEqual(before);
  });

  it('does not change a file of something else in its place', async () => {
    const dispatch = await harness.store.beginDispatch(taskDir, { role: 'game', fidelity: 'full' });
    await dispatch.append(canaryGame(6).events);
    await dispatch.end({ status: 'completed' });
    writeFileSync(join(cwd, 'notes.txt'), 'my notes');
    await expect(
      harness.export({ as: 'session-v2', session: 'latest', follow: true, out: 'notes.txt' }),
    ).rejects.toMatchObject({ code: 'FORMAT_FILE_DIFFERS' });
    expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe('my notes');
  });

  it('needs one session and a folder', async () => {
    await expect(harness.export({ as: 'streams', follow: true, session: 'latest' })).rejects.toMatchObject({
      code: 'HARNESS_OPTION_INVALID',
    });
  });
});

describe.each(['session-v1', 'session-v2'] as const)('an export of %s that follows', (as) => {
  it.each([false, true])(
    'has the bytes of the export at the end, also after it was stopped; extended: %s',
    async (extended) => {
      const { events } = canaryGame(8);
      const dispatch = await harness.store.beginDispatch(taskDir, { role: 'game', fidelity: 'full' });
      await dispatch.append(events.slice(0, 50));
      const stop = new AbortController();
      const seen = Promise.withResolvers<void>();
      const followed = { as, session: 'latest', follow: true, out: 'live.jsonl', extended } as const;
      const first = harness.export({
        ...followed,
        signal: stop.signal,
        onEvents: (count: number) => count === 50 && seen.resolve(),
      });
      await seen.promise;
      stop.abort();
      expect((await first).notes[0]).toContain('still running: the same command continues');
      const before = readFileSync(join(cwd, 'live.jsonl'), 'utf8');
      appendFileSync(join(cwd, 'live.jsonl'), '{"message_id":"msg');
      const texts: string[] = [];
      const sink = {
        async write(text: string) {
          texts.push(text);
        },
      };
      const toFile = harness.export(followed);
      const toSink = harness.export({ ...followed, out: sink });
      await dispatch.append(events.slice(50));
      await dispatch.end({ status: 'completed' });
      const { summary, notes } = await toFile;
      await toSink;
      const whole = await harness.export({ as, session: 'latest', out: 'whole.jsonl', extended });
      const [live, atEnd] = ['live.jsonl', 'whole.jsonl'].map((name) =>
        readFileSync(join(cwd, name), 'utf8'),
      );
      expect(live).toBe(atEnd);
      expect(texts.join('')).toBe(atEnd);
      expect(texts.length).toBeGreaterThan(20);
      expect({ summary, notes }).toEqual({ summary: whole.summary, notes: whole.notes });
      expect([atEnd?.startsWith(before), before.length > 0, before.length < (atEnd?.length ?? 0)]).toEqual([
        true,
        true,
        true,
      ]);
    },
  );
});
