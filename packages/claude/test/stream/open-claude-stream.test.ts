import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { factsOf } from '@hansard/facts';
import { describe, expect, it } from 'vitest';
import { detectClaudeFormat, openClaudeStream } from '../../src/index.ts';
import { assistant, result } from '../messages/mapped.ts';
import { type ReadLog, readToEnd } from '../transcript/transcripts.ts';

const init = {
  type: 'system',
  subtype: 'init',
  session_id: 's1',
  model: 'claude-test',
  cwd: '/house',
  tools: [],
  uuid: 'i1',
};
const timestamp = '2026-03-01T09:30:00.000Z';
const said = assistant([{ type: 'text', text: 'hello' }], { session_id: 's1', uuid: 'a1', timestamp });
const delta = {
  type: 'stream_event',
  session_id: 's1',
  event: { type: 'content_block_delta', delta: { type: 'text_delta', text: 'he' } },
};
const status = { type: 'system', subtype: 'status', status: null, session_id: 's1' };
const done = result({ session_id: 's1', uuid: 'r1' });

async function readStream(text: string): Promise<ReadLog> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-stream-'));
  try {
    const path = join(folder, 'stream.jsonl');
    writeFileSync(path, text);
    return await readToEnd(await openClaudeStream(path));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const lines = (...messages: readonly object[]) =>
  messages.map((message) => `${JSON.stringify(message)}\n`).join('');

describe('a recorded stream', () => {
  it('becomes a dispatch with the outcome and the totals of its result; its deltas are not events', async () => {
    const { events, summary } = await readStream(lines(init, delta, said, status, status, done));
    expect(events.map(({ id, type }) => [id, type])).toEqual([
      ['i1', 'session:init'],
      ['a1', 'agent:text'],
      ['line-4', 'session:status'],
      ['line-5', 'session:status'],
      ['msg_1:inference', 'agent:inference'],
      ['r1', 'session:complete'],
    ]);
    expect(new Set(events.map((event) => event.timestamp))).toEqual(new Set([null, timestamp]));
    expect(summary).toMatchObject({
      status: 'completed',
      model: 'claude-test',
      lines: 6,
      counts: {},
    });
    expect(factsOf(events).costUsd).toBe(0.01);
  });

  it('that ends without a result is a running dispatch', async () => {
    const { events, summary } = await readStream(lines(init, said));
    expect(events.map(({ type }) => type)).toEqual(['session:init', 'agent:text']);
    expect(summary).toMatchObject({ status: 'running', counts: { no_result: 1 } });
  });

  it('cut anywhere, gives a prefix of the events of the whole', async () => {
    const text = lines(init, delta, said, status, { ...status, a: 1 }, said, done);
    const whole = (await readStream(text)).events;
    for (let end = text.indexOf('\n', text.indexOf(timestamp)); end < text.length; end += 3) {
      const { events } = await readStream(text.slice(0, end));
      expect(events, `${end} bytes`).toEqual(whole.slice(0, events.length));
    }
  });

  it('is distinguished from a transcript by its records', () => {
    expect(detectClaudeFormat(lines(init, said))).toBe('claude-stream');
    expect(
      detectClaudeFormat(
        lines({
          type: 'user',
          uuid: 'u',
          sessionId: 's',
          session_id: 's',
          parentUuid: null,
          message: { role: 'user', content: 'Hello' },
        }),
      ),
    ).toBe('claude-transcript');
    expect(detectClaudeFormat('// nothing\n')).toBeNull();
  });
});
