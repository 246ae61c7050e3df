import { openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { expect, it } from 'vitest';
import { importAll, LogFolder, lines } from './logs.ts';

const time = (second: number) => `2026-03-01T09:30:0${second}.000Z`;
const head = {
  sessionId: 's-1',
  projectHash: 'ab12',
  startTime: time(0),
  lastUpdated: time(0),
  kind: 'main',
};
const prompt = { id: 'm-1', timestamp: time(1), type: 'user', content: [{ text: 'Run the tests.' }] };
const tokens = { input: 1_000, output: 10, cached: 100, thoughts: 5, tool: 0, total: 1_015 };
const answer = {
  id: 'm-2',
  timestamp: time(2),
  type: 'gemini',
  content: 'I run them.',
  thoughts: [],
  tokens,
  model: 'gemini-2.5-flash',
};
const response = {
  functionResponse: {
    id: 'c-1',
    name: 'run_shell_command',
    response: { output: 'Output: 1 failed\nExit Code: 3' },
  },
};
const call = {
  id: 'c-1',
  name: 'run_shell_command',
  args: { command: 'npm test' },
  result: [response],
  status: 'success',
  timestamp: time(3),
};
const answered = { ...answer, toolCalls: [call] };
const given = { id: 'm-3', timestamp: time(4), type: 'user', content: [response] };
const functionCall = { id: 'c-1', name: 'run_shell_command', args: { command: 'npm test' } };
/** What a resume writes: all messages, without tokens, model and calls. */
const resumed = {
  $set: {
    messages: [
      { ...prompt, timestamp: time(6) },
      { id: 'm-2', timestamp: time(6), type: 'gemini', content: [{ text: 'I run them.' }, { functionCall }] },
      { id: 'm-2_response', timestamp: time(6), type: 'user', content: [response] },
      { ...given, timestamp: time(6) },
    ],
    lastUpdated: time(6),
  },
};
const next = { id: 'm-4', timestamp: time(7), type: 'user', content: [{ text: 'Why?' }] };

const short = ({ type, data }: CapturedEvent) =>
  `${type} ${data.text ?? data.tool ?? data.model ?? ''}`.trim();
const conversation = [
  'user:message Run the tests.',
  'session:init gemini-2.5-flash',
  'agent:text I run them.',
  'agent:inference gemini-2.5-flash',
  'agent:tool_call run_shell_command',
  'agent:tool_result run_shell_command',
];

async function imported(folder: LogFolder, store = openDispatchStore(createMemoryStore())) {
  const items = await importAll(store, [folder.path], { prices: false });
  const found = [];
  for await (const listed of store.dispatches()) {
    if ('error' in listed) throw listed.error;
    const events = await store.getDispatchEvents(listed.taskDir, listed.dispatchId);
    found.push({ taskDir: listed.taskDir, envelope: listed.envelope, events });
  }
  return { items, found, store };
}

it('a session that was resumed has each text and each call once, and the usage of its first run', async () => {
  using folder = new LogFolder();
  folder.put(
    'chats/session-1.jsonl',
    lines(head, prompt, answer, answered, given, { ...head, startTime: time(5) }, resumed, next),
  );
  const {
    items,
    found: [session],
  } = await imported(folder);
  expect(session?.events.filter(({ type }) => !type.startsWith('system:')).map(short)).toEqual([
    ...conversation,
    'user:message Why?',
  ]);
  expect(session?.envelope.usage).toEqual({
    inputTokens: 900,
    outputTokens: 15,
    cacheReadTokens: 100,
    reasoningTokens: 5,
  });
  expect(items).toMatchObject([
    { kind: 'imported', balance: { records: { in: 8, leftOut: { twin: 1, repeated: 1 } } } },
  ]);
});

it('a command that failed has the status that the file states, because the file states no exit code', async () => {
  using folder = new LogFolder();
  folder.put('chats/session-1.jsonl', lines(head, prompt, answer, answered));
  const {
    found: [session],
  } = await imported(folder);
  const result = session?.events.find(({ type }) => type === 'agent:tool_result');
  expect(result?.data).toMatchObject({
    status: 'completed',
    output: 'Output: 1 failed\nExit Code: 3',
    metadata: {},
  });
});

it('a rewind leaves the messages that follow it on a branch of their own', async () => {
  using folder = new LogFolder();
  const text = lines(
    head,
    prompt,
    answer,
    answered,
    next,
    { $rewindTo: 'm-2' },
    { ...next, id: 'm-5' },
    { $rewindTo: 'm-9' },
  );
  folder.put('chats/session-1.jsonl', text);
  const {
    items,
    found: [session],
  } = await imported(folder);
  expect(session?.events.find(({ type }) => type === 'session:rewind')?.data).toEqual({ keptThrough: 'm-1' });
  expect(items).toMatchObject([{ counts: { reference_missing: 1 } }]);
});

it('a session in the old form that is resumed in the new one is one session, imported once', async () => {
  using folder = new LogFolder();
  folder.put('chats/session-1.json', JSON.stringify({ ...head, messages: [prompt, answered] }, null, 2));
  const first = await imported(folder);
  expect(first.found[0]?.events.slice(1).map(short).sort()).toEqual(conversation.toSorted());
  folder.put('chats/session-1.jsonl', lines({ ...head, startTime: time(5) }, resumed, next));
  const { items, found, store } = await imported(folder, first.store);
  expect(items).toMatchObject([
    { kind: 'imported', files: [/jsonl$/, /json$/].map((end) => expect.stringMatching(end)) },
  ]);
  expect(found).toHaveLength(1);
  const texts = found[0]?.events.filter(({ type }) => !type.startsWith('system:')).map(short) ?? [];
  expect(texts.slice(0, -1).sort()).toEqual(conversation.toSorted());
  expect(texts.at(-1)).toBe('user:message Why?');
  expect(found[0]?.envelope.usage).toMatchObject({ inputTokens: 900, outputTokens: 15 });
  expect((await imported(folder, store)).items).toMatchObject([{ kind: 'unchanged' }]);
});

it('a sub-agent is a session that names the one that created it', async () => {
  using folder = new LogFolder();
  folder.put('shop/.project_root', '/srv/shop\n');
  folder.put('shop/chats/session-1.jsonl', lines(head, prompt, answer));
  folder.put(
    'shop/chats/s-1/s-2.jsonl',
    lines(
      { ...head, sessionId: 's-2', kind: 'subagent' },
      prompt,
      { ...answer, id: 'm-9' },
      { $set: { summary: 'Done.' } },
    ),
  );
  const { found } = await imported(folder);
  const [parent, child] = found.sort((a) => (a.envelope.parentDispatchId === null ? -1 : 1));
  expect(child?.envelope.parentDispatchId).toBe(parent?.envelope.dispatchId);
  expect([parent?.taskDir, child?.taskDir]).toEqual(['srv-shop/tasks/s-1', 'srv-shop/tasks/s-1']);
  expect(parent?.envelope.cwd).toBe('/srv/shop');
});

it('a value where the format has a list is kept', async () => {
  using folder = new LogFolder();
  folder.put('chats/session-1.jsonl', lines(head, { ...prompt, content: { note: 'odd' } }, answer));
  const {
    found: [session],
  } = await imported(folder);
  expect(JSON.stringify(session?.events)).toContain('"note":"odd"');
});
