import { appendFileSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openClaudeTranscript } from '@hansard/claude';
import { openDispatchStore } from '@hansard/dispatch';
import { recordLog } from '@hansard/import';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';
import { put, uuid } from './import-files.ts';

interface Document {
  readonly file: string;
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly events: number;
  readonly added: number;
  readonly lines: number;
  readonly rewritten: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly error?: string;
}

function prompt(number: number, content: string, fields: object = {}): string {
  const timestamp = new Date(Date.parse('2026-03-01T09:30:00.000Z') + number * 1_000).toISOString();
  const message = { role: 'user', content };
  const base = {
    type: 'user',
    parentUuid: null,
    isSidechain: false,
    cwd: '/home/ann/house',
    sessionId: 'session-1',
  };
  return `${JSON.stringify({ ...base, message, uuid: uuid(number), timestamp, ...fields })}\n`;
}

async function importJson(line: CommandLine, ...args: string[]): Promise<Document[]> {
  return (await line.hansard('import', ...args, '--json')).json() as Document[];
}

describe('importing transcripts of Claude Code', () => {
  it('adds nothing the second time, and only what is new when the file has grown', async () => {
    using line = commandLine();
    const path = put(line, 's.jsonl', prompt(1, 'one') + prompt(2, 'two').slice(0, 50));
    expect(await importJson(line, path)).toMatchObject([{ events: 1, added: 1, counts: { unfinished: 1 } }]);
    expect(await importJson(line, path)).toMatchObject([{ unchanged: true, added: 0 }]);
    expect(await importJson(line, path, '--reread')).toMatchObject([{ events: 1, added: 0 }]);
    appendFileSync(path, prompt(2, 'two').slice(50) + prompt(3, 'three'));
    const [grown] = await importJson(line, path);
    expect(grown).toMatchObject({ events: 3, added: 2, lines: 3, taskDir: 'home-ann-house/tasks/session-1' });
    const events = await line.hansard('show', 'home-ann-house/session-1/latest', '--raw', '--json');
    const whole = put(line, 'other/s.jsonl', prompt(1, 'one') + prompt(2, 'two') + prompt(3, 'three'));
    await line.hansard('import', whole, '--task', 'a/b');
    expect((await line.hansard('show', 'a/b/latest', '--raw', '--json')).out).toBe(events.out);
  });

  it('keeps existing events when a file was rewritten, and adds the changed ones under other ids, once', async () => {
    using line = commandLine();
    const path = put(line, 's.jsonl', prompt(1, 'one') + prompt(2, 'two'));
    await line.hansard('import', path);
    writeFileSync(path, prompt(1, 'ONE') + prompt(2, 'two') + prompt(3, 'three'));
    expect(await importJson(line, path)).toMatchObject([{ added: 2, rewritten: 1 }]);
    expect(await importJson(line, path, '--reread')).toMatchObject([{ added: 0, rewritten: 1 }]);
    const rows = (await line.hansard('show', 'home-ann-house/session-1/latest', '--raw', '--json')).json();
    expect(rows).toMatchObject([
      { id: uuid(1) },
      { id: uuid(2) },
      { id: `${uuid(1)}:rewritten-2` },
      { id: uuid(3) },
    ]);
  });

  it('imports sub-agents once, with their session, where a shell names all files of a folder', async () => {
    using line = commandLine();
    const agent = (number: number, agentId: string, fields: object = {}) =>
      prompt(number, agentId, { isSidechain: true, agentId, ...fields });
    const files = [
      put(line, 'p/agent-x.jsonl', agent(2, 'x')),
      put(line, 'p/agent-y.jsonl', agent(3, 'y', { sessionId: 'session-2' })),
      put(line, 'p/session-1.jsonl', prompt(1, 'one')),
      put(line, 'p/session-2.jsonl', prompt(4, 'two', { sessionId: 'session-2' })),
    ];
    const named = await importJson(line, ...files);
    expect(named.map(({ taskDir, events }) => [taskDir, events])).toEqual([
      ['home-ann-house/tasks/session-1', 3],
      ['home-ann-house/tasks/session-2', 3],
    ]);
    const ofFolder = await importJson(line, 'p');
    expect(ofFolder.map(({ dispatchId, added }) => [dispatchId, added])).toEqual(
      named.map(({ dispatchId }) => [dispatchId, 0]),
    );
  });

  it('imports files as sessions that call themselves sub-agents, where they name each other', async () => {
    using line = commandLine();
    const named = (sessionId: string) => prompt(1, 'hello', { sessionId });
    put(line, 'p/agent-a.jsonl', named('agent-b'));
    put(line, 'p/agent-b.jsonl', named('agent-a'));
    put(line, 'p/agent-c.jsonl', named('agent-c'));
    expect(await importJson(line, 'p')).toMatchObject([{ events: 1 }, { events: 1 }, { events: 1 }]);
  });

  it('imports a whole projects folder: sub-agents with their session, by either layout', async () => {
    using line = commandLine();
    const side = { isSidechain: true };
    put(line, 'projects/-home-ann-house/session-1.jsonl', prompt(1, 'one'));
    put(
      line,
      'projects/-home-ann-house/session-1/subagents/agent-x.jsonl',
      prompt(5, 'x', { ...side, agentId: 'x' }),
    );
    put(line, 'projects/-home-ann-house/agent-y.jsonl', prompt(6, 'y', { ...side, agentId: 'y' }));
    put(line, 'projects/-home-ann-yard/session-2.jsonl', prompt(7, 'two', { sessionId: 'session-2' }));
    const documents = await importJson(line, 'projects');
    expect(documents.map(({ taskDir, events }) => [taskDir, events])).toEqual([
      ['home-ann-house/tasks/session-1', 5],
      ['home-ann-yard/tasks/session-2', 1],
    ]);
    expect(await importJson(line, 'projects/-home-ann-house/session-1', '--reread')).toMatchObject([
      { events: 5, added: 0 },
    ]);
  });

  it('imports the other files if one is unreadable, and reports it with its exit code', async () => {
    using line = commandLine();
    const good = put(line, 'good.jsonl', prompt(1, 'one'));
    const empty = put(line, 'empty.jsonl', '');
    const answer = await line.hansard('import', empty, join(line.cwd, 'none.jsonl'), good, '--json');
    expect(answer.code).toBe(1);
    const documents = answer.json() as Document[];
    expect(documents.filter(({ error }) => error !== undefined)).toHaveLength(2);
    expect(documents.find(({ file }) => file === good)).toMatchObject({ added: 1 });
    expect(answer.err).toContain('empty.jsonl is empty');
  });

  it('ends with 0 and a summary where a file has diagnostics', async () => {
    using line = commandLine();
    const path = put(line, 's.jsonl', `${prompt(1, 'one')}// comment\n`);
    const { code, out } = await line.hansard('import', path);
    expect(code).toBe(0);
    expect(out).toContain('lines: 2, events: 2 new, diagnostics: not_json 1');
  });

  it('stops after a batch when it is interrupted; another import completes it', async () => {
    using line = commandLine();
    const many = Array.from({ length: 2_000 }, (_, index) => prompt(index + 1, 'x'.repeat(500))).join('');
    const path = put(line, 's.jsonl', many);
    const stop = new AbortController();
    stop.abort();
    const { code, err } = await line.start(['import', path, '--task', 'a/b'], { signal: stop.signal });
    expect(code).toBe(1);
    expect(err).toContain('was interrupted');
    const [envelope] = (await line.hansard('ls', 'a/b', '--json')).json() as { status: string }[];
    expect(envelope?.status).toBe('aborted');
    await line.hansard('import', path, '--task', 'a/b', '--quiet-after', '9999999h');
    const rows = (await line.hansard('show', 'a/b/latest', '--raw', '--json')).json();
    expect(rows).toHaveLength(2_000);
    expect((await line.hansard('ls', 'a/b', '--json')).json()).toMatchObject([{ status: 'running' }]);
    for (const command of ['ls', 'tree', 'show'])
      expect((await line.hansard(command, 'a/b')).out, command).toContain('running when last seen');
    // Its records are months old.
    expect((await line.hansard('import', path, '--task', 'a/b')).out).toContain(
      ', ended as crashed: no record since',
    );
    expect((await line.hansard('ls', 'a/b', '--json')).json()).toMatchObject([{ status: 'crashed' }]);
  });

  it('keeps the first batch when it is interrupted after it; another import adds the rest', async () => {
    using line = commandLine();
    const many = Array.from({ length: 2_000 }, (_, index) => prompt(index + 1, 'x'.repeat(500))).join('');
    const path = put(line, 's.jsonl', many);
    await using store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
    const taskDir = 'a/tasks/b';
    const stop = new AbortController();
    const log = await openClaudeTranscript(path);
    const { dispatchId } = log;
    const onProgress = () => stop.abort();
    const now = () => Date.parse('2026-03-01T10:30:00.000Z');
    const first = await recordLog(store, taskDir, log, { signal: stop.signal, onProgress, now });
    const kept = await store.getDispatchEvents(taskDir, dispatchId);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThan(2_000);
    expect(first).toMatchObject({ added: kept.length });
    expect(await store.getDispatchEnvelope(taskDir, dispatchId)).toMatchObject({ status: 'aborted' });
    const second = await recordLog(store, taskDir, await openClaudeTranscript(path), { now });
    expect(second).toMatchObject({ added: 2_000 - kept.length });
    const all = await store.getDispatchEvents(taskDir, dispatchId);
    expect(all.slice(0, kept.length)).toEqual(kept);
    expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 2_000 }, (_, index) => uuid(index + 1)));
    const whole = await store.getDispatchEnvelope(taskDir, dispatchId);
    expect(whole).toMatchObject({ status: 'running', completedAt: null });
    await recordLog(store, taskDir, await openClaudeTranscript(path), { signal: AbortSignal.abort(), now });
    expect(await store.getDispatchEnvelope(taskDir, dispatchId)).toEqual(whole);
  });

  it('keeps the fidelity of a dispatch', async () => {
    using line = commandLine();
    const path = put(line, 's.jsonl', prompt(1, 'one'));
    expect((await line.hansard('import', path, '--fidelity', 'narrative')).code).toBe(0);
    expect(await importJson(line, path)).toMatchObject([{ added: 0 }]);
    const other = await line.hansard('import', path, '--fidelity', 'full');
    expect(other).toMatchObject({ code: 2 });
    expect(other.err).toContain('narrative');
  });
});

describe('importing at narrative fidelity', () => {
  const secret = 'CANARY of what a command printed';
  const message = (content: unknown) => ({ message: { role: 'user', content }, session_id: 's1' });
  const transcript =
    prompt(1, `<bash-stdout>${secret}</bash-stdout>`) +
    prompt(2, 'one', { toolUseResult: { stdout: secret } }) +
    prompt(3, 'two', { type: 'attachment', attachment: { type: 'hook_success', stderr: secret } }) +
    prompt(4, 'three', { type: 'system', subtype: 'local_command', content: secret });
  const stream = [
    { type: 'user', ...message(`<bash-stdout>${secret}</bash-stdout>`) },
    { type: 'user', ...message([{ type: 'tool_result', tool_use_id: 't', content: secret }]) },
    { type: 'system', subtype: 'hook_response', session_id: 's1', output: secret, stdout: secret },
    { type: 'system', subtype: 'local_command_output', session_id: 's1', content: secret },
  ];

  const call = { id: 'c1', function: { name: 'read', arguments: JSON.stringify({ content: secret }) } };
  const entry = { event_type: 'transcript_entry', agent_id: 'agent_root' };
  const session = [
    { event_type: 'agent_created', agent_id: 'agent_root', language_model: 'm' },
    { ...entry, role: 'user', content: 'Read it' },
    { ...entry, role: 'assistant', tool_calls: [call] },
    { ...entry, role: 'tool', tool_call_id: 'c1', content: secret },
    { ...entry, role: 'assistant', content: 'It is read.' },
  ];
  // The first dialect has no type on entries of a transcript.
  const ofFirstDialect = ({ event_type: type, ...rest }: { event_type: string }) =>
    type === 'agent_created' ? { event_type: type, name: 'Root', ...rest } : rest;
  const lines = (records: readonly object[]) => records.map((one) => `${JSON.stringify(one)}\n`).join('');

  it.each([
    ['a transcript', transcript],
    ['a stream', lines(stream.map((line, at) => ({ ...line, uuid: `u${at}` })))],
    ['a session log v2', lines(session.map((one, at) => ({ message_id: `msg_00${at}`, ...one })))],
    [
      'a session log v1',
      lines(session.map((one, at) => ({ message_id: `msg_00${at}`, ...ofFirstDialect(one) }))),
    ],
  ])('leaves no output of a command in any file of the store, from %s', async (_, text) => {
    using line = commandLine();
    const path = put(line, 's.jsonl', text);
    const bytesAfter = async (...options: string[]) => {
      const [imported] = await importJson(line, path, ...options);
      expect(imported).toMatchObject({ added: expect.any(Number) });
      const files = globSync('.projects/**/*', { cwd: line.cwd, withFileTypes: true });
      const whole = files.filter((file) => file.isFile());
      return whole.map((file) => readFileSync(join(file.parentPath, file.name), 'utf8')).join('\n');
    };
    const narrative = await bytesAfter('--task', 'a/narrative', '--fidelity', 'narrative');
    expect(narrative).toContain('"fidelity":"narrative"');
    expect(narrative).not.toContain(secret);
    expect(await bytesAfter('--task', 'a/narrative', '--reread')).not.toContain(secret);
    expect(await importJson(line, path, '--task', 'a/narrative', '--reread')).toMatchObject([{ added: 0 }]);
    expect(await bytesAfter('--task', 'a/full')).toContain(secret);
  });
});

describe('importing recorded streams', () => {
  it('gives one dispatch with its outcome, and nothing the second time', async () => {
    using line = commandLine();
    const path = demoStream('tools-and-thinking');
    const [first] = await importJson(line, path, '--task', 'a/b');
    expect(first).toMatchObject({ format: 'claude-stream' });
    expect(first?.added).toBe(first?.events);
    expect(await importJson(line, path, '--task', 'a/b')).toMatchObject([
      { added: 0, dispatchId: first?.dispatchId },
    ]);
    const [envelope] = (await line.hansard('ls', 'a/b', '--json')).json() as object[];
    expect(envelope).toMatchObject({ status: 'completed', cost: expect.any(Number) });
  });
});
