import type { CapturedEvent, EventData, EventLinks } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { renderSessionView, sessionView } from '../../src/index.ts';
import { anyEvent, envelope, event } from '../make.ts';

function call(toolCallId: string, tool: string, target: string, links: EventLinks & { id?: string } = {}) {
  return event('agent:tool_call', { toolCallId, tool, target, metadata: {} }, links);
}

function result(
  toolCallId: string,
  fields: Partial<EventData<'agent:tool_result'>> = {},
  links: EventLinks = {},
): CapturedEvent {
  const base = { toolCallId, tool: 'Bash', status: 'completed', durationMs: 45, metadata: {} } as const;
  return event('agent:tool_result', { ...base, ...fields }, links);
}

describe('sessionView', () => {
  it('joins a call and its result, including when other events are between them', () => {
    const view = sessionView(envelope(), [
      call('t1', 'Bash', 'make'),
      call('t2', 'Read', 'a.txt'),
      event('agent:text', { text: 'meanwhile' }),
      result('t2', { status: 'error', error: 'no such file', durationMs: 2 }),
      result('t1', { metadata: { exitCode: 0 } }),
    ]);
    expect(
      view.rows.map(({ kind, target, status, durationMs, outcome }) => [
        kind,
        target,
        status,
        durationMs,
        outcome,
      ]),
    ).toEqual([
      ['call', 'Bash make', 'completed', 45, 'exitCode 0'],
      ['call', 'Read a.txt', 'error', 2, 'no such file'],
      ['text', '', undefined, undefined, ''],
    ]);
    expect(view.rows[1]?.tone).toBe('bad');
  });

  it('distinguishes a running call from one that was never answered', () => {
    const events = [call('t1', 'Bash', 'make')];
    expect(sessionView(envelope({ status: 'running' }), events).rows[0]?.status).toBe('running');
    expect(sessionView(envelope({ status: 'crashed' }), events).rows[0]).toMatchObject({
      status: 'no result on record',
      tone: 'bad',
    });
  });

  it('keeps a result without a call, and a second answer, as rows', () => {
    const view = sessionView(envelope(), [
      result('lost'),
      call('t1', 'Bash', 'ls'),
      result('t1'),
      result('t1'),
    ]);
    expect(view.rows.map(({ kind }) => kind)).toEqual(['result', 'call', 'result']);
  });

  it('pairs calls and results in order if a call id is repeated', () => {
    const view = sessionView(envelope(), [
      call('t1', 'Bash', 'one'),
      result('t1', { durationMs: 1 }),
      call('t1', 'Bash', 'two'),
      result('t1', { durationMs: 2 }),
    ]);
    expect(view.rows.map(({ target, durationMs }) => [target, durationMs])).toEqual([
      ['Bash one', 1],
      ['Bash two', 2],
    ]);
  });

  it('shows a denied call as denied, with the reason of the hook', () => {
    const view = sessionView(envelope(), [
      call('t1', 'Bash', 'rm a.txt'),
      event('harness:hook_decision', {
        hook: 'no-delete',
        on: 'tool_call',
        decision: 'deny',
        reason: 'not here',
        toolCallId: 't1',
      }),
      result('t1', { status: 'error', error: 'hook: not here' }),
    ]);
    expect(view.rows[0]).toMatchObject({ status: 'denied', outcome: 'hook: not here', tone: 'bad' });
    expect(view.rows[1]).toMatchObject({
      kind: 'hook',
      target: expect.stringContaining('denied'),
      text: 'not here',
    });
  });

  it('gives sub-agents their names and their depth below their creator', () => {
    const view = sessionView(envelope(), [
      call('t1', 'Agent', 'check', { id: 'c1' }),
      event('agent:created', { name: 'tester', languageModel: 'haiku' }, { agentId: 'a1', cause: 'c1' }),
      call('t2', 'Agent', 'look', { id: 'c2', agentId: 'a1', messageId: 'm1' }),
      event('agent:created', { name: 'tester' }, { agentId: 'a2', cause: 'm1' }),
      event('agent:created', { name: 'reader' }, { agentId: 'a3', cause: ['c2', 'c1'] }),
      event('agent:text', { text: 'hi' }, { agentId: 'a4' }),
    ]);
    expect(view.agents).toEqual([
      { agentId: '', name: 'product-analyst', languageModel: null, depth: 0 },
      { agentId: 'a1', name: 'tester a1', languageModel: 'haiku', depth: 1 },
      { agentId: 'a2', name: 'tester a2', languageModel: null, depth: 2 },
      { agentId: 'a3', name: 'reader', languageModel: null, depth: 2 },
      { agentId: 'a4', name: 'a4', languageModel: null, depth: 1 },
    ]);
  });

  it('takes the root agent of a session as the dispatched agent, and ends for agents that created each other', () => {
    const view = sessionView(envelope(), [
      event('agent:created', {}, { agentId: 'root' }),
      event('agent:created', {}, { agentId: 'a', cause: 'eb', id: 'ea' }),
      event('agent:created', {}, { agentId: 'b', cause: 'ea', id: 'eb' }),
    ]);
    expect(view.agents.map(({ agentId, depth }) => [agentId, depth])).toEqual([
      ['', 0],
      ['root', 0],
      ['a', 2],
      ['b', 2],
    ]);
  });

  it('takes totals and result from the last session:complete', () => {
    const complete = { status: 'completed', result: 'done', structuredResult: { ok: true } } as const;
    const view = sessionView(envelope({ cost: 9, usage: null, structuredResult: 'cached' }), [
      event('session:complete', { ...complete, costUsd: 1, result: 'first turn' }),
      event('session:complete', { ...complete, costUsd: 2, durationMs: 5 }),
    ]);
    expect(view).toMatchObject({
      costUsd: 2,
      durationMs: 5,
      usage: null,
      result: 'done',
      structuredResult: { ok: true },
    });
  });

  it('keeps events whose data a newer version changed, tool pairs among them', () => {
    const view = sessionView(envelope(), [
      anyEvent('agent:tool_call', { call: 't1' }, { v: 2 }),
      anyEvent('agent:tool_result', { call: 't1' }, { v: 2 }),
      anyEvent('session:complete', {}, { v: 2 }),
    ]);
    expect(view.rows.map(({ kind }) => kind)).toEqual([
      'agent:tool_call',
      'agent:tool_result',
      'session:complete',
    ]);
  });
});

describe('renderSessionView', () => {
  it('reads from top to bottom', () => {
    const text = renderSessionView(
      sessionView(envelope({ parentDispatchId: '01JMPARENT' }), [
        event('user:message', { text: 'Count the files.', source: { kind: 'user' } }),
        event('agent:thinking', { text: 'Hm.' }, { messageId: 'm1' }),
        event('agent:text', { text: 'I will ask the tester.\nThen I delete.' }, { messageId: 'm1' }),
        call('t1', 'Agent', 'check a.txt', { id: 'c1', messageId: 'm1' }),
        event('agent:created', { name: 'tester', languageModel: 'haiku' }, { agentId: 'a1', cause: 'c1' }),
        call('t2', 'Bash', 'cat <<E\nhello\nE', { agentId: 'a1' }),
        result('t2', { metadata: { exitCode: 0 } }, { agentId: 'a1' }),
        result('t1', { durationMs: 65_000 }),
        anyEvent('game:vote', { for: 'Jill' }),
        event('session:complete', {
          status: 'completed',
          result: 'Two files.\n\nBoth small.',
          structuredResult: { files: 2 },
          costUsd: 0.0018,
        }),
      ]),
    );
    expect(`\n${text}\n`).toBe(`
product-analyst
  dispatch  01JM0000000000000000000001
  task      route-models
  parent    01JMPARENT
  status    completed
  model     claude-sonnet-4-5
  folder    /workspace
  started   2026-03-01T09:30:00.000Z
  ended     2026-03-01T09:31:10.000Z
  duration  1m 10s
  cost      $0.0018
  usage     300 in, 60 out, 3 turns

09:30:00  message   from user  Count the files.
09:30:00  thinking  Hm.
          text      I will ask the tester.
                    Then I delete.
          call      Agent check a.txt  completed 1m 05s
09:30:00    tester  created   tester  haiku
09:30:00    tester  call      Bash cat <<E  completed 45ms
                              hello
                              E
                              → exitCode 0
09:30:00  game:vote  {"for":"Jill"}
09:30:00  complete  completed

result
  Two files.

  Both small.

structured result
  {
    "files": 2
  }
`);
  });

  it('shows the sender of a message by name, and a text without the empty lines around it', () => {
    const from = (agentId: string) =>
      event('user:message', { text: '\n\n  Two\n\nfiles.\n\n', source: { kind: 'agent', agentId } });
    const created = event('agent:created', { name: 'Jack' }, { agentId: 'agent_002' });
    const text = renderSessionView(sessionView(envelope(), [created, from('agent_002'), from('gone')]));
    expect(text.split('\n').slice(-8)).toEqual([
      '09:30:00  message   from agent Jack',
      '                      Two',
      '',
      '                    files.',
      '09:30:00  message   from agent gone',
      '                      Two',
      '',
      '                    files.',
    ]);
    const empty = event('agent:text', { text: '\n\n' });
    expect(renderSessionView(sessionView(envelope(), [empty]))).toMatch(/\n09:30:00 {2}text$/);
  });

  it('prints each day before its first row, if there are several days', () => {
    const at = (timestamp: string) => ({
      ...event('agent:text', { text: 'Hi.' }, { messageId: 'm' }),
      timestamp,
    });
    const events = [at('2026-03-01T23:59:00.000Z'), at('2026-03-02T00:01:00.000Z')];
    const body = (rows: readonly CapturedEvent[]) =>
      renderSessionView(sessionView(envelope(), rows)).split('\n\n').at(1)?.split('\n');
    expect(body(events)).toEqual([
      '2026-03-01',
      '23:59:00  text      Hi.',
      '2026-03-02',
      '00:01:00  text      Hi.',
    ]);
    expect(body(events.slice(1))).toEqual(['00:01:00  text      Hi.']);
  });

  it('says so if there are no events yet', () => {
    const text = renderSessionView(
      sessionView(
        envelope({ status: 'running', completedAt: null, cost: null, usage: null, model: null }),
        [],
      ),
    );
    expect(text).toMatch(/\n\n\(no events\)$/);
    expect(text).not.toMatch(/null|undefined|^ *(model|cost|usage|ended|duration) /m);
  });

  it('shows up to twenty lines of recorded output and the number of further lines', () => {
    const output = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`).join('\n');
    const text = renderSessionView(
      sessionView(envelope(), [call('t1', 'Bash', 'seq'), result('t1', { output })]),
    );
    expect(text).toContain('→ line 1\n');
    expect(text).toContain('  line 20\n');
    expect(text).not.toContain('line 21');
    expect(text).toMatch(/… 30 more lines$/);
  });

  it('prints no control character of any field', () => {
    const hostile = '\x1b[2J\u202e\r\x9b';
    const text = renderSessionView(
      sessionView(envelope({ role: hostile, cwd: hostile, structuredResult: hostile }), [
        event('agent:created', { name: hostile }, { agentId: 'a1' }),
        event('agent:text', { text: hostile }, { agentId: 'a1' }),
        call('t1', hostile, hostile),
        result('t1', { error: hostile, status: 'error' }),
        anyEvent('game:vote', { [hostile]: hostile }),
        event('session:complete', { status: 'failed', errors: [hostile] }),
      ]),
    );
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(text).toContain('␛[2J<U+202E>␍<U+009B>');
  });
});
