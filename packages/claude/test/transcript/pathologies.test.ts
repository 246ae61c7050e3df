import { describe, expect, it } from 'vitest';
import {
  answer,
  call,
  codesOf,
  lines,
  outcome,
  prompt,
  readTranscript,
  record,
  text,
  typesOf,
  uuid,
} from './transcripts.ts';

const first = prompt(1, 'one');
const second = prompt(2, 'two');
const textsOf = (events: readonly { data: { text?: unknown } }[]) =>
  events.map(({ data }) => data.text).filter((t) => t !== undefined);

describe('a damaged transcript', () => {
  it('gives both records of one line', async () => {
    const read = await readTranscript(`${JSON.stringify(first)}${JSON.stringify(second)}\n`);
    expect(read.events.map(({ id }) => id)).toEqual([uuid(1), uuid(2)]);
    expect(read.summary.counts).toEqual({ several_records: 1 });
  });

  it('holds back a truncated last line, and says where', async () => {
    const whole = lines(first, second);
    const read = await readTranscript(whole.slice(0, -20));
    expect(read.events.map(({ id }) => id)).toEqual([uuid(1)]);
    expect(read.summary.diagnostics).toMatchObject([{ code: 'unfinished', line: 2 }]);
  });

  it('gives the whole record after a truncated one on the same line, not one nested in the truncated one', async () => {
    const nested = { type: 'user', uuid: uuid(9), message: { role: 'user', content: 'nested' } };
    const stub = JSON.stringify(
      record(1, { type: 'progress', data: { type: 'agent_progress', message: nested } }),
    ).slice(0, -10);
    const read = await readTranscript(lines(stub + JSON.stringify(second)));
    expect(read.events.map(({ id, type }) => [id, type])).toEqual([
      ['line-1', 'system:notice'],
      [uuid(2), 'user:message'],
    ]);
    expect(read.summary.counts).toMatchObject({ not_json: 1 });
  });

  it('continues after NUL bytes', async () => {
    const read = await readTranscript(
      `${JSON.stringify(first)}\n${'\0'.repeat(9_000)}${JSON.stringify(second)}\n`,
    );
    expect(textsOf(read.events)).toEqual(['one', 'two']);
    expect(read.summary.diagnostics).toMatchObject([{ code: 'nul_bytes', line: 2 }]);
  });

  it('keeps records whose ids look like those given to other lines', async () => {
    const mode = { type: 'mode', mode: 'plan', sessionId: 'session-1' };
    const early = { ...prompt(1, 'early'), uuid: 'line-3' };
    const late = { ...prompt(2, 'late'), uuid: 'line-2' };
    const read = await readTranscript(lines(early, mode, mode, late, late));
    expect(read.events.map(({ id }) => id)).toEqual(['line-3', 'line-2', 'line-3.0', 'line-2:2']);
    expect(read.summary.counts).toMatchObject({ id_taken: 1, id_repeated: 1 });
  });

  it('keeps comment lines as notices', async () => {
    const read = await readTranscript(lines('// a comment', first));
    expect(read.events[0]).toMatchObject({ type: 'system:notice', data: { line: 1, raw: '// a comment' } });
    expect(read.summary.diagnostics).toMatchObject([{ code: 'not_json', line: 1 }]);
  });

  it('joins a string that was broken over lines', async () => {
    const broken = JSON.stringify(prompt(1, 'a\nb\nc')).replaceAll('\\n', '\n');
    const read = await readTranscript(lines(broken, second));
    expect(textsOf(read.events)).toEqual(['a\nb\nc', 'two']);
    expect(read.summary.diagnostics).toMatchObject([{ code: 'joined_lines', line: 1 }]);
  });

  it('does not join whole records to a broken string', async () => {
    const stub = JSON.stringify(first).slice(0, 60);
    const read = await readTranscript(lines(stub, second, prompt(3, 'three')));
    expect(textsOf(read.events)).toEqual(['two', 'three']);
    expect(read.summary.counts).toMatchObject({ not_json: 1 });
  });

  it.each([
    ['with a line end behind it', '\n'],
    ['without', ''],
  ])('reads pretty-printed JSON, %s', async (_how, end) => {
    const read = await readTranscript(JSON.stringify([first, second], null, 2) + end);
    expect(textsOf(read.events)).toEqual(['one', 'two']);
    expect(codesOf(read)).toEqual(['joined_lines']);
  });

  it('accepts byte order marks and CRLF, and reports them once', async () => {
    const read = await readTranscript(`\uFEFF${lines(first, second).replaceAll('\n', '\r\n')}`);
    expect(textsOf(read.events)).toEqual(['one', 'two']);
    expect(read.summary.counts).toEqual({ byte_order_mark: 1, crlf: 1 });
  });

  it('keeps lone surrogates unchanged', async () => {
    const read = await readTranscript(lines(prompt(1, 'half \ud83d')));
    expect(textsOf(read.events)).toEqual(['half \ud83d']);
    expect(read.summary.diagnostics).toMatchObject([{ code: 'lone_surrogate', line: 1 }]);
  });

  it('skips a line over 100 MB, and reads the rest', async () => {
    const long = Buffer.alloc(100 * 1024 * 1024 + 1, 'x');
    const read = await readTranscript(
      Buffer.concat([Buffer.from(lines(first)), long, Buffer.from(`\n${lines(second)}`)]),
    );
    expect(textsOf(read.events)).toEqual(['one', 'two']);
    expect(read.summary.diagnostics).toMatchObject([
      { code: 'too_long', line: 2, message: expect.stringContaining('104857601 bytes') },
    ]);
  });

  it('keeps values that nest too deep, and numbers that JSON can write but an event cannot hold', async () => {
    const deep = `{"type":"mode","sessionId":"s","a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    const read = await readTranscript(lines(first, deep, '{"type":"mode","sessionId":"s","a":1e999}'));
    expect(typesOf(read)).toEqual(['user:message', 'system:notice', 'system:notice']);
    expect(read.summary.counts).toMatchObject({ wrong_value: 2 });
  });

  it('refuses an empty file and a file without a record', async () => {
    await expect(readTranscript('')).rejects.toMatchObject({ code: 'FORMAT_EMPTY' });
    await expect(readTranscript('nothing\n')).rejects.toMatchObject({ code: 'FORMAT_NOT_JSONL' });
  });
});

describe('unusual records of a transcript', () => {
  it('keeps another message with the uuid of a record under ID:2, and an identical one once', async () => {
    const other = { ...first, message: { role: 'user', content: 'other' } };
    const read = await readTranscript(lines(first, other, first));
    expect(read.events.map(({ id }) => id)).toEqual([uuid(1), `${uuid(1)}:2`]);
    expect(textsOf(read.events)).toEqual(['one', 'other']);
    expect(read.summary.counts).toMatchObject({ id_taken: 1, id_repeated: 1 });
  });

  it('keeps a message once that another version wrote again in another folder', async () => {
    const said = answer(2, text('done'));
    const { type, message, ...around } = said;
    const again = { ...around, version: '2.1.40', cwd: '/other', type, message };
    const read = await readTranscript(lines(first, said, again, prompt(3, 'two')));
    expect(textsOf(read.events)).toEqual(['one', 'done', 'two']);
    expect(read.summary.counts).toEqual({ id_repeated: 1 });
  });

  it('keeps identical bookkeeping lines as events of their own, without the time of another line', async () => {
    const mode = { type: 'mode', mode: 'normal', sessionId: 'session-1' };
    const read = await readTranscript(lines(mode, first, mode, mode));
    expect(read.events.map(({ id }) => id)).toEqual(['line-1', uuid(1), 'line-3', 'line-4']);
    expect(read.events.map(({ timestamp }) => timestamp)).toEqual([
      null,
      '2026-03-01T09:30:01.000Z',
      null,
      null,
    ]);
  });

  const others = (count: number) => Array.from({ length: count }, (_, at) => prompt(at + 10, 'other'));

  it('distinguishes missing parents from parents that come much later, and accepts those that are a little late', async () => {
    const early = prompt(2, 'b', { parentUuid: uuid(3) });
    const parent = prompt(3, 'c', { parentUuid: uuid(8) });
    const first = prompt(9, 'a', { parentUuid: null });
    const late = await readTranscript(lines(first, early, ...others(20), parent));
    expect(late.summary.diagnostics).toMatchObject([
      { code: 'reference_ahead', line: 2 },
      { code: 'reference_missing', line: 23 },
    ]);
    const usual = await readTranscript(lines(first, early, ...others(19), parent));
    expect(usual.summary.counts).toEqual({ reference_missing: 1 });
  });

  it('does not take a messageId for a uuid', async () => {
    const snapshot = {
      type: 'file-history-snapshot',
      messageId: uuid(1),
      snapshot: {},
      isSnapshotUpdate: false,
    };
    const read = await readTranscript(lines(snapshot, first));
    expect(read.summary.counts).toEqual({});
    expect(read.events.map(({ id }) => id)).toEqual(['line-1', uuid(1)]);
  });

  it('keeps times that go back, and reports steps that no healthy session has', async () => {
    const late = (timestamp: string) => lines(second, prompt(3, 'late', { timestamp, parentUuid: uuid(2) }));
    const read = await readTranscript(late('2026-03-01T08:30:00.000Z'));
    expect(read.events[1]?.timestamp).toBe('2026-03-01T08:30:00.000Z');
    expect(read.summary.counts).toMatchObject({ time_goes_back: 1 });
    const usual = await readTranscript(late('2026-03-01T09:29:00.000Z'));
    expect(usual.events[1]?.timestamp).toBe('2026-03-01T09:29:00.000Z');
    expect(usual.summary.counts).not.toHaveProperty('time_goes_back');
  });

  it('reports each session of one file', async () => {
    const other = { sessionId: 'session-2' };
    const read = await readTranscript(lines(answer(1, text('a')), answer(2, text('b'), {}, other)));
    expect(
      read.events.filter(({ type }) => type === 'session:init').map(({ data }) => data.sessionId),
    ).toEqual(['session-1', 'session-2']);
    expect(read.summary.counts).toMatchObject({ session_changed: 1 });
  });

  it('counts all diagnostics and keeps the first twenty of each', async () => {
    const many = Array.from({ length: 50 }, (_, index) =>
      prompt(index + 1, 'x', { parentUuid: `gone-${index}` }),
    );
    const { summary } = await readTranscript(lines(...many));
    expect(summary.counts).toEqual({ reference_missing: 50 });
    expect(summary.diagnostics).toHaveLength(20);
  });

  it('reports a transcript without messages', async () => {
    const read = await readTranscript(
      lines({ type: 'summary', summary: 'About nothing', leafUuid: uuid(1) }),
    );
    expect(read.events).toMatchObject([{ type: 'system:summary', data: { summary: 'About nothing' } }]);
    expect(codesOf(read)).toEqual(['no_conversation', 'time_missing']);
  });

  it('does not report a logical parent that may be in the file of the session before', async () => {
    const boundary = record(1, {
      type: 'system',
      subtype: 'compact_boundary',
      parentUuid: null,
      logicalParentUuid: 'gone',
    });
    const summary = prompt(2, 'sum', { isCompactSummary: true });
    const read = await readTranscript(lines(boundary, summary, prompt(3, 'next')));
    expect(read.summary.counts).toEqual({});
    expect(read.events[0]?.data).toMatchObject({ logicalParentUuid: 'gone' });
  });

  it('does not link a compaction to a record without an event', async () => {
    const odd = 'é/1';
    const compaction = record(2, {
      type: 'system',
      subtype: 'compact_boundary',
      compactMetadata: { trigger: 'auto', preservedSegment: { headUuid: odd } },
    });
    const summary = prompt(3, 'sum', { isCompactSummary: true });
    const read = await readTranscript(lines({ ...first, uuid: odd }, compaction, summary));
    expect(read.events.at(-1)).toMatchObject({ type: 'session:compaction', cause: uuid(2) });
    expect(read.events.at(-1)?.data).not.toHaveProperty('keptFrom');
    expect(read.events.at(-2)?.data).toMatchObject({
      compactMetadata: { preservedSegment: { headUuid: odd } },
    });
  });

  it('keeps the usage of a message that two agents write, if the event belongs to the other one', async () => {
    const agent = { isSidechain: true, agentId: 'a1' };
    const later = { usage: { input_tokens: 3, output_tokens: 8 }, id: 'msg_a' };
    const read = await readTranscript(
      lines(
        answer(1, text('a'), { id: 'msg_a' }),
        answer(2, text('a'), { id: 'msg_a' }, agent),
        answer(3, text('b')),
        answer(4, text('c'), later, agent),
      ),
    );
    const last = read.events.find(({ data }) => data.text === 'c');
    expect(last?.data).toMatchObject({ details: { usage: later.usage } });
    expect(read.summary.counts).toMatchObject({ usage_again: 1 });
  });

  it('keeps a second result of a call, and reports it', async () => {
    const read = await readTranscript(
      lines(
        answer(1, call('toolu_1', 'Bash', { command: 'ls' })),
        outcome(2, 'toolu_1', 'out'),
        outcome(3, 'toolu_1', 'again'),
      ),
    );
    expect(read.summary.diagnostics.filter(({ code }) => code.startsWith('call'))).toMatchObject([
      { code: 'call_answered_twice', line: 3 },
    ]);
    expect(typesOf(read).filter((type) => type === 'agent:tool_result')).toHaveLength(2);
  });

  it('reports a result without a call, and a call that comes much later than its result', async () => {
    const result = outcome(1, 'toolu_1', 'out');
    const called = answer(2, { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} });
    const missing = await readTranscript(lines(result, ...others(1)));
    expect(missing.summary.diagnostics.map(({ code, line }) => [code, line])).toContainEqual([
      'call_missing',
      1,
    ]);
    const late = await readTranscript(lines(result, ...others(20), called));
    expect(late.summary.counts).toMatchObject({ reference_ahead: 1 });
    expect(late.summary.counts).not.toHaveProperty('call_missing');
    const usual = await readTranscript(lines(result, called, prompt(3, 'next')));
    expect(usual.summary.counts).toEqual({});
  });
});
