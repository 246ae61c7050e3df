import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';
import { writeScenario } from './market-scenario.ts';
import { envelopesOf, eventsOf } from './read-back.ts';

const model = 'anthropic/claude-sonnet-4-5-20250929';

/** A session of a teacher and a pupil, as programs of the specification write it. */
const records = {
  v2: [
    { message_id: 'msg_001', event_type: 'agent_created', agent_id: 'agent_root', language_model: model },
    entry('msg_002', 'agent_root', { role: 'user', content: 'Teach Mia to add.' }),
    entry('msg_003', 'agent_root', {
      role: 'assistant',
      tool_calls: [called('c1', 'task', { name: 'Mia' })],
    }),
    {
      message_id: 'msg_004',
      event_type: 'agent_created',
      agent_id: 'agent_002',
      cause: 'msg_003',
      name: 'Mia',
    },
    entry('msg_005', 'agent_root', { role: 'tool', tool_call_id: 'c1', content: 'Created subagent: Mia' }),
    entry('msg_006', 'agent_root', { role: 'assistant', content: 'Two and two, Mia?' }),
    entry('msg_007', 'agent_002', {
      role: 'user',
      content: '[Teacher]: Two and two, Mia?',
      substance: 'msg_006',
    }),
    entry('msg_020', 'agent_002', { role: 'assistant', content: 'Four!' }),
  ],
  v1: [
    { message_id: 'msg_001', event_type: 'agent_created', agent_id: 'agent_root' },
    { message_id: 'msg_002', agent_id: 'agent_root', role: 'user', content: 'Teach me.', source: 'external' },
    {
      message_id: 'msg_020',
      agent_id: 'agent_root',
      role: 'assistant',
      content: 'Gladly.',
      caused_by: 'msg_002',
    },
  ],
};

function entry(id: string, agent: string, rest: object) {
  return { message_id: id, event_type: 'transcript_entry', agent_id: agent, ...rest };
}

function called(id: string, name: string, input: object) {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

function withFile(format: keyof typeof records, name = 'lesson.jsonl') {
  const line = commandLine();
  const path = join(line.cwd, name);
  writeFileSync(path, records[format].map((record) => `${JSON.stringify(record)}\n`).join(''));
  writeScenario(line.cwd, 'more.yaml', {
    user: ['How did it go?'],
    agents: { root: [{ when: { contains: 'How did it go' }, say: 'She can add.', repeat: true }] },
  });
  return { line, path };
}

function evenMore(line: CommandLine): string {
  return writeScenario(line.cwd, 'even-more.yaml', {
    user: ['How did it go?', 'Once more?'],
    agents: { root: [{ when: { contains: 'Once more' }, say: 'Tomorrow.', repeat: true }] },
  });
}

async function exported(line: CommandLine, format: string): Promise<Record<string, unknown>[]> {
  return (await line.hansard('export', 'chat/lesson', '--as', `session-${format}`)).json() as never;
}

describe('chat --resume FILE', () => {
  it.each(['v1', 'v2'] as const)(
    'continues a session-%s log in a copy, says where, and leaves the file as it is',
    async (format) => {
      const { line, path } = withFile(format);
      using _ = line;
      const before = readFileSync(path);
      const { code, out, err } = await line.hansard('chat', 'more.yaml', '--resume', 'lesson.jsonl');
      expect({ code, err }).toMatchObject({ code: 0 });
      expect(out).toContain('She can add.');
      const [envelope] = await envelopesOf(line, 'chat/lesson');
      expect(err).toContain(`lesson.jsonl was copied to chat/lesson/${envelope?.dispatchId}`);
      expect(readFileSync(path)).toEqual(before);
      const events = await eventsOf(line, 'chat/lesson');
      expect(events.map(({ id }) => id).filter((id) => id.startsWith('msg_'))).toEqual(
        records[format].map(({ message_id: id }) => id),
      );
    },
  );

  it.each(['v1', 'v2'] as const)(
    'continues the message numbers of a session-%s log, the same in each export',
    async (format) => {
      const { line } = withFile(format);
      using _ = line;
      await line.hansard('chat', 'more.yaml', '--resume', 'lesson.jsonl');
      const first = await exported(line, format);
      const added = first.slice(records[format].length);
      expect(added.map(({ message_id: id, role, content }) => [id, role, content])).toEqual([
        ['msg_021', 'user', 'How did it go?'],
        ['msg_022', 'assistant', 'She can add.'],
      ]);
      expect(await exported(line, format)).toEqual(first);
      expect((await line.hansard('why', 'chat/lesson', 'msg_022')).out).toContain('How did it go?');
      expect((await line.hansard('why', 'chat/lesson', 'msg_023')).code).not.toBe(0);
      await line.hansard('chat', evenMore(line), '--resume', 'lesson.jsonl');
      expect((await exported(line, format)).slice(0, first.length)).toEqual(first);
    },
  );

  it('continues the same session when it is run again, also after an import under another task', async () => {
    const { line } = withFile('v2');
    using _ = line;
    await line.hansard('import', 'lesson.jsonl', '--task', 'school/lessons');
    const first = await line.hansard('chat', 'more.yaml', '--resume', 'lesson.jsonl');
    expect(first.err).toContain('was copied to school/lessons/');
    const events = await eventsOf(line, 'school/lessons');
    const again = await line.hansard('chat', '--resume', 'lesson.jsonl');
    expect(again.code).toBe(0);
    expect(again.err).toContain('before');
    expect(await eventsOf(line, 'school/lessons')).toEqual(events);
    expect(await envelopesOf(line, 'chat/lesson')).toEqual([]);
  });

  it('says what the session lacks of a file that has grown, and does not mix it in', async () => {
    const { line, path } = withFile('v2');
    using _ = line;
    await line.hansard('chat', 'more.yaml', '--resume', 'lesson.jsonl');
    const before = await exported(line, 'v2');
    appendFileSync(
      path,
      `${JSON.stringify(entry('msg_021', 'agent_002', { role: 'user', content: 'Three?' }))}\n`,
    );
    const { code, err } = await line.hansard('chat', evenMore(line), '--resume', 'lesson.jsonl');
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(err).toContain('1 of the given events, msg_021 first, are not in the session');
    const after = await exported(line, 'v2');
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.slice(before.length).map(({ content }) => content)).toEqual(['Once more?', 'Tomorrow.']);
  });

  it('says that a file has grown where there is nothing to answer, and changes nothing', async () => {
    const { line, path } = withFile('v2');
    using _ = line;
    await line.hansard('chat', 'more.yaml', '--resume', 'lesson.jsonl');
    const before = await eventsOf(line, 'chat/lesson');
    appendFileSync(
      path,
      `${JSON.stringify(entry('msg_021', 'agent_002', { role: 'user', content: 'Three?' }))}\n`,
    );
    const { code, err } = await line.hansard('chat', 'more.yaml', '--resume', 'lesson.jsonl');
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(err).toContain(
      'lesson.jsonl has grown since: 1 of its events, msg_021 first, are not in the session.',
    );
    expect(err).toContain('nothing to answer');
    expect(await eventsOf(line, 'chat/lesson')).toEqual(before);
    const copy = ['more.yaml', '--resume', 'lesson.jsonl', '--task', 'chat/lesson-2'];
    expect((await line.hansard('chat', ...copy)).code).toBe(0);
    expect((await eventsOf(line, 'chat/lesson-2')).map(({ id }) => id)).toContain('msg_021');
  });

  /** What the file has, and the words of the command after it. */
  const refusals: [string, readonly object[], string[], string][] = [
    [
      'creates no agent, as example 4 of the specification',
      [
        entry('msg_200', 'agent_watcher', { role: 'user', content: 'File changed: data.json' }),
        entry('msg_201', 'agent_watcher', { role: 'assistant', content: "I'll reload the data." }),
      ],
      ['more.yaml'],
      'creates no agent (agent_created)',
    ],
    ['names a model that nothing provides', records.v2, [], `no language model "${model}"`],
    [
      'is to have a model that nothing provides',
      records.v2,
      ['--model', 'nothing'],
      'no language model "nothing"',
    ],
    ['names no model', records.v1, [], 'The model of lesson.jsonl is not recorded'],
    ['is to have a scenario that does not exist', records.v2, ['none.yaml'], 'none.yaml'],
  ];
  it.each(refusals)('refuses a file that %s, before it copies it', async (_what, given, words, why) => {
    const { line, path } = withFile('v2');
    using _ = line;
    const text = given.map((record) => `${JSON.stringify(record)}\n`).join('');
    writeFileSync(path, text);
    const { code, err } = await line.hansard('chat', ...words, '--resume', 'lesson.jsonl');
    expect(code).not.toBe(0);
    expect(err).toContain(why);
    expect(err).not.toContain('was copied to');
    expect(err).not.toMatch(/\n\s+at .*node_modules/);
    expect((await line.hansard('ls', '--json')).out).toBe('');
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('reads a file that is cut in its last line, and says so', async () => {
    const { line, path } = withFile('v2');
    using _ = line;
    writeFileSync(path, readFileSync(path).subarray(0, -20));
    const { code, err } = await line.hansard('chat', 'more.yaml', '--resume', 'lesson.jsonl');
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(err).toContain('lesson.jsonl, line 8:');
    expect(await exported(line, 'v2')).toHaveLength(9);
  });

  it.each([
    ['is empty', ''],
    [
      'is of another product',
      `${JSON.stringify({ type: 'user', sessionId: 's1', message: { role: 'user', content: 'Hi' } })}\n`,
    ],
    ['is no log', 'Dear diary\n'],
  ])('refuses a file that %s, and records nothing', async (_what, text) => {
    const { line, path } = withFile('v2');
    using _ = line;
    writeFileSync(path, text);
    const { code, err } = await line.hansard('chat', 'more.yaml', '--resume', 'lesson.jsonl');
    expect(code).not.toBe(0);
    expect(err).toContain('lesson.jsonl is');
    expect(err).not.toMatch(/\n\s+at .*node_modules/);
    expect((await line.hansard('ls', '--json')).out).toBe('');
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('takes --task for a file, and refuses it for a session', async () => {
    const { line } = withFile('v2');
    using _ = line;
    const named = await line.hansard(
      'chat',
      'more.yaml',
      '--resume',
      'lesson.jsonl',
      '--task',
      'school/first',
    );
    expect(named.err).toContain('was copied to school/first/');
    const refused = await line.hansard('chat', '--resume', 'school/first', '--task', 'school/second');
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.err).toContain('--task is for a new session');
  });

  it('is refused while another process continues it', async () => {
    const { line } = withFile('v2');
    using _ = line;
    const gate = Promise.withResolvers<void>();
    const stop = new AbortController();
    const first = line.start(['chat', 'more.yaml', '--resume', 'lesson.jsonl', '-i'], {
      signal: stop.signal,
      onOutput: (text) => text.includes('She can add.') && gate.resolve(),
    });
    await gate.promise;
    const second = await line.process('chat', 'more.yaml', '--resume', 'lesson.jsonl', '-i');
    expect(second.code).not.toBe(0);
    expect(second.err).toMatch(/STORE_LOCKED: .* process \d+/);
    expect(second.err).toContain('End it there first: /end or Ctrl-C in its terminal');
    expect(second.err).not.toMatch(/openDispatch|\{ write: true \}|your own process/);
    stop.abort();
    await first;
  });
});
