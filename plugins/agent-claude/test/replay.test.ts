import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentActivity } from '@hansard/provider';
import { afterAll, describe, expect, it } from 'vitest';
import { createReplayAgent } from '../src/index.ts';
import { fixtures, runAgent, runRequest } from './run-agent.ts';

const folder = mkdtempSync(join(tmpdir(), 'hansard-replay-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the pace of a replay', () => {
  const path = join(fixtures, 'structured-output.jsonl');

  it('waits before each message that is an event, not before deltas', async () => {
    const waits: number[] = [];
    const wait = async (ms: number) => void waits.push(ms);
    const { events, deltas } = await runAgent(createReplayAgent({ path, delayMs: 7, wait }));
    expect(deltas.length).toBeGreaterThan(0);
    expect(waits.length).toBeGreaterThan(3);
    expect(waits.length).toBeLessThanOrEqual(events.length);
    expect(new Set(waits)).toEqual(new Set([7]));
  });

  it('an abort ends a wait and the replay, and the usage so far is not lost', async () => {
    const controller = new AbortController();
    const gate = (_: number, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const agent = createReplayAgent({
      path: join(fixtures, 'tools-and-thinking.jsonl'),
      delayMs: 1,
      wait: gate,
    });
    const running = agent.run(runRequest({ signal: controller.signal }))[Symbol.asyncIterator]();
    const first = running.next();
    controller.abort();
    const rest: IteratorResult<AgentActivity>[] = [await first];
    while (!rest.at(-1)?.done) rest.push(await running.next());
    expect(rest.length).toBeLessThan(5);
  });

  it('an abort ends also the search for the first time of a long file', async () => {
    const timeless = join(folder, 'timeless.jsonl');
    writeFileSync(timeless, 'no time here\n'.repeat(1_000));
    const agent = createReplayAgent({ path: timeless });
    expect((await runAgent(agent, { signal: AbortSignal.abort() })).events).toEqual([]);
  });

  it('an abort in the middle yields what was used', async () => {
    const controller = new AbortController();
    const types: string[] = [];
    const agent = createReplayAgent({ path: join(fixtures, 'tools-and-thinking.jsonl') });
    for await (const activity of agent.run(runRequest({ signal: controller.signal }))) {
      if (activity.kind !== 'event') continue;
      types.push(activity.event.type);
      if (activity.event.type === 'agent:thinking') controller.abort();
    }
    expect(types.slice(-2)).toEqual(['agent:thinking', 'agent:inference']);
  });

  it('a wait that fails for another reason fails the run', async () => {
    const wait = () => Promise.reject(new Error('no clock'));
    await expect(runAgent(createReplayAgent({ path, delayMs: 1, wait }))).rejects.toThrow('no clock');
  });
});

describe('the start of a replay', () => {
  const signal = new AbortController().signal;
  const startOf = (path: string, when = signal) => createReplayAgent({ path }).recordedStart?.(when);

  it('is the first time in the file', async () => {
    const path = join(fixtures, 'structured-output.jsonl');
    expect(await startOf(path)).toBe('2026-11-21T21:49:13.120Z');
    const { events } = await runAgent(createReplayAgent({ path }));
    const first = events.find(({ timestamp }) => timestamp !== null);
    expect(first?.timestamp).toBe('2026-11-21T21:49:13.120Z');
  });

  it('is not known where the file has no times, or the search is aborted', async () => {
    const path = join(folder, 'without-times.jsonl');
    writeFileSync(path, '{"type":"result","subtype":"success"}\n');
    expect(await startOf(path)).toBeNull();
    expect(await startOf(join(fixtures, 'structured-output.jsonl'), AbortSignal.abort())).toBeNull();
  });

  it.each([
    ['is missing', null, 'FORMAT_UNREADABLE'],
    ['is empty', '', 'FORMAT_EMPTY'],
    ['is no stream', 'plain text\n', 'FORMAT_NOT_JSONL'],
  ])('leaves it to the run, which is logged, that the file %s', async (name, content, code) => {
    const path = join(folder, `${name.replaceAll(' ', '-')}.jsonl`);
    if (content !== null) writeFileSync(path, content);
    expect(await startOf(path)).toBeNull();
    await expect(runAgent(createReplayAgent({ path }))).rejects.toMatchObject({ code });
  });
});
