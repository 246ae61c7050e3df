import { lines } from './logs.ts';

/** A file of a product that cannot be imported, made for these tests after the product's documentation. */
export interface ForeignSample {
  readonly product: string;
  readonly name: string;
  readonly content: string;
}

const time = '2026-03-01T09:30:00.000Z';
const session = '0197a000-0000-7000-8000-000000000001';
const numbers = [1, 2, 3, 4, 5, 6, 7, 8];

function sample(product: string, name: string, content: string | readonly object[] | object): ForeignSample {
  if (typeof content === 'string') return { product, name, content };
  const isLines = Array.isArray(content) && name.endsWith('.jsonl');
  return { product, name, content: isLines ? lines(...content) : JSON.stringify(content, null, 2) };
}

/** The first bytes of a database with these tables. Only its schema is looked at. */
function database(...tables: readonly string[]): string {
  return `SQLite format 3\0${'\0'.repeat(80)}${tables.map((table) => `CREATE TABLE ${table}`).join('\0')}`;
}

export const foreignSamples: readonly ForeignSample[] = [
  sample('Codex', 'exec.jsonl', [
    { type: 'thread.started', thread_id: session },
    { type: 'turn.started' },
    ...numbers.map((n) => ({
      type: 'item.completed',
      item: { id: `item_${n}`, type: 'agent_message', text: 'Hi' },
    })),
  ]),
  sample('Gemini CLI', 'stream.jsonl', [
    { type: 'init', session_id: session, model: 'gemini-2.5-pro', timestamp: time },
    ...numbers.map((n) => ({ type: 'message', role: 'user', content: `Prompt ${n}`, timestamp: time })),
  ]),
  sample('Qwen Code', 'usage_record.jsonl', [
    ...numbers.map((n) => ({ version: 1, sessionId: session, timestamp: n, totalLatencyMs: n, models: {} })),
  ]),
  sample('OpenCode', 'export.json', {
    info: { id: 'ses_01', projectID: 'p', directory: '/srv/shop', title: 'Shop' },
    messages: [{ info: { id: 'msg_01', sessionID: 'ses_01', role: 'user' }, parts: [] }],
  }),
  sample('OpenCode', 'run.jsonl', [
    ...numbers.map((n) => ({
      type: 'text',
      timestamp: n,
      sessionID: 'ses_01',
      part: { id: `prt_${n}`, messageID: 'msg_01', sessionID: 'ses_01', type: 'text', text: 'Hi' },
    })),
  ]),
  sample('Cursor', 'state.vscdb', database('ItemTable (key TEXT)', 'cursorDiskKV (key TEXT)')),
  sample('Cursor', 'agent.jsonl', [
    ...numbers.map((n) => ({
      role: n % 2 === 0 ? 'assistant' : 'user',
      message: { content: [{ type: 'text', text: 'Hi' }] },
    })),
  ]),
  sample('Cursor', 'cli.jsonl', [
    {
      type: 'system',
      subtype: 'init',
      session_id: session,
      apiKeySource: 'login',
      cwd: '/srv',
      model: 'm',
      permissionMode: 'default',
    },
    ...numbers.map(() => ({
      type: 'assistant',
      message: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
      session_id: session,
    })),
  ]),
  sample('GitHub Copilot Chat', 'chat.json', {
    version: 3,
    requesterUsername: 'ann',
    responderUsername: 'GitHub Copilot',
    requests: [{ requestId: 'r1', message: { text: 'Hi' }, response: [] }],
  }),
  sample('Goose', 'session.jsonl', [
    { working_dir: '/srv/shop', description: 'Shop', message_count: 8, total_tokens: 10 },
    ...numbers.map((n) => ({
      role: n % 2 === 0 ? 'assistant' : 'user',
      created: n,
      content: [{ type: 'text', text: 'Hi' }],
    })),
  ]),
  sample(
    'Goose',
    'sessions.db',
    database('sessions (id TEXT, working_dir TEXT)', 'messages (content_json TEXT)'),
  ),
  sample(
    'Cline',
    'ui_messages.json',
    numbers.map((n) => ({ ts: n, type: 'say', say: 'text', text: 'Hi' })),
  ),
  sample(
    'Cline',
    'api_conversation_history.json',
    numbers.map((n) => ({
      role: n % 2 === 0 ? 'assistant' : 'user',
      content: [{ type: 'text', text: 'Hi' }],
    })),
  ),
  sample(
    'Aider',
    '.aider.chat.history.md',
    '\n# aider chat started at 2026-03-01 09:30:00\n\n#### Hi\n\nHello\n',
  ),
  sample('pi', 'session.jsonl', [
    { kind: 'header', version: 4, id: session, createdAt: time, cwd: '/srv/shop' },
    ...numbers.map((n) => ({ kind: 'entry', id: `e${n}`, entry: { text: 'Hi' } })),
  ]),
  sample(
    'OpenHands',
    'trajectory.json',
    numbers.map((n) => ({
      id: n,
      timestamp: time,
      source: 'agent',
      message: 'Runs',
      action: 'run',
      args: {},
    })),
  ),
  sample('OpenHands', 'events.jsonl', [
    ...numbers.map((n) => ({
      kind: 'MessageEvent',
      id: `e${n}`,
      timestamp: time,
      source: 'user',
      llm_message: {},
    })),
  ]),
  sample('SWE-agent', 'shop.traj', {
    trajectory: numbers.map(() => ({ action: 'ls', observation: 'a', response: 'b', thought: 'c' })),
    history: [],
    info: { exit_status: 'submitted' },
  }),
  sample('SWE-agent', 'mini.traj.json', { trajectory_format: 'mini-swe-agent-1', messages: [], info: {} }),
  sample('Inspect', 'eval.json', {
    version: 2,
    status: 'success',
    eval: { run_id: 'r', task: 'shop', task_id: 't', model: 'm' },
    samples: [],
  }),
  sample('Inspect', 'shop.eval', 'PK\u0003\u0004header.json'),
  sample('Amp', 'T-1.json', { v: 1, id: 'T-0197a000', messages: [{ role: 'user', content: [] }] }),
  sample('Continue', 'session.json', {
    sessionId: session,
    title: 'Shop',
    workspaceDirectory: '/srv',
    history: [],
  }),
  sample(
    'OpenTelemetry',
    'spans.jsonl',
    numbers.map(() => ({ resourceSpans: [{ scopeSpans: [] }] })),
  ),
  sample('an export of ChatGPT', 'conversations.json', [{ title: 'Shop', create_time: 1, mapping: {} }]),
  sample('an export of Claude.ai', 'conversations.json', [{ uuid: 'u', name: 'Shop', chat_messages: [] }]),
  sample(
    'the stream sft_dataset of a game log',
    'sft_dataset.jsonl',
    numbers.map(() => ({ prompt: 'p', completion: 'c', metadata: { game_id: 'g', agent_name: 'Ann' } })),
  ),
];
