import type { NewEvent } from '@hansard/events';
import { callsInWords } from '@hansard/views';
import { expect, it } from 'vitest';
import type { ConversationPage, SessionMap, SessionTime } from '../src/answers.ts';
import { turnsOf } from '../src/page/conversation/conversation-state.ts';
import { openStore, startedViewer, taskDir } from './viewed.ts';

const place = `/api/d/${encodeURIComponent(taskDir)}/d1`;

const call = (id: string, tool: string, outcome: object, more: object = {}): NewEvent[] =>
  [
    { type: 'agent:tool_call', data: { tool, toolCallId: id, target: `${id}.ts`, metadata: {}, ...more } },
    { type: 'agent:tool_result', data: { tool, toolCallId: id, metadata: {}, ...outcome } },
  ] as NewEvent[];

async function talked() {
  const store = await openStore();
  const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'd1', fidelity: 'full' });
  await dispatch.append([
    { type: 'user:message', data: { text: 'Please **fix** it.', source: { kind: 'user' } } },
    { type: 'user:message', data: { text: '<environment/>', source: { kind: 'system' } } },
    { type: 'agent:thinking', data: { text: '' } },
    ...call('c1', 'Read', { status: 'completed', durationMs: 40, output: 'x' }),
    ...call(
      'c2',
      'Edit',
      { status: 'completed', durationMs: 20 },
      { input: { file_path: 'a', old_string: 'one', new_string: 'two' } },
    ),
    ...call('c3', 'Read', { status: 'error', durationMs: 90, error: 'gone \u202e' }),
    { type: 'session:status', data: { status: 'busy' } },
    { type: 'agent:text', messageId: 'm1', data: { text: `Done.\u001b ${'x'.repeat(50_000)}` } },
    {
      type: 'agent:inference',
      messageId: 'm1',
      data: {
        model: 'big',
        usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 900 },
        costUsd: 0.5,
        durationMs: 1_000,
      },
    },
  ] as NewEvent[]);
  await dispatch.end({ status: 'completed' });
  return startedViewer(store);
}

it('gives what people and agents said whole and harmless, and other rows as lines, which are folded', async () => {
  const { json, get } = await talked();
  const page = (await json(`${place}/conversation?from=0&n=100`)) as ConversationPage;
  const said = page.items.filter(({ words }) => words !== null);
  expect(said.map(({ kind, isPrompt, isCut }) => [kind, isPrompt, isCut])).toEqual([
    ['message', true, false],
    ['said', false, true],
  ]);
  expect(JSON.stringify(said)).not.toContain('\u001b');
  expect(JSON.stringify(said).length).toBeLessThan(60_000);
  const turns = turnsOf(page.items, false);
  expect(
    turns.map(
      ({ said: one, run }) => one?.kind ?? run.map(({ tool, isEdit, isFailed }) => [tool, isEdit, isFailed]),
    ),
  ).toEqual([
    'message',
    [
      [null, false, false],
      ['Read', false, false],
      ['Edit', true, false],
      ['Read', false, true],
    ],
    'said',
  ]);
  expect(turnsOf(page.items, true).flatMap(({ run }) => run)).toHaveLength(6);
  expect((await get(`${place}/conversation?from=0&n=501`)).status).toBe(400);
});

it('says where prompts, failures and edits are, and how long the calls of each tool took', async () => {
  const { json } = await talked();
  const map = (await json(`${place}/map`)) as SessionMap;
  expect(map.marks.map(({ kind, text }) => [kind, text])).toEqual([
    ['prompt', 'Please **fix** it.'],
    ['edit', 'Edit c2.ts'],
    ['failure', 'Read c3.ts'],
  ]);
  const time = (await json(`${place}/time`)) as SessionTime;
  expect(time.tools).toEqual([
    { name: 'Read', count: 2, failed: 1, timed: 2, p50: 90, p95: 90, totalMs: 130 },
    { name: 'Edit', count: 1, failed: 0, timed: 1, p50: 20, p95: 20, totalMs: 20 },
  ]);
  expect(time.calls).toMatchObject([{ inputTokens: 100, cachedTokens: 900, outputTokens: 20, costUsd: 0.5 }]);
  expect(time.spans.map(({ kind, durationMs }) => [kind, durationMs])).toEqual(
    expect.arrayContaining([
      ['prompt', 0],
      ['call', 40],
      ['model', 1_000],
    ]),
  );
});

it('words a run of calls: the tools, the time in which any ran, and the failures', () => {
  const one = (tool: string, time: number | null, durationMs: number | null, isFailed = false) => ({
    tool,
    time,
    durationMs,
    isFailed,
  });
  expect(
    callsInWords([one('Read', 0, 2_000), one('Bash', 1_000, 2_000, true), one('Read', 10_000, 1_000)]),
  ).toBe('3 calls: 2 Read, 1 Bash · 4.0s · 1 failed');
  expect(callsInWords([one('Read', null, null)])).toBe('1 call: Read');
  expect(callsInWords(['a', 'b', 'c', 'd', 'e', 'f'].map((tool) => one(tool, 0, null)))).toBe(
    '6 calls: 1 a, 1 b, 1 c, 1 d, 2 of other tools',
  );
});
