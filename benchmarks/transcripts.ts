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
  const uuid = (part: number) => `${hex(turn, 8)}-0000-4000-8000-${hex(part, 12)}`;
  const parent = turn === 0 ? null : `${hex(turn - 1, 8)}-0000-4000-8000-${hex(5, 12)}`;
  const common = (part: number) => ({
    parentUuid: part === 1 ? parent : uuid(part - 1),
    isSidechain: false,
    userType: 'external',
    cwd: '/home/somebody/projects/house',
    sessionId,
    version: '2.1.30',
    gitBranch: 'main',
    slug: 'quiet-reading-lamp',
    uuid: uuid(part),
    timestamp: new Date(firstTime + turn * 5_000 + part * 300).toISOString(),
  });
  const message = (content: object) => ({
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
  });
  const call = `toolu_${hex(turn, 20)}`;
  const output = prose(turn % 10 === 0 ? 12_000 : 1_500, turn);
  const records: object[] = [
    {
      ...common(1),
      type: 'assistant',
      requestId: `req_${hex(turn, 20)}`,
      message: message({ type: 'thinking', thinking: prose(400, turn), signature: prose(300, turn) }),
    },
    {
      ...common(2),
      type: 'assistant',
      requestId: `req_${hex(turn, 20)}`,
      message: message({ type: 'text', text: prose(180, turn) }),
    },
    {
      ...common(3),
      type: 'assistant',
      requestId: `req_${hex(turn, 20)}`,
      message: message({
        type: 'tool_use',
        id: call,
        name: 'Bash',
        input: { command: prose(120, turn), description: prose(40, turn) },
        caller: { type: 'direct' },
      }),
    },
    {
      ...common(4),
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
      ...common(5),
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
      sourceToolAssistantUUID: uuid(3),
    },
  ];
  if (turn % 8 === 0)
    records.push(
      {
        type: 'file-history-snapshot',
        messageId: uuid(6),
        snapshot: { messageId: uuid(6), trackedFileBackups: {}, timestamp: common(6).timestamp },
        isSnapshotUpdate: false,
      },
      {
        ...common(6),
        type: 'user',
        message: { role: 'user', content: prose(90, turn) },
        permissionMode: 'default',
      },
      { type: 'permission-mode', permissionMode: 'default', sessionId },
    );
  return records;
}

function hex(value: number, length: number): string {
  return value.toString(16).padStart(length, '0');
}
