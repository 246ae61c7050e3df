import type { CapturedEvent, EventData, JsonObject, JsonValue } from '@hansard/events';
import { anyEvent, event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { columnsOf, renderRow, rowsOf } from '../../src/index.ts';
import type { RenderRowOptions } from '../../src/rows/render-row.ts';
import { wrapColumns } from '../../src/text/columns.ts';

function call(toolCallId: string, tool: string, input: JsonValue, target?: string): CapturedEvent {
  const aim = target === undefined ? {} : { target };
  return event('agent:tool_call', { toolCallId, tool, metadata: {}, input, ...aim });
}

function result(toolCallId: string, fields: Partial<EventData<'agent:tool_result'>> = {}): CapturedEvent {
  const base = { toolCallId, tool: 'Bash', status: 'completed', durationMs: 45, metadata: {} } as const;
  return event('agent:tool_result', { ...base, ...fields });
}

function show(events: readonly CapturedEvent[], options: RenderRowOptions = {}): string {
  return `\n${rowsOf(events)
    .map((row) => renderRow(row, options))
    .join('\n')}\n`;
}

describe('renderRow', () => {
  it.each([
    ['the whole error', 'exit code 1\n2 tests failed', 'exit code 1\n2 tests failed'],
    ['the beginning of the output', 'exit code 1', 'exit code 1\n2 tests failed'],
    ['the beginning of the output, cut', 'exit co…', 'exit code 1\n2 tests failed'],
  ])('shows once an error that is %s', (_, error, output) => {
    const text = show([call('t1', 'Bash', {}), result('t1', { status: 'error', error, output })]);
    expect(text.match(/exit co/g)).toHaveLength(1);
    expect(text).toContain('2 tests failed');
  });

  it('shows an error that the output does not begin with beside the output', () => {
    const fields = { status: 'error', error: 'killed', output: 'exit code 1' } as const;
    const text = show([call('t1', 'Bash', {}), result('t1', fields)]);
    expect(text).toContain('→ killed\n                  exit code 1');
  });

  it('names the stored bytes of a message as attached files, and counts other records by name', () => {
    const content = (id: string) => ({
      ...anyEvent('content:stored', { sha256: id.repeat(64), size: 70 }),
      id: id.repeat(64),
      timestamp: null,
    });
    const message = event('user:message', { text: 'What is it?', source: { kind: 'user' } });
    expect(show([content('a'), content('b'), message])).toContain('▸ 2 attached files\n');
    expect(show([content('a'), anyEvent('session:status', { status: 'x' }), message])).toContain(
      '▸ 2 harness records: content, status\n',
    );
  });

  it('names the kinds of records by what the engine calls them, and counts the rare ones together', () => {
    const record = (word: string) => anyEvent(`system:${word}`, {});
    const state = (kind: string) => anyEvent('session:status', { kind, value: 'x' });
    const some = [record('last_prompt'), state('permission-mode'), state('permission-mode')];
    expect(show(some)).toContain('▸ 3 harness records: last prompt, permission mode ×2\n');
    expect(show(some.slice(1), { full: true })).toContain('permission mode value x\n');
    const many = ['a', 'b', 'c', 'd', 'e', 'f'].map(record);
    expect(show(many)).toContain('▸ 6 harness records: a, b, c, d, 2 of other kinds\n');
  });

  it('shows the records of a call below it, also where they have ids of their own', () => {
    const progress = (fields: JsonObject) => anyEvent('system:tool_progress', fields);
    const text = show([
      call('t1', 'Bash', {}, 'make'),
      call('t2', 'Bash', {}, 'make test'),
      progress({ toolUseID: 'bash-progress-0', parentToolUseID: 't1' }),
      progress({ call_id: 't1' }),
      progress({ tool_use_id: 't2', parent_tool_use_id: 't1' }),
    ]);
    expect(text).toContain('Bash make  open  ▸ 2 engine records: tool progress\n');
    expect(text).toContain('Bash make test  open  ▸ 1 engine record: tool progress\n');
  });

  it('shows of a result without an output the facts that its call does not have', () => {
    const metadata = { description: 'Build', command: 'make all' };
    const text = show([
      event('agent:tool_call', { toolCallId: 't1', tool: 'Bash', metadata, target: 'make all' }),
      result('t1', { metadata: { ...metadata, exitCode: 0 }, target: 'make all' }),
    ]);
    expect(text).toContain('→ exitCode 0\n');
    expect(text.match(/Build/g)).toHaveLength(1);
  });

  it('says which tools and parameters a model was given, cut to a line, and without dashes for a time', () => {
    const request = (id: string, data: EventData<'request:stored'>) => ({
      ...anyEvent('request:stored', data),
      id: id.repeat(64),
      timestamp: null,
    });
    const tools = request('a', { tools: [{ name: 'Bash' }, { name: 'Read' }] });
    expect(show([tools])).toBe('\n   0            harness  ▸ given to the model: 2 tools: Bash, Read\n');
    const parameters = request('b', { parameters: { temperature: 0.2 } });
    expect(show([tools, parameters])).toContain('▸ given to the model: 2 tools: Bash, Read, temperature 0.2');
    const many = request('c', { tools: Array.from({ length: 40 }, (_, at) => ({ name: `Tool${at}` })) });
    expect(show([many])).toMatch(/▸ given to the model: 40 tools: Tool0, .{1,25}…\n$/);
    expect(show([many], { full: true })).toContain('Tool39');
    const content = { ...anyEvent('content:stored', { sha256: 'd', size: 70 }), timestamp: null };
    expect(show([content, tools])).toContain('▸ 1 attached file, given to the model: 2 tools: Bash, Read');
  });

  it('shows an edit as a difference, a command and a prompt whole, and a result below its call', () => {
    const edit = {
      file_path: 'src/schedule.ts',
      old_string: "cron: '0 15',\nzone: 'UTC',",
      new_string: "cron: '0 3',\nzone: 'UTC',",
    };
    const text = show([
      event('user:message', { text: 'Move it to the night.', source: { kind: 'user' } }),
      event('agent:thinking', { text: 'The schedule first.' }, { messageId: 'm1' }),
      event('agent:text', { text: 'I will move it.' }, { messageId: 'm1' }),
      call('t1', 'Edit', edit, 'src/schedule.ts'),
      result('t1', { output: 'done' }),
      call('t2', 'Bash', { command: 'npm test \\\n  -- schedule' }, 'npm test \\\n  -- schedule'),
      anyEvent('session:status', { status: 'requesting' }),
      anyEvent('system:hook_started', { hook: 'lint' }),
      result('t2', { status: 'error', error: 'expected 15,\nreceived 3' }),
      event('agent:text', { text: 'It failed.' }),
    ]);
    expect(text).toBe(`
   0  09:30:00  message  from user  Move it to the night.
   1  09:30:00  thinking  The schedule first.
   2  09:30:00  text  I will move it.
   3  09:30:00  call  Edit src/schedule.ts  45ms
                - cron: '0 15',
                + cron: '0 3',
                  zone: 'UTC',
                → done
   5  09:30:00  call  Bash  ✗ error 45ms
                command:
                npm test \\
                  -- schedule
                → expected 15,
                  received 3
   6  09:30:00  harness  ▸ 2 harness records: status, hook
   9  09:30:00  text  It failed.
`);
  });

  it('shows who heard an utterance, in other words too, and who did not', () => {
    const from = { kind: 'agent', agentId: 'ann' } as const;
    const text = show([
      ...['ann', 'ben', 'cleo', 'dan'].map((agentId) =>
        event('agent:created', { name: agentId }, { agentId }),
      ),
      event('agent:text', { text: 'The code is 4711.' }, { agentId: 'ann', id: 'said' }),
      event(
        'user:message',
        { text: 'The code is 4711.', source: from },
        { agentId: 'ben', substance: 'said' },
      ),
      event(
        'user:message',
        { text: 'The code is secret.', source: from },
        { agentId: 'cleo', substance: 'said' },
      ),
    ]).split('\n');
    expect(text.slice(5, -1)).toEqual([
      '   4  09:30:00  ann  text',
      '                The code is 4711.',
      '                ⇢ heard by ben; heard by cleo, altered; not heard by dan',
      '                  cleo received: The code is secret.',
    ]);
  });

  it('cuts a long result and says how to see all of it', () => {
    const output = Array.from({ length: 50 }, (_, at) => `line ${at + 1}`).join('\n');
    const events = [call('t1', 'Bash', { command: 'seq 50' }, 'seq 50'), result('t1', { output })];
    const cut = show(events, { hint: '--full shows all' });
    expect(cut).toMatch(/ {2}line 20\n +… 30 more lines; --full shows all\n$/);
    expect(show(events, { full: true })).toMatch(/ {2}line 50\n$/);
  });

  it('lists the records of a run of noise in full', () => {
    const text = show([anyEvent('system:hook_started', { hook: 'lint' })], { full: true });
    expect(text).toContain('▾ 1 harness record: hook\n                  0  hook started hook lint\n');
  });

  it.each([24, 40, 80, 140])('keeps every line within %d columns, and loses no word', (width) => {
    const long = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');
    const events = [
      event('agent:text', { text: `${long}\n${'漢字'.repeat(80)}\n${'x'.repeat(200)}` }),
      call('t1', 'Bash', { command: long, file_path: `/${'folder/'.repeat(30)}` }, long),
      result('t1', { output: long, status: 'error' }),
    ];
    const text = show(events, { width, full: true });
    for (const line of text.split('\n')) expect(columnsOf(line)).toBeLessThanOrEqual(width);
    for (let at = 0; at < 60; at += 1) expect(text.match(new RegExp(`word${at}\\b`, 'g'))).toHaveLength(3);
    expect(text.replaceAll(/\s/g, '')).toContain('x'.repeat(200));
  });

  it('prints no control character of any field, with or without colours', () => {
    const hostile = '\x1b[2J\u202e\r\x9b';
    const text = show(
      [
        event('agent:created', { name: hostile }, { agentId: 'a1' }),
        event('agent:text', { text: hostile }, { agentId: 'a1', id: 'said' }),
        event('user:message', { text: 'x', source: { kind: 'agent', agentId: 'a1' } }, { substance: 'said' }),
        call(
          't1',
          hostile,
          { [hostile]: hostile, deep: [hostile], old_string: hostile, new_string: 'a' },
          hostile,
        ),
        result('t1', { error: hostile, status: 'error', output: [{ type: hostile }] }),
        anyEvent('game:vote', { [hostile]: hostile }),
        anyEvent('system:hook_started', { [hostile]: hostile }),
      ],
      { full: true, paint: (_, painted) => painted },
    );
    for (const control of ['\x1b', '\u202e', '\r', '\x9b']) expect(text).not.toContain(control);
    expect(text).toContain('␛[2J');
  });

  it('paints pieces of the same text', () => {
    const events = [
      call('t1', 'Bash', { command: 'ls' }, 'ls'),
      result('t1', { error: 'no', status: 'error' }),
    ];
    const painted = show(events, { paint: (ink, text) => `<${ink}>${text}</${ink}>` });
    expect(painted).toContain('<bad>→ no</bad>');
    expect(painted.replaceAll(/<\/?\w+>/g, '')).toBe(show(events));
  });
});

describe('wrapColumns', () => {
  it('breaks at words, keeps the indentation of the first line, and breaks words that are too long', () => {
    expect(wrapColumns('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrapColumns('  one two', 5)).toEqual(['  one', 'two']);
    expect(wrapColumns('abcdefgh ij', 3)).toEqual(['abc', 'def', 'gh', 'ij']);
    expect(wrapColumns('', 3)).toEqual(['']);
    expect(wrapColumns('漢字漢字', 4)).toEqual(['漢字', '漢字']);
  });
});
