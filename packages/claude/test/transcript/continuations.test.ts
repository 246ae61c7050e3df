import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@hansard/events';
import { afterAll, describe, expect, it } from 'vitest';
import { openClaudeTranscript } from '../../src/index.ts';
import { answer, lines, prompt, readToEnd, record, text } from './transcripts.ts';

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

  it('repeats what its file repeats, and says where that comes from', async () => {
    const own = answer(4, text('four'), { stop_reason: 'end_turn' }, of(second));
    const original = await readToEnd(await read(first, asked, answered));
    const { events } = await readToEnd(
      await read(second, asked, answered, prompt(3, 'three', of(second)), own),
    );
    const calls = events.filter(({ type }) => type === 'agent:inference').map(({ messageId }) => messageId);
    expect(calls).toEqual(['msg_2', 'msg_4']);
    expect(events[0]).toEqual({
      id: `${second}:fork`,
      type: 'session:fork',
      timestamp: null,
      data: {
        from: { product: 'claude-code', sessionId: first, dispatchId: original.log.dispatchId },
        kind: 'fork',
      },
    });
    expect(original.events.some(({ type }) => type === 'session:fork')).toBe(false);
    rmSync(join(folder, `${first}.jsonl`));
    const alone = await readToEnd(await read(second, asked, answered, prompt(3, 'three', of(second)), own));
    expect(alone.events).toEqual(events);
  });

  it.each([
    ['a branch', { forkedFrom: { sessionId: 's0', messageUuid: 'u0' } }, { sessionId: 's0', kind: 'fork' }],
    [
      'a fork whose answers name the session that paid',
      { requestSessionId: 's0', ...of(second) },
      { sessionId: 's0', kind: 'fork' },
    ],
    ['a continuation of Claude Code 1.x', { version: '1.0.56' }, { sessionId: first, kind: 'resume' }],
    ['its own session', { forkedFrom: { sessionId: second ?? '' }, ...of(second) }, null],
  ])('knows %s', async (_, fields, expected) => {
    const records = [{ ...asked, ...fields }, prompt(3, 'three', of(second))];
    const { events } = await readToEnd(await read(second, ...records));
    const [fork] = events.filter(({ type }) => type === 'session:fork');
    const { from, kind } = (fork?.data ?? {}) as { from?: JsonObject; kind?: string };
    expect(fork === undefined ? null : { sessionId: from?.sessionId, kind }).toEqual(expected);
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

describe('a forked agent', () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'Agent', input: { prompt: 'Go.' } };
  const note = { type: 'attachment', attachment: { type: 'hook_success', hookName: 'Stop' } };
  const head = [
    ...[asked, answered],
    record(7, { ...note, parentUuid: answered.uuid ?? null, ...of(first) }),
    answer(3, call, { stop_reason: 'tool_use' }, of(first)),
  ];
  const asAgent = (record: JsonObject): JsonObject => ({ ...record, isSidechain: true, agentId: 'afork' });
  const own = [
    asAgent(prompt(8, 'Go.', of(first))),
    asAgent(answer(9, text('Gone.'), { stop_reason: 'end_turn' }, of(first))),
  ];
  const reference = {
    type: 'fork-context-ref',
    agentId: 'afork',
    parentSessionId: first ?? '',
    parentLastUuid: answered.uuid ?? '',
  };

  it.each([
    ['repeats', [...head.map(asAgent), ...own], head.at(-1)?.uuid],
    ['refers to', [reference, ...own], answered.uuid],
  ])('begins with the transcript of its caller, which its file %s', async (_, records, through) => {
    const folder = mkdtempSync(join(tmpdir(), 'hansard-forked-agent-'));
    try {
      const path = join(folder, `${first}.jsonl`);
      const agents = join(folder, `${first}`, 'subagents');
      mkdirSync(agents, { recursive: true });
      writeFileSync(path, lines(...head));
      writeFileSync(join(agents, 'agent-afork.jsonl'), lines(...records));
      writeFileSync(join(agents, 'agent-afork.meta.json'), JSON.stringify({ toolUseId: 'toolu_1' }));
      const { events } = await readToEnd(await openClaudeTranscript(path));
      const created = events.find(({ type }) => type === 'agent:created');
      expect(created?.data.inherits).toEqual({ through });
      expect(
        events.filter(({ agentId, type }) => agentId === 'afork' && type === 'user:message'),
      ).toHaveLength(1);
      const calls = events.filter(({ type }) => type === 'agent:inference').map(({ messageId }) => messageId);
      expect(new Set(calls).size).toBe(calls.length);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
