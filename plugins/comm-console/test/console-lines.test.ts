import { Writable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createConsole } from '../src/index.ts';
import { envelope, FakeOutput, notice, taskDir, withoutColours } from './make.ts';

const hostile = '\x1b[2J\x9b1A\rx\b\u202ey\nz';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the console', () => {
  it('shows start, events and end of a dispatch, each on one line', async () => {
    const output = new FakeOutput();
    const shown = createConsole({ output });
    shown.dispatchStarted?.({ taskDir, envelope: envelope() });
    shown.eventRecorded(notice('agent:text', { text: 'I will look.\nThen ask.' }));
    shown.eventRecorded(
      notice('agent:tool_call', { toolCallId: 't', tool: 'Bash', target: 'ls', metadata: {} }),
    );
    shown.eventRecorded(
      notice('agent:tool_result', {
        toolCallId: 't',
        tool: 'Bash',
        target: 'ls',
        status: 'error',
        durationMs: 340,
        error: 'denied',
        metadata: {},
      }),
    );
    shown.dispatchEnded?.({
      taskDir,
      envelope: envelope({
        status: 'completed',
        completedAt: '2026-03-01T09:31:10.000Z',
        cost: 0.15,
        usage: { inputTokens: 1_200, outputTokens: 60, turns: 3 },
      }),
    });
    expect(output.lines).toEqual([
      '09:30:00  start     product-analyst  claude-sonnet-4-5, research-lab/tasks/route-models, 01JM0000000000000000000001',
      '09:30:01  text      I will look.⏎Then ask.',
      '09:30:01  call      Bash ls',
      '09:30:01  result    Bash ls  error 340ms  denied',
      '09:31:10  end       product-analyst  completed 1m 10s  $0.15, 1.2K in, 60 out, 3 turns',
    ]);
  });

  it('says whose line it is only while several dispatches run', () => {
    const output = new FakeOutput();
    const shown = createConsole({ output });
    const worker = envelope({ dispatchId: '01JM000000000000000000AAAA', role: 'ts-dev' });
    const twin = envelope({ dispatchId: '01JM000000000000000000BBBB', role: 'ts-dev' });
    const say = (from: typeof worker) => shown.eventRecorded(notice('agent:text', { text: 'hi' }, { from }));
    shown.dispatchStarted?.({ taskDir, envelope: envelope() });
    say(envelope());
    shown.dispatchStarted?.({ taskDir, envelope: worker });
    say(worker);
    shown.dispatchStarted?.({ taskDir, envelope: twin });
    say(twin);
    shown.dispatchEnded?.({ taskDir, envelope: twin });
    shown.dispatchEnded?.({ taskDir, envelope: worker });
    say(envelope());
    expect(output.lines.filter((line) => line.endsWith('hi'))).toEqual([
      '09:30:01  text      hi',
      '09:30:01  ts-dev           text      hi',
      '09:30:01  ts-dev BBBB      text      hi',
      '09:30:01  text      hi',
    ]);
  });

  it('calls agents by the names that they were given', () => {
    const output = new FakeOutput();
    const shown = createConsole({ output });
    shown.eventRecorded(notice('agent:created', { name: 'tester' }, { agentId: 'a1' }));
    shown.eventRecorded(notice('agent:text', { text: 'hi' }, { agentId: 'a1' }));
    shown.eventRecorded(notice('agent:text', { text: 'hi' }, { agentId: 'a2' }));
    expect(output.lines.slice(1)).toEqual([
      '09:30:01  (tester)  text      hi',
      '09:30:01  (a2)  text      hi',
    ]);
  });

  it('uses the recorded names of the agents of a resumed session', () => {
    const output = new FakeOutput();
    const shown = createConsole({ output });
    const given = { languageModel: null, parentAgentId: null, state: 'active' } as const;
    shown.dispatchStarted?.({
      taskDir,
      envelope: envelope(),
      agents: [
        { agentId: 'a1', name: null, ...given },
        { agentId: 'a2', name: 'tester', ...given },
      ],
    });
    for (const agentId of ['a1', 'a2'])
      shown.eventRecorded(notice('agent:text', { text: 'hi' }, { agentId }));
    expect(output.lines.slice(1)).toEqual([
      '09:30:01  (a1)  text      hi',
      '09:30:01  (tester)  text      hi',
    ]);
  });

  it('distinguishes agents with the same name by their ids', () => {
    const output = new FakeOutput();
    const shown = createConsole({ output });
    for (const agentId of ['a1', 'a2']) {
      shown.eventRecorded(notice('agent:created', { name: 'tester' }, { agentId }));
      shown.eventRecorded(notice('agent:text', { text: 'hi' }, { agentId }));
    }
    expect(output.lines.filter((line) => line.endsWith('hi'))).toEqual([
      '09:30:01  (tester)  text      hi',
      '09:30:01  (tester a2)  text      hi',
    ]);
  });

  it('says in words what an engine notes for itself', () => {
    const output = new FakeOutput();
    const shown = createConsole({ output });
    const uuid = 'b5f8b5e0-0000-4000-8000-000000000000';
    shown.eventRecorded(notice('system:session_state_changed', { state: 'idle', session_id: uuid, uuid }));
    shown.eventRecorded(notice('system:command_lifecycle', { command_uuid: uuid, state: 'queued' }));
    shown.eventRecorded(notice('system:thing_of_tomorrow', { at: { hour: 5, unit: 'h' } }));
    expect(output.lines).toEqual([
      '09:30:01  engine    session state changed  state idle',
      '09:30:01  engine    command lifecycle  state queued',
      '09:30:01  engine    thing of tomorrow  hour 5, unit h',
    ]);
  });

  it('fits long lines into a terminal, also after its size changed, and writes them whole elsewhere', () => {
    const terminal = new FakeOutput(60);
    const file = new FakeOutput();
    for (const output of [terminal, file]) {
      const shown = createConsole({ output });
      shown.eventRecorded(notice('agent:text', { text: 'word '.repeat(100) }));
      output.columns = 40;
      shown.eventRecorded(notice('agent:text', { text: '漢字'.repeat(100) }));
    }
    expect(terminal.shown[0]).toMatch(/^.{59}…$/);
    expect(terminal.shown[1]).toMatch(/^09:30:01 {2}text {6}[漢字]{9}…$/);
    expect(file.lines[0]).toContain('word '.repeat(99));
  });

  it.each([
    ['a text', notice('agent:text', { text: hostile })],
    ['a target', notice('agent:tool_call', { toolCallId: 't', tool: 'Bash', target: hostile, metadata: {} })],
    ['an error', notice('harness:error', { message: hostile })],
    ['an unknown type', notice('game:vote', { [hostile]: hostile })],
    ['a name', notice('agent:created', { name: hostile }, { agentId: 'a1' })],
    ['a role', notice('agent:text', { text: 'x' }, { from: envelope({ role: hostile }) })],
  ])('lets no control sequence of %s reach the terminal', (_, hostileNotice) => {
    const output = new FakeOutput(100);
    const shown = createConsole({ output });
    shown.dispatchStarted?.({ taskDir: hostile, envelope: envelope({ dispatchId: 'other' }) });
    shown.dispatchStarted?.(hostileNotice);
    shown.eventRecorded(hostileNotice);
    shown.deltaReceived?.({ ...hostileNotice, delta: { type: 'delta:text', text: hostile, agentId: 'a1' } });
    shown.dispatchEnded?.(hostileNotice);
    const left = withoutColours(output.text).replaceAll('\r\x1b[K', '').replaceAll('\n', '');
    expect(left).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(left).toContain('␛[2J<U+009B>1A␍x␈<U+202E>y⏎z');
  });
});

describe('colours', () => {
  const text = (output: FakeOutput, color?: boolean) => {
    createConsole({ output, color }).eventRecorded(notice('harness:error', { message: 'boom' }));
    return output.text;
  };

  const uncoloured = '\r\x1b[K09:30:01  error     boom\n';

  it('are used on a terminal', () => {
    vi.stubEnv('NO_COLOR', '');
    expect(text(new FakeOutput(80))).toContain('\x1b[31m');
  });

  it('are not used with NO_COLOR, or if the output is not a terminal', () => {
    vi.stubEnv('NO_COLOR', '1');
    expect(text(new FakeOutput(80))).toBe(uncoloured);
    vi.stubEnv('NO_COLOR', '');
    expect(text(new FakeOutput())).not.toContain('\x1b');
  });

  it('are as the option says, whatever the output is', () => {
    vi.stubEnv('NO_COLOR', '1');
    expect(text(new FakeOutput(), true)).toContain('\x1b[31m');
    vi.stubEnv('NO_COLOR', '');
    expect(text(new FakeOutput(80), false)).toBe(uncoloured);
  });
});

describe('text that a model still writes', () => {
  const delta = (text: string, more: { agentId?: string; messageId?: string } = {}) => ({
    taskDir,
    envelope: envelope(),
    delta: { type: 'delta:text', text, ...more } as const,
  });

  it('grows on the last line of a terminal until the event takes its place', () => {
    const output = new FakeOutput(60);
    const shown = createConsole({ output, color: false });
    shown.deltaReceived?.(delta('I will '));
    expect(output.shown).toEqual(['          text      I will ']);
    shown.deltaReceived?.(delta('look.'));
    expect(output.shown).toEqual(['          text      I will look.']);
    shown.eventRecorded(notice('agent:text', { text: 'I will look.' }));
    expect(output.shown).toEqual(['09:30:01  text      I will look.', '']);
  });

  it('stays below the lines of others', () => {
    const output = new FakeOutput(60);
    const shown = createConsole({ output, color: false });
    shown.deltaReceived?.(delta('I will'));
    shown.eventRecorded(notice('agent:text', { text: 'hi' }, { agentId: 'a1' }));
    expect(output.shown).toEqual(['09:30:01  (a1)  text      hi', '          text      I will']);
  });

  it('shows its end where it is longer than the line, and begins anew with the next message', () => {
    const output = new FakeOutput(40);
    const shown = createConsole({ output, color: false });
    shown.deltaReceived?.(delta('abcdefghij'.repeat(10), { messageId: 'm1' }));
    expect(output.shown).toEqual(['          text      …cdefghijabcdefghij']);
    shown.deltaReceived?.(delta('new', { messageId: 'm2' }));
    expect(output.shown).toEqual(['          text      new']);
  });

  it('is gone when its dispatch ends or the console closes', async () => {
    const output = new FakeOutput(60);
    const shown = createConsole({ output, color: false });
    shown.deltaReceived?.(delta('I will'));
    shown.dispatchEnded?.({ taskDir, envelope: envelope({ status: 'aborted' }) });
    expect(output.shown.at(-1)).toBe('');
    shown.deltaReceived?.(delta('late'));
    await shown.close();
    expect(output.shown.at(-1)).toBe('');
  });

  it('is not shown elsewhere, nor where it is switched off, nor while it is the input of a tool', () => {
    const file = new FakeOutput();
    createConsole({ output: file }).deltaReceived?.(delta('x'));
    const terminal = new FakeOutput(60);
    createConsole({ output: terminal, deltas: false }).deltaReceived?.(delta('x'));
    createConsole({ output: terminal }).deltaReceived?.({
      ...delta('x'),
      delta: { type: 'delta:tool_input', text: '{' },
    });
    expect([file.text, terminal.text]).toEqual(['', '']);
  });
});

describe('an output that fails', () => {
  const failing = (code: string) =>
    new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error(`write ${code}`), { code })),
    });
  const said = notice('agent:text', { text: 'hi' });

  it('makes the console fall silent when its reader is gone', async () => {
    const output = failing('EPIPE');
    const shown = createConsole({ output });
    shown.eventRecorded(said);
    await new Promise(setImmediate);
    shown.eventRecorded(said);
    await shown.close();
    expect(output.listenerCount('error')).toBe(0);
  });

  it('is reported to the host once for any other error', async () => {
    const shown = createConsole({ output: failing('ENOSPC') });
    shown.eventRecorded(said);
    await new Promise(setImmediate);
    expect(() => shown.eventRecorded(said)).toThrow('write ENOSPC');
    shown.eventRecorded(said);
    await shown.close();
  });

  it('is reported also for an error that is thrown synchronously', () => {
    const output = {
      write: () => {
        throw new Error('no');
      },
    };
    expect(() => createConsole({ output }).eventRecorded(said)).toThrow('no');
  });
});

it('writes nothing after close, which may be called twice', async () => {
  const output = new FakeOutput(80);
  const shown = createConsole({ output });
  await shown.close();
  const before = output.text;
  shown.eventRecorded(notice('agent:text', { text: 'late' }));
  shown.dispatchEnded?.({ taskDir, envelope: envelope() });
  await shown.close();
  expect(output.text).toBe(before);
});
