const time = '2026-03-01T09:30:00.000Z';
const session = '0197a000-0000-7000-8000-000000000001';
const numbers = [1, 2, 3, 4, 5, 6];
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const lines = (...records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');
const each = (record: (n: number) => object) => lines(...numbers.map(record));

/** A short source of each known format, made after its documentation, by the id of its importer or the name of its product. */
export const otherFormats: Readonly<Record<string, string>> = {
  'claude-transcript': each((n) => ({
    type: 'user',
    parentUuid: null,
    isSidechain: false,
    sessionId: session,
    uuid: uuid(n),
    timestamp: time,
    message: { role: 'user', content: `Prompt ${n}` },
  })),
  'claude-stream': each((n) => ({
    type: 'user',
    session_id: session,
    uuid: uuid(n),
    message: { role: 'user', content: `Prompt ${n}` },
  })),
  'session-v1': each((n) => ({ message_id: `m${n}`, agent_id: 'a1', role: 'assistant', content: 'Hi' })),
  'session-v2': each((n) => ({
    message_id: `m${n}`,
    event_type: 'transcript_entry',
    agent_id: 'a1',
    role: 'assistant',
    content: 'Hi',
  })),
  smallchat: each((n) => ({
    message_id: `${n}`,
    event_type: 'transcript_entry',
    agent: 'primary',
    role: 'assistant',
    content: 'Hi',
  })),
  'game-log': each((n) => ({ timestamp: time, turn: `Day ${n}`, speaker: 'Ann', message: 'Hello' })),
  'werewolf-match': JSON.stringify({ chat: [{ from: 'Ann', to: ['Bo'], content: 'Hello' }] }),
  codex: each((n) => ({
    timestamp: time,
    type: 'response_item',
    payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: `Step ${n}` }] },
  })),
  'Gemini CLI': each((n) => ({ id: `m${n}`, timestamp: time, type: 'user', content: [{ text: 'Hello' }] })),
  OpenCode: each((n) => ({
    type: 'text',
    timestamp: n,
    sessionID: 'ses_01',
    part: { id: `prt_${n}`, messageID: 'msg_01', text: 'Hi' },
  })),
  pi: each((n) => ({
    type: 'message',
    id: `i${n}`,
    parentId: null,
    timestamp: time,
    message: { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
  })),
  'chat rows': each(() => ({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ],
  })),
  'program log': each((n) => ({ level: 'info', time: n, msg: 'started', pid: 7 })),
  numbers: '1\n2\n3\n4\n5\n6\n',
  prose: 'Once upon a time\nthere was a log.\n',
  nothing: '',
};
