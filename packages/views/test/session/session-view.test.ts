import type { CapturedEvent, DispatchEnvelope, EventData, EventLinks } from '@hansard/events';
import { anyEvent, envelope, event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { renderSessionView, rowsOf, rowWords, sessionFacts, wordsLine } from '../../src/index.ts';

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

/** The rows of a dispatch that has ended, on one line each. */
function linesOf(events: readonly CapturedEvent[]) {
  return rowsOf(events, { hasEnded: true }).map((row) => {
    const { word, head, status, text, outcome } = wordsLine(rowWords(row));
    return [word, head, status, text, outcome];
  });
}

/** A session as text, from a store that has one dispatch. */
function textOf(envelopeOfIt: DispatchEnvelope, events: readonly CapturedEvent[]): Promise<string> {
  const store = { getDispatchEnvelope: async () => envelopeOfIt, getDispatchEvents: async () => events };
  return renderSessionView(store, 'lab/tasks/t', envelopeOfIt.dispatchId);
}

describe('the rows of a session', () => {
  it('join a call and its result, including when other events are between them', () => {
    const events = [
      call('t1', 'Bash', 'make'),
      call('t2', 'Read', 'a.txt'),
      event('agent:text', { text: 'meanwhile' }),
      result('t2', { status: 'error', error: 'no such file', durationMs: 2 }),
      result('t1', { metadata: { exitCode: 0 } }),
    ];
    expect(linesOf(events)).toEqual([
      ['call', 'Bash make', '45ms', '', 'exitCode 0'],
      ['call', 'Read a.txt', 'error 2ms', '', 'no such file'],
      ['text', '', '', 'meanwhile', ''],
    ]);
    expect(rowsOf(events)[1]?.tone).toBe('bad');
  });

  it('distinguish an open call from one that was never answered', () => {
    const events = [call('t1', 'Bash', 'make')];
    expect(rowsOf(events)[0]?.status).toBe('open');
    expect(linesOf(events)).toEqual([['call', 'Bash make', 'no result on record', '', '']]);
  });

  it('keep a result without a call, and a second answer', () => {
    const events = [result('lost'), call('t1', 'Bash', 'ls'), result('t1'), result('t1')];
    expect(linesOf(events).map(([word]) => word)).toEqual(['result', 'call', 'result']);
  });

  it('pair calls and results in order if a call id is repeated', () => {
    const events = [
      call('t1', 'Bash', 'one'),
      result('t1', { durationMs: 1 }),
      call('t1', 'Bash', 'two'),
      result('t1', { durationMs: 2 }),
    ];
    expect(linesOf(events).map(([, head, status]) => [head, status])).toEqual([
      ['Bash one', '1ms'],
      ['Bash two', '2ms'],
    ]);
  });

  it('show a denied call as denied, with the reason of the hook', () => {
    const denial = { hook: 'no-delete', on: 'tool_call', decision: 'deny', reason: 'not here' } as const;
    const [row] = rowsOf([
      call('t1', 'Bash', 'rm a.txt'),
      event('harness:hook_decision', { ...denial, toolCallId: 't1' }),
      result('t1', { status: 'error', error: 'hook: not here' }),
    ]);
    if (row === undefined) throw new Error('There is no row.');
    expect(row).toMatchObject({ status: 'denied', tone: 'bad' });
    expect(wordsLine(rowWords(row))).toMatchObject({
      status: 'denied 45ms',
      outcome: 'hook: not here',
      notes: '! hook no-delete denied the tool call: not here',
    });
  });

  it('have sub-agents at their depth below their creator', () => {
    const rows = rowsOf([
      call('t1', 'Agent', 'check', { id: 'c1' }),
      event('agent:created', { name: 'tester', languageModel: 'haiku' }, { agentId: 'a1', cause: 'c1' }),
      call('t2', 'Agent', 'look', { id: 'c2', agentId: 'a1', messageId: 'm1' }),
      event('agent:created', { name: 'tester' }, { agentId: 'a2', cause: 'm1' }),
      event('agent:created', { name: 'reader' }, { agentId: 'a3', cause: ['c2', 'c1'] }),
      event('agent:text', { text: 'hi' }, { agentId: 'a4' }),
    ]);
    expect(rows.map(({ agent: { agentId, name, depth } }) => [agentId, name, depth])).toEqual([
      ['', '', 0],
      ['a1', 'tester', 1],
      ['a1', 'tester', 1],
      ['a2', 'tester a2', 2],
      ['a3', 'reader', 2],
      ['a4', 'a4', 1],
    ]);
  });

  it('take the root agent of a session as the dispatched agent, and end for agents that created each other', () => {
    const rows = rowsOf([
      event('agent:created', {}, { agentId: 'root' }),
      event('agent:created', {}, { agentId: 'a', cause: 'eb', id: 'ea' }),
      event('agent:created', {}, { agentId: 'b', cause: 'ea', id: 'eb' }),
    ]);
    expect(rows.map(({ agent }) => [agent.agentId, agent.depth])).toEqual([
      ['root', 0],
      ['a', 1],
      ['b', 2],
    ]);
  });

  it('keep events whose data a newer version changed, tool pairs among them', () => {
    const events = [
      anyEvent('agent:tool_call', { call: 't1' }, { v: 2 }),
      anyEvent('agent:tool_result', { call: 't1' }, { v: 2 }),
      anyEvent('session:complete', {}, { v: 2 }),
    ];
    expect(linesOf(events).map(([word]) => word)).toEqual([
      'agent:tool_call',
      'agent:tool_result',
      'session:complete',
    ]);
  });
});

describe('sessionFacts', () => {
  it('takes totals and result from the last session:complete', () => {
    const complete = { status: 'completed', result: 'done', structuredResult: { ok: true } } as const;
    const facts = sessionFacts(envelope({ cost: 9, usage: null, structuredResult: 'cached' }), [
      event('session:complete', { ...complete, costUsd: 1, result: 'first turn' }),
      event('session:complete', { ...complete, costUsd: 2, durationMs: 5 }),
    ]);
    expect(facts).toMatchObject({
      costUsd: 2,
      durationMs: 5,
      usage: null,
      result: 'done',
      structuredResult: { ok: true },
    });
  });
});

describe('renderSessionView', () => {
  it('reads from top to bottom', async () => {
    const text = await textOf(envelope({ parentDispatchId: '01JMPARENT' }), [
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
    ]);
    expect(`\n${text}\n`).toBe(`
product-analyst
  session   01JM0000000000000000000001
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

   0  09:30:00  message  from user  Count the files.
   1  09:30:00  thinking  Hm.
   2  09:30:00  text
                I will ask the tester.
                Then I delete.
   3  09:30:00  call  Agent check a.txt  1m 05s
   4  09:30:00    tester  created  tester  haiku
   5  09:30:00    tester  call  Bash  45ms
                  cat <<E
                  hello
                  E
                  → exitCode 0
   8  09:30:00  game:vote
                {
                  "for": "Jill"
                }
   9  09:30:00  complete

result
  Two files.

  Both small.

structured result
  {
    "files": 2
  }
`);
  });

  it('shows the sender of a message by name, and a text without the empty lines around it', async () => {
    const from = (agentId: string) =>
      event('user:message', { text: '\n\n  Two\n\nfiles.\n\n', source: { kind: 'agent', agentId } });
    const created = event('agent:created', { name: 'Jack' }, { agentId: 'agent_002' });
    const text = await textOf(envelope(), [created, from('agent_002'), from('gone')]);
    expect(text.split('\n').slice(-8)).toEqual([
      '   1  09:30:00  message  from agent Jack',
      '                  Two',
      '',
      '                files.',
      '   2  09:30:00  message  from agent gone',
      '                  Two',
      '',
      '                files.',
    ]);
    const empty = event('agent:text', { text: '\n\n' });
    expect(await textOf(envelope(), [empty])).toMatch(/\n {3}0 {2}09:30:00 {2}text$/);
  });

  it('prints each day before its first row, if there are several days', async () => {
    const at = (timestamp: string) => ({
      ...event('agent:text', { text: 'Hi.' }, { messageId: 'm' }),
      timestamp,
    });
    const events = [at('2026-03-01T23:59:00.000Z'), at('2026-03-02T00:01:00.000Z')];
    const body = async (recorded: readonly CapturedEvent[]) =>
      (await textOf(envelope(), recorded)).split('\n\n').at(1)?.split('\n');
    expect(await body(events)).toEqual([
      '2026-03-01',
      '   0  23:59:00  text  Hi.',
      '2026-03-02',
      '   1  00:01:00  text  Hi.',
    ]);
    expect(await body(events.slice(1))).toEqual(['   0  00:01:00  text  Hi.']);
  });

  it('says so if there are no events yet', async () => {
    const running = { status: 'running', completedAt: null, cost: null, usage: null, model: null } as const;
    const text = await textOf(envelope(running), []);
    expect(text).toMatch(/\n\n\(no events\)$/);
    expect(text).not.toMatch(/null|undefined|^ *(model|cost|usage|ended|duration) /m);
  });

  it('shows up to twenty lines of recorded output and the number of further lines', async () => {
    const output = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`).join('\n');
    const text = await textOf(envelope(), [call('t1', 'Bash', 'seq'), result('t1', { output })]);
    expect(text).toContain('→ line 1\n');
    expect(text).toContain('  line 20\n');
    expect(text).not.toContain('line 21');
    expect(text).toMatch(/… 30 more lines$/);
  });

  it('prints no control character of any field', async () => {
    const hostile = '\x1b[2J\u202e\r\x9b';
    const text = await textOf(envelope({ role: hostile, cwd: hostile, structuredResult: hostile }), [
      event('agent:created', { name: hostile }, { agentId: 'a1' }),
      event('agent:text', { text: hostile }, { agentId: 'a1' }),
      call('t1', hostile, hostile),
      result('t1', { error: hostile, status: 'error' }),
      anyEvent('game:vote', { [hostile]: hostile }),
      event('session:complete', { status: 'failed', errors: [hostile] }),
    ]);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(text).toContain('␛[2J<U+202E>␍<U+009B>');
  });
});
