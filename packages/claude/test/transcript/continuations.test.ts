import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@hansard/events';
import { factsOf } from '@hansard/facts';
import { afterAll, describe, expect, it } from 'vitest';
import { openClaudeTranscript } from '../../src/index.ts';
import { answer, lines, prompt, readToEnd, text } from './transcripts.ts';

const folder = mkdtempSync(join(tmpdir(), 'hansard-continuation-'));
afterAll(() => rmSync(folder, { recursive: true }));

const [first, second, third] = ['a', 'b', 'c'].map(
  (letter) => `${letter.repeat(8)}-0000-4000-8000-000000000000`,
);

function read(sessionId: string | undefined, ...records: readonly JsonObject[]) {
  const path = join(folder, `${sessionId}.jsonl`);
  writeFileSync(path, lines(...records));
  return openClaudeTranscript(path);
}

const of = (sessionId: string | undefined) => ({ sessionId: sessionId ?? '' });
const asked = prompt(1, 'one', of(first));
const answered = answer(2, text('two'), { stop_reason: 'end_turn' }, of(first));

describe('a file that begins with the records of another session', () => {
  it('is a session of its own, which names the session before', async () => {
    const original = await read(first, asked, answered);
    const copy = { ...answered, sessionId: second ?? '' };
    const continuation = await read(second, asked, copy, prompt(3, 'three', of(second)));
    expect(original).toMatchObject({ sessionId: first, continues: null });
    expect(continuation).toMatchObject({
      sessionId: second,
      continues: { rootSessionId: first, sessionId: first, dispatchId: original.dispatchId },
    });
    expect(continuation.dispatchId).not.toBe(original.dispatchId);
    expect(continuation.startedAt).toBeGreaterThan(original.startedAt ?? 0);
    const { events, summary } = await readToEnd(continuation);
    expect(events.filter(({ type }) => type === 'user:message')).toHaveLength(2);
    expect(summary.counts).toEqual({});
  });

  it('names the latest of several sessions before', async () => {
    const copies = [asked, { ...answered, sessionId: second ?? '' }];
    const before = await read(second, ...copies);
    const continuation = await read(third, ...copies, prompt(3, 'three', of(third)));
    expect(continuation.continues).toEqual({
      rootSessionId: first,
      sessionId: second,
      dispatchId: before.dispatchId,
    });
  });

  it('counts its own calls, and leaves those that were copied to the session before', async () => {
    const own = answer(4, text('four'), { stop_reason: 'end_turn' }, of(second));
    const original = await readToEnd(await read(first, asked, answered));
    const continuation = await readToEnd(
      await read(second, asked, answered, prompt(3, 'three', of(second)), own),
    );
    const callsOf = ({ events }: typeof original) =>
      events.filter(({ type }) => type === 'agent:inference').map(({ messageId }) => messageId);
    expect([...callsOf(original), ...callsOf(continuation)]).toEqual(['msg_2', 'msg_4']);
    expect(factsOf(continuation.events).usage).toEqual({ inputTokens: 3, outputTokens: 5 });
    // Claude Code may write its own id and another time into a copy.
    const copy = { ...answered, sessionId: second ?? '', timestamp: '2026-03-01T10:00:00.000Z' };
    const renamed = await readToEnd(await read(second, asked, copy, prompt(3, 'three', of(second)), own));
    expect(callsOf(renamed)).toEqual(['msg_4']);
    rmSync(join(folder, `${first}.jsonl`));
    const alone = await readToEnd(await read(second, asked, copy, prompt(3, 'three', of(second)), own));
    expect(callsOf(alone)).toEqual(['msg_2', 'msg_4']);
    const copied = continuation.events.find(({ id }) => id === answered.uuid);
    expect(copied).toMatchObject({
      type: 'agent:text',
      data: { text: 'two', details: { usage: { input_tokens: 3, output_tokens: 5 }, model: 'claude-test' } },
    });
  });

  it('leaves the calls of all sessions of a chain to the sessions that made them', async () => {
    const of2 = answer(4, text('four'), { stop_reason: 'end_turn' }, of(second));
    const of3 = answer(6, text('six'), { stop_reason: 'end_turn' }, of(third));
    await read(first, asked, answered);
    const chain = [asked, answered, prompt(3, 'three', of(second)), of2];
    await read(second, ...chain);
    const last = await readToEnd(await read(third, ...chain, prompt(5, 'five', of(third)), of3));
    const calls = last.events.filter(({ type }) => type === 'agent:inference');
    expect(calls.map(({ messageId }) => messageId)).toEqual(['msg_6']);
  });

  it('keeps its dispatch when it grows', async () => {
    const copies = [asked, { ...answered, sessionId: second ?? '' }];
    const short = await read(second, ...copies);
    const long = await read(second, ...copies, prompt(3, 'three', of(second)));
    expect(long.dispatchId).toBe(short.dispatchId);
  });

  it('is not assumed from the name of a file alone', async () => {
    const renamed = await read(second, asked, answered);
    expect(renamed).toMatchObject({ sessionId: first, continues: null });
  });
});
