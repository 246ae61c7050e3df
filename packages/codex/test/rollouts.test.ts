import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { CapturedEvent } from '@hansard/events';
import { expect, it } from 'vitest';
import { openCodexRollout } from '../src/index.ts';

const at = (second: number) => `2026-03-01T09:30:${String(second).padStart(2, '0')}.000Z`;
const record = (second: number, type: string, payload: object) => ({
  timestamp: at(second),
  type,
  payload,
});
const meta = (more: object = {}) => record(0, 'session_meta', { id: 't-1', cwd: '/srv', ...more });
const item = (second: number, payload: object) => record(second, 'response_item', payload);
const event = (second: number, payload: object) => record(second, 'event_msg', payload);
const user = (second: number, text: string) =>
  item(second, { type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const said = (second: number, text: string) =>
  item(second, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
const counted = (second: number, total: number, last: number) => {
  const usage = (input_tokens: number) => ({ input_tokens, cached_input_tokens: 10, output_tokens: 5 });
  const info = { total_token_usage: usage(total), last_token_usage: usage(last) };
  return event(second, { type: 'token_count', info });
};

async function readBytes(bytes: Buffer | string, name = 'rollout-2026-03-01T09-30-00-t-1.jsonl') {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-codex-'));
  try {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    const log = await openCodexRollout(path);
    const events: CapturedEvent[] = [];
    for await (const batch of log.read()) events.push(...batch);
    return { log, events, summary: log.summary() };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const linesOf = (records: readonly object[]) => records.map((one) => `${JSON.stringify(one)}\n`).join('');
const read = (...records: readonly object[]) => readBytes(linesOf(records));
const ofType = (events: readonly CapturedEvent[], type: string) => events.filter((one) => one.type === type);

it('a prompt is from a person only if its twin follows', async () => {
  const { events, summary } = await read(
    meta(),
    user(1, '<environment_context>'),
    user(2, 'Hello'),
    event(2, { type: 'user_message', message: 'Hello', images: [] }),
    said(3, 'Hi'),
  );
  expect(ofType(events, 'user:message').map(({ data }) => data)).toEqual([
    { text: '<environment_context>', source: { kind: 'system' } },
    { text: 'Hello', source: { kind: 'user' } },
  ]);
  expect(summary.balance.records).toEqual({ in: 5, recorded: 4, leftOut: { twin: 1 } });
});

it('a prompt at the end of a file waits for the next record', async () => {
  const { events, summary } = await read(meta(), user(1, 'Hello'));
  expect(ofType(events, 'user:message')).toEqual([]);
  expect(summary.balance.records.leftOut).toEqual({ unfinished: 1 });
});

it('what only a twin has is kept beside its item', async () => {
  const { events } = await read(
    meta(),
    event(1, { type: 'agent_message', message: 'Done', phase: 'final_answer', memory_citation: { id: 'm' } }),
    said(2, 'Done'),
    event(3, { type: 'agent_message', message: 'No item has this' }),
    user(4, 'Hi'),
  );
  expect(events.slice(1).map(({ id, type, data, cause }) => ({ id, type, data, cause }))).toEqual([
    { id: 'line-2', type: 'system:agent_message', data: { memory_citation: { id: 'm' } }, cause: 'line-3' },
    { id: 'line-3', type: 'agent:text', data: { text: 'Done' }, cause: undefined },
    { id: 'line-4', type: 'system:agent_message', data: { message: 'No item has this' }, cause: undefined },
  ]);
});

it('a failed command is an error by its exit code, and an output alone says nothing', async () => {
  const call = (call_id: string) =>
    item(1, { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"false"}', call_id });
  const output = (call_id: string) =>
    item(3, { type: 'function_call_output', call_id, output: 'Process exited with code 1' });
  const end = { exit_code: 1, duration: { secs: 2, nanos: 500_000_000 }, aggregated_output: '', stdout: '' };
  const { events } = await read(
    meta(),
    call('c1'),
    event(2, { type: 'exec_command_end', call_id: 'c1', ...end }),
    output('c1'),
    call('c2'),
    output('c2'),
  );
  expect(ofType(events, 'agent:tool_result').map(({ data }) => data)).toMatchObject([
    { status: 'error', error: 'The command exited with 1.', durationMs: 2_500, metadata: { exitCode: 1 } },
    { status: 'completed', metadata: {} },
  ]);
  expect(ofType(events, 'system:exec_command_end')[0]).toMatchObject({ cause: 'line-2' });
});

it('an output can be a list, an input can be plain text, and a patch names the files that it added', async () => {
  const output = [{ type: 'input_text', text: 'ok' }];
  const changes = {
    '/srv/a.txt': { type: 'add', content: 'a\n' },
    '/srv/b.txt': { type: 'delete', content: 'b\n' },
  };
  const { events } = await read(
    meta(),
    item(1, {
      type: 'custom_tool_call',
      call_id: 'c1',
      name: 'apply_patch',
      input: '*** Add File: /srv/a.txt',
    }),
    event(2, { type: 'patch_apply_end', call_id: 'c1', success: true, changes }),
    item(3, { type: 'custom_tool_call_output', call_id: 'c1', output }),
  );
  expect(ofType(events, 'agent:tool_call')[0]?.data).toMatchObject({
    tool: 'apply_patch',
    target: '/srv/a.txt',
    input: '*** Add File: /srv/a.txt',
  });
  expect(ofType(events, 'agent:tool_result')[0]?.data).toMatchObject({
    output,
    changes: [
      { path: '/srv/a.txt', before: null, after: 'a\n' },
      { path: '/srv/b.txt', before: 'b\n', after: null },
    ],
  });
});

it('a call that only wrote to a cache counts', async () => {
  const usage = { input_tokens: 50, cache_write_input_tokens: 50, output_tokens: 0 };
  const info = { total_token_usage: usage, last_token_usage: usage };
  const { events } = await read(meta(), event(1, { type: 'token_count', info }));
  expect(ofType(events, 'agent:inference').map(({ data }) => data.usage)).toEqual([
    { inputTokens: 0, outputTokens: 0, cacheWriteTokens: 50 },
  ]);
});

it('a usage counts once, also after totals that go down, and belongs to its answer', async () => {
  const { events } = await read(
    meta(),
    record(1, 'turn_context', { model: 'gpt-5.5' }),
    said(2, 'One'),
    counted(3, 100, 100),
    counted(4, 100, 100),
    said(5, 'Two'),
    counted(6, 40, 40),
  );
  const calls = ofType(events, 'agent:inference');
  const usage = { outputTokens: 5, cacheReadTokens: 10 };
  const answers = ofType(events, 'agent:text').map(({ messageId }) => messageId);
  expect(new Set(answers).size).toBe(2);
  expect(calls.map(({ messageId, data }) => ({ messageId, model: data.model, usage: data.usage }))).toEqual([
    { messageId: answers[0], model: 'gpt-5.5', usage: { inputTokens: 90, ...usage } },
    { messageId: answers[1], model: 'gpt-5.5', usage: { inputTokens: 30, ...usage } },
  ]);
  expect(ofType(events, 'system:token_count')).toHaveLength(1);
});

it('a usage record counts, and token counts beside it do not', async () => {
  const usage = { input_tokens: 100, cached_input_tokens: 0, output_tokens: 5 };
  const { events } = await read(
    meta(),
    record(1, 'token_usage_record', { response_id: 'r1', usage, thread_token_usage: usage }),
    counted(2, 100, 100),
    record(3, 'token_usage_record', { response_id: 'r1', usage, thread_token_usage: usage }),
  );
  expect(ofType(events, 'agent:inference')).toHaveLength(1);
});

it('a fork that refers to its origin does not count the usage that the origin has', async () => {
  const history_base = { thread_id: 't-0', end_ordinal_exclusive: 46 };
  const { events } = await read(meta({ forked_from_id: 't-0', history_base }), counted(1, 100, 100));
  expect(ofType(events, 'agent:inference')).toEqual([]);
  expect(ofType(events, 'session:fork')[0]?.data).toMatchObject({
    from: { product: 'codex', sessionId: 't-0' },
    through: 'ordinal:45',
  });
});

it('a second session_meta is the same thread, resumed or with a copied head', async () => {
  const instructions = { base_instructions: { text: 'Be brief.' } };
  const resumed = await read(meta(instructions), meta(instructions), said(1, 'Hi'));
  expect(resumed.log.threadId).toBe('t-1');
  expect(ofType(resumed.events, 'agent:system_prompt')).toHaveLength(1);
  expect(ofType(resumed.events, 'system:session_meta')[1]?.data.base_instructions).toEqual({
    event: 'line-1.1',
  });
  const child = await read(meta({ forked_from_id: 't-0' }), meta({ id: 't-0' }));
  expect([child.log.threadId, child.summary.counts]).toEqual(['t-1', {}]);
  const other = await read(meta(), meta({ id: 't-9' }));
  expect(other.summary.counts).toEqual({ session_changed: 1 });
});

it('a file without session_meta is read, and says that its thread is not known', async () => {
  const { log, events, summary } = await read(said(1, 'Hi'));
  expect([log.threadId, events.length, summary.counts]).toEqual([null, 1, { id_missing: 1 }]);
});

it('two records on one line, and a U+0000, are read', async () => {
  const { events } = await readBytes(
    `${JSON.stringify(meta())}${JSON.stringify(said(1, 'a\u0000b'))}\n${JSON.stringify(said(2, 'c'))}\n`,
  );
  expect(ofType(events, 'agent:text').map(({ id, data }) => [id, data.text])).toEqual([
    ['line-1:2', 'a\u0000b'],
    ['line-2', 'c'],
  ]);
});

it('encrypted reasoning is a marker, and its bytes are accounted for', async () => {
  const { events, summary } = await read(
    meta(),
    item(1, { type: 'reasoning', summary: [], encrypted_content: 'x'.repeat(500) }),
  );
  expect(ofType(events, 'agent:thinking')[0]?.data).toEqual({
    text: '',
    details: { encrypted: { characters: 500 } },
  });
  expect(summary.balance.bytes.leftOut).toEqual({ encrypted: 500 });
});

it('a compaction names the messages that the thread has, and keeps the others', async () => {
  const prompt = user(1, 'Hello');
  const replacement_history = [prompt.payload, { type: 'compaction', encrypted_content: 'x' }];
  const { events } = await read(
    meta(),
    prompt,
    event(1, { type: 'user_message', message: 'Hello' }),
    record(2, 'compacted', { message: '', replacement_history }),
  );
  expect(ofType(events, 'system:compacted')[0]?.data.replacement_history).toEqual([
    { event: 'line-2' },
    { type: 'compaction', encrypted_content: 'x' },
  ]);
  expect(ofType(events, 'session:compaction')[0]).toMatchObject({
    cause: 'line-4',
    data: { trigger: 'unknown' },
  });
});

it('the task of a sub-agent is from the agent that created it', async () => {
  const source = { subagent: { thread_spawn: { parent_thread_id: 't-0', agent_path: '/root/counter' } } };
  const { log, events } = await read(
    meta({ source }),
    user(1, 'Count'),
    event(1, { type: 'user_message', message: 'Count' }),
    item(2, { type: 'agent_message', author: '/root', content: [{ type: 'input_text', text: 'And again' }] }),
  );
  const agent = { kind: 'agent', dispatchId: log.parentDispatchId };
  expect(ofType(events, 'user:message').map(({ data }) => [data.text, data.source])).toEqual([
    ['Count', agent],
    ['And again', agent],
  ]);
});

it.each([
  ['task_complete', { type: 'task_complete', last_agent_message: 'Done' }, 'completed'],
  ['a failure', { type: 'task_complete', error: { message: 'No model' } }, 'crashed'],
  ['turn_aborted', { type: 'turn_aborted', reason: 'interrupted' }, 'aborted'],
  ['an open turn', { type: 'task_started', turn_id: 'x' }, 'running'],
])('the status is that of the last turn: %s', async (_, payload, status) => {
  const { summary } = await read(meta(), event(1, { type: 'task_started', turn_id: 'a' }), event(2, payload));
  expect(summary.status).toBe(status);
});

it.each([
  ['gzip', gzipSync],
  ['Zstandard', zstdCompressSync],
])('a file that is compressed with %s gives the same events', async (_, pack) => {
  const text = linesOf([meta(), said(1, 'Hi')]);
  const plain = await readBytes(text);
  expect((await readBytes(pack(Buffer.from(text)))).events).toEqual(plain.events);
});

/** A thread with what a later record can depend on: a prompt, a call, a repeated count, a compaction, an unfinished line. */
const wholeThread = linesOf([
  meta({ base_instructions: { text: 'You are an agent.' } }),
  event(1, { type: 'task_started', turn_id: 'turn-1' }),
  record(1, 'turn_context', { turn_id: 'turn-1', model: 'gpt-5.5' }),
  user(2, 'Hello'),
  event(2, { type: 'user_message', message: 'Hello' }),
  event(3, { type: 'agent_message', message: 'Hi é' }),
  said(3, 'Hi é'),
  item(4, { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: 'c1' }),
  counted(4, 100, 100),
  event(5, { type: 'exec_command_end', call_id: 'c1', exit_code: 3, aggregated_output: 'a' }),
  record(5, 'a_new_kind', { note: 'not known' }),
  item(6, { type: 'function_call_output', call_id: 'c1', output: 'a' }),
  counted(6, 100, 100),
  record(7, 'compacted', { message: 'Summary', replacement_history: [user(2, 'Hello').payload] }),
  user(8, 'More'),
  said(9, 'Yes'),
  counted(9, 200, 100),
  event(10, { type: 'task_complete', turn_id: 'turn-1', last_agent_message: 'Yes' }),
]);

/** Reads the start of a thread, and then the rest of what it has become. */
async function readGrown(start: Buffer | string, grown: Buffer | string) {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-codex-'));
  try {
    const path = join(folder, 'rollout-2026-03-01T09-30-00-t-1.jsonl');
    writeFileSync(path, start);
    const first = await openCodexRollout(path);
    let before = 0;
    for await (const batch of first.read()) before += batch.length;
    const { kept, counts } = first.summary();
    writeFileSync(path, grown);
    const rest = (await openCodexRollout(path)).continueAfter(JSON.parse(JSON.stringify(kept)));
    expect(rest?.summary().events).toBe(before);
    const events: CapturedEvent[] = [];
    for await (const batch of rest?.read() ?? []) events.push(...batch);
    return { before, counts, events, isLost: rest?.isLost(), summary: rest?.summary() };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('a thread that has grown gives only its new events, cut at any place', async () => {
  const bytes = Buffer.from(`${wholeThread}{"timestamp":"${at(11)}","type":"event_msg"`);
  const whole = await readBytes(bytes);
  const firstLine = bytes.indexOf('\n') + 1;
  for (let cut = firstLine; cut <= bytes.length; cut += cut < bytes.length - 40 ? 29 : 1) {
    const { before, counts, events, isLost, summary } = await readGrown(bytes.subarray(0, cut), bytes);
    expect({ cut, isLost, events }).toEqual({ cut, isLost: false, events: whole.events.slice(before) });
    const { diagnostics: _, counts: newCounts = {}, ...rest }: Partial<typeof whole.summary> = summary ?? {};
    const { diagnostics: __, counts: all, ...expected } = whole.summary;
    expect(rest).toEqual(expected);
    expect((counts.unknown_kind ?? 0) + (newCounts.unknown_kind ?? 0)).toBe(all.unknown_kind);
  }
});

it.each([
  ['has another text', (text: string) => text.replace('Hello', 'Hullo')],
  [
    'has another record that has no event',
    (text: string) => text.replace('"message":"Hi é"', '"message":"Hi e"'),
  ],
  ['has a record less', (text: string) => text.split('\n').slice(0, 4).join('\n')],
  ['has a line more at its start', (text: string) => text.replace('\n', '\n\n')],
])('a thread that %s is not continued', async (_, change) => {
  const { events, isLost } = await readGrown(wholeThread, `${change(wholeThread)}`);
  expect({ isLost, events }).toEqual({ isLost: true, events: [] });
});

it('a thread that another version of the mapping read is not continued', async () => {
  const { log } = await readBytes(wholeThread);
  expect(log.continueAfter({ version: 0, records: 1, events: 1, checksum: 0 })).toBeNull();
});

it('a batch has at most 256 KB of records and the record after them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-codex-'));
  try {
    const path = join(folder, 'rollout-2026-03-01T09-30-00-t-1.jsonl');
    writeFileSync(path, linesOf([meta(), ...Array.from({ length: 20 }, () => said(1, 'a'.repeat(100_000)))]));
    const sizes: number[] = [];
    for await (const batch of (await openCodexRollout(path)).read()) sizes.push(JSON.stringify(batch).length);
    expect(Math.max(...sizes)).toBeLessThan(400_000);
    expect(sizes.length).toBeGreaterThan(5);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('the updates of a patch are with its result, once', async () => {
  const update = { type: 'update', unified_diff: '@@ -1 +1 @@\n-a\n+b\n', move_path: null };
  const changes = { 'a.txt': update, 'b.txt': { type: 'add', content: 'new' } };
  const output = item(3, { type: 'custom_tool_call_output', call_id: 'c1', output: 'Done' });
  const { events } = await read(
    meta(),
    item(1, { type: 'custom_tool_call', name: 'apply_patch', call_id: 'c1', input: '*** Begin Patch' }),
    event(2, { type: 'patch_apply_end', call_id: 'c1', success: true, changes }),
    output,
    output,
  );
  expect(ofType(events, 'agent:tool_result').map(({ data }) => [data.changes, data.details])).toEqual([
    [[{ path: 'b.txt', before: null, after: 'new' }], { changes: { 'a.txt': update } }],
    [undefined, undefined],
  ]);
});
