/** Generates transcripts of Claude Code for measurements, in the proportions of real ones. */
import { closeSync, openSync, writeSync } from 'node:fs';

const sessionId = '5e550000-0000-4000-8000-000000000001';
const firstTime = Date.parse('2026-03-01T09:30:00.000Z');

/** Meaningless words: strings with the length and the line ends of real ones. */
function prose(length: number, seed: number): string {
  const words = [
    'the',
    'loader',
    'reads',
    'each',
    '"manifest"',
    'before',
    'it',
    'runs',
    'any',
    'code;\n',
    'naïve',
    'paths/to/a.ts',
  ];
  let text = '';
  for (let word = seed; text.length < length; word += 7) text += `${words[word % words.length]} `;
  return text.slice(0, length);
}

/** Writes a transcript of at least this number of bytes, and gives its exact size. */
export function writeTranscript(path: string, bytes: number): number {
  const file = openSync(path, 'w');
  let written = 0;
  for (let turn = 0; written < bytes; turn += 1) {
    const lines = turnOf(turn).map((record) => `${JSON.stringify(record)}\n`);
    written += writeSync(file, lines.join(''));
  }
  closeSync(file);
  return written;
}

/** One round of a session: a thought, a text, a call, a hook, its result, and now and then a prompt and bookkeeping. */
function turnOf(turn: number): object[] {
  const said = [...answersOf(turn), ...callRecordsOf(turn)];
  return turn % 8 === 0 ? [...said, ...promptOf(turn)] : said;
}

/** A thought, a text and a call of the model. */
function answersOf(turn: number): object[] {
  const contents = [
    { type: 'thinking', thinking: prose(400, turn), signature: prose(300, turn) },
    { type: 'text', text: prose(180, turn) },
    {
      type: 'tool_use',
      id: callOf(turn),
      name: 'Bash',
      input: { command: prose(120, turn), description: prose(40, turn) },
      caller: { type: 'direct' },
    },
  ];
  return contents.map((content, at) => ({
    ...common(turn, at + 1),
    type: 'assistant',
    requestId: `req_${hex(turn, 20)}`,
    message: message(turn, content),
  }));
}

/** What happens to the call: a hook, and its result. */
function callRecordsOf(turn: number): object[] {
  const call = callOf(turn);
  const output = prose(turn % 10 === 0 ? 12_000 : 1_500, turn);
  return [
    {
      ...common(turn, 4),
      type: 'progress',
      data: {
        type: 'hook_progress',
        hookEvent: 'PostToolUse',
        hookName: 'PostToolUse:Bash',
        command: prose(60, turn),
      },
      parentToolUseID: call,
      toolUseID: call,
    },
    {
      ...common(turn, 5),
      type: 'user',
      message: {
        role: 'user',
        content: [{ tool_use_id: call, type: 'tool_result', content: output, is_error: false }],
      },
      toolUseResult: {
        stdout: output,
        stderr: '',
        interrupted: false,
        isImage: false,
        noOutputExpected: false,
      },
      sourceToolAssistantUUID: uuid(turn, 3),
    },
  ];
}

/** The prompt of a user, with the records around it. */
function promptOf(turn: number): object[] {
  return [
    {
      type: 'file-history-snapshot',
      messageId: uuid(turn, 6),
      snapshot: { messageId: uuid(turn, 6), trackedFileBackups: {}, timestamp: common(turn, 6).timestamp },
      isSnapshotUpdate: false,
    },
    {
      ...common(turn, 6),
      type: 'user',
      message: { role: 'user', content: prose(90, turn) },
      permissionMode: 'default',
    },
    { type: 'permission-mode', permissionMode: 'default', sessionId },
  ];
}

/** The fields that the records of a turn share. Each record names the one before it. */
function common(turn: number, part: number) {
  const before = turn === 0 ? null : uuid(turn - 1, 5);
  return {
    parentUuid: part === 1 ? before : uuid(turn, part - 1),
    isSidechain: false,
    userType: 'external',
    cwd: '/home/somebody/projects/house',
    sessionId,
    version: '2.1.30',
    gitBranch: 'main',
    slug: 'quiet-reading-lamp',
    uuid: uuid(turn, part),
    timestamp: new Date(firstTime + turn * 5_000 + part * 300).toISOString(),
  };
}

function message(turn: number, content: object): object {
  return {
    model: 'claude-opus-4-6',
    id: `msg_${hex(turn, 20)}`,
    type: 'message',
    role: 'assistant',
    content: [content],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 3,
      cache_creation_input_tokens: 512,
      cache_read_input_tokens: 20_000 + turn,
      cache_creation: { ephemeral_5m_input_tokens: 512, ephemeral_1h_input_tokens: 0 },
      output_tokens: 60,
      service_tier: 'standard',
      inference_geo: 'not_available',
    },
  };
}

function callOf(turn: number): string {
  return `toolu_${hex(turn, 20)}`;
}

function uuid(turn: number, part: number): string {
  return `${hex(turn, 8)}-0000-4000-8000-${hex(part, 12)}`;
}

function hex(value: number, length: number): string {
  return value.toString(16).padStart(length, '0');
}
