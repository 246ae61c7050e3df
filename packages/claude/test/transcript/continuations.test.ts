import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@hansard/events';
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
      continues: { rootSessionId: first, dispatchId: original.dispatchId },
    });
    expect(continuation.dispatchId).not.toBe(original.dispatchId);
    expect(continuation.startedAt).toBeGreaterThan(original.startedAt);
    const { events, summary } = await readToEnd(continuation);
    expect(events.filter(({ type }) => type === 'user:message')).toHaveLength(2);
    expect(summary.counts).toEqual({});
  });

  it('names the latest of several sessions before', async () => {
    const copies = [asked, { ...answered, sessionId: second ?? '' }];
    const before = await read(second, ...copies);
    const continuation = await read(third, ...copies, prompt(3, 'three', of(third)));
    expect(continuation.continues).toEqual({ rootSessionId: first, dispatchId: before.dispatchId });
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
