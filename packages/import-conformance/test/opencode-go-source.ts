import type { RandomChoices, WrittenRecord } from '../src/index.ts';
import { databaseOf } from './database-layout.ts';

type Fields = Record<string, unknown>;

const start = 1_751_116_165;
const uuid = (number: number) => `411b21fc-ba1e-46e7-9bb4-${String(number).padStart(12, '0')}`;
const times = 'created_at INTEGER, updated_at INTEGER';
const definitions = {
  sessions: `id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, message_count INTEGER, prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL, summary_message_id TEXT, ${times}`,
  messages: `id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT, finished_at INTEGER, ${times}`,
  files: `id TEXT PRIMARY KEY, session_id TEXT, path TEXT, content TEXT, version TEXT, ${times}`,
};

const finish = (reason: string) => ({ type: 'finish', data: { reason, time: start } });
const textOf = (random: RandomChoices) => ({ type: 'text', data: { text: random.text() } });

function callOf(random: RandomChoices, id: string): Fields {
  const input = JSON.stringify({ command: random.text() });
  const type = random.pick(['function', 'tool_use']);
  return {
    type: 'tool_call',
    data: { id, name: random.pick(['bash', 'view']), input, type, finished: true },
  };
}

function answerOf(random: RandomChoices, id: string): Fields {
  const facts = { tool_call_id: id, name: '', metadata: random.text(), is_error: random.chance(0.3) };
  return { type: 'tool_result', data: { ...facts, content: random.text() } };
}

const tableOf = (row: Fields) =>
  'title' in row ? 'sessions' : 'content' in row && 'path' in row ? 'files' : 'messages';

/** The database of OpenCode in Go, made after a real one of June 2025. */
export function openCodeGoDatabase(random: RandomChoices): WrittenRecord[] {
  const rows: Fields[] = [];
  const at = () => ({ created_at: start + rows.length, updated_at: start + rows.length });
  const session = (id: string, parent: string | null) => {
    const figures = {
      message_count: 2,
      prompt_tokens: 100,
      completion_tokens: 5,
      cost: random.pick([0, 0.5]),
    };
    rows.push({
      id,
      parent_session_id: parent,
      title: random.text(),
      ...figures,
      summary_message_id: null,
      ...at(),
    });
  };
  const message = (owner: string, role: string, parts: readonly Fields[]) => {
    const more =
      role === 'assistant'
        ? { model: 'claude-4-sonnet', finished_at: start + rows.length }
        : { model: '', finished_at: null };
    rows.push({ id: uuid(rows.length), session_id: owner, role, parts, ...more, ...at() });
  };
  session(uuid(900), null);
  message(uuid(900), 'user', [textOf(random), finish('stop')]);
  const hasChild = random.chance(0.5);
  if (hasChild) session('toolu_01', uuid(900));
  while (rows.length < 7 + random.below(6)) {
    const owner = hasChild && random.chance(0.4) ? 'toolu_01' : uuid(900);
    const id = `toolu_${rows.length}`;
    const file = {
      id: uuid(rows.length),
      session_id: owner,
      path: '/srv/a',
      content: random.text(),
      version: random.pick(['initial', 'v1']),
      ...at(),
    };
    random.pick([
      () => message(owner, 'user', [textOf(random), finish('stop')]),
      () => {
        message(owner, 'assistant', [
          { type: 'reasoning', data: { thinking: random.text() } },
          textOf(random),
          callOf(random, id),
          finish('tool_use'),
        ]);
        message(owner, 'tool', [answerOf(random, id), finish('stop')]);
      },
      () => message(owner, 'assistant', [textOf(random), finish('end_turn')]),
      () => rows.push(file),
    ])();
  }
  const layout = (texts: readonly string[]) =>
    databaseOf(texts, definitions, tableOf, (value) => ({
      id: 'damaged-1',
      session_id: uuid(900),
      parts: JSON.stringify(value),
    }));
  return rows.map((row, number) => ({
    file: 'opencode.db',
    text: JSON.stringify(row),
    ...(number === 0 ? { layout } : {}),
  }));
}
