import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DispatchStore } from '@hansard/dispatch';
import { type ImportItem, type ImportOptions, importLogs } from '../src/index.ts';

export async function importAll(
  store: DispatchStore,
  paths: readonly string[],
  options: ImportOptions = {},
): Promise<ImportItem[]> {
  const items: ImportItem[] = [];
  for await (const item of importLogs(store, paths, options)) items.push(item);
  return items;
}

/** A folder that a test writes its logs to. */
export class LogFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'hansard-import-'));

  put(name: string, content: string): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}

export function lines(...records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** The first prompts of a session of Claude Code. */
export function prompts(count: number): object[] {
  return Array.from({ length: count }, (_, at) => ({
    type: 'user',
    parentUuid: null,
    isSidechain: false,
    cwd: '/home/ann/house',
    sessionId: 'session-1',
    message: { role: 'user', content: `Prompt ${at + 1}` },
    uuid: uuid(at + 1),
    timestamp: new Date(Date.parse('2026-03-01T09:30:00.000Z') + at * 1_000).toISOString(),
  }));
}

const agent = { message_id: 'm1', event_type: 'agent_created', agent_id: 'a1', name: 'Ann' };
const said = { agent_id: 'a1', role: 'user', content: 'Hi' };
const turn = { timestamp: '2026-03-01T10:00:00.000Z', turn: 'Day 1' };

function codexRecord(type: string, payload: object): object {
  return { timestamp: '2026-03-01T09:30:00.000Z', type, payload };
}

const at = { timestamp: '2026-03-01T09:30:01.000Z' };

function piEntry(parentId: string | null, role: string, text: string): object {
  return {
    type: 'message',
    id: `e-${role}`,
    parentId,
    ...at,
    message: { role, content: [{ type: 'text', text }] },
  };
}

function qwenRecord(type: string, text: string): object {
  const message = { role: type === 'user' ? 'user' : 'model', parts: [{ text }] };
  return { uuid: `u-${type}`, parentUuid: null, sessionId: 's', ...at, type, message };
}

function copilotEvent(type: string, data: object): object {
  return { type, data, id: `e-${type}`, ...at, parentId: null };
}

/** Flat records as Python writes them, with spaces. */
const pythonLines = (...records: readonly object[]) =>
  records
    .map((record) => Object.entries(record).map(([key, value]) => `"${key}": ${JSON.stringify(value)}`))
    .map((fields) => `{${fields.join(', ')}}\n`)
    .join('');

/** A small log of each format. */
export const logOfFormat: Readonly<Record<string, string>> = {
  'claude-transcript': lines(...prompts(2)),
  'claude-stream': lines(
    { type: 'user', session_id: 's', message: { role: 'user', content: 'Hello' }, uuid: uuid(1) },
    { type: 'user', session_id: 's', message: { role: 'user', content: 'Bye' }, uuid: uuid(2) },
  ),
  smallchat: pythonLines(
    {
      ...{ message_id: '0', event_type: 'agent_created', agent: 'primary', role: 'primary' },
      ...{ name: 'Primary', cause: 'user', parent: 'user', language_model: 'm' },
    },
    ...[1, 2, 3, 4, 5, 6].map((n) => ({
      message_id: `${n}`,
      event_type: n % 2 === 0 ? 'transcript_entry' : 'fragment',
      agent: 'primary',
      ...(n % 2 === 0 ? { role: 'user' } : {}),
      content: 'Hi',
    })),
  ),
  codex: lines(
    codexRecord('session_meta', { id: 't-1', cwd: '/home/ann/house' }),
    codexRecord('response_item', { type: 'message', role: 'assistant', content: [] }),
  ),
  atif: `${JSON.stringify({
    schema_version: 'ATIF-v1.7',
    session_id: 's',
    agent: { name: 'terminus-2', version: '2.0.0' },
    steps: [
      { step_id: 1, source: 'user', message: 'Hello' },
      { step_id: 2, source: 'agent', message: 'Bye' },
    ],
  })}\n`,
  'gemini-cli': lines(
    { sessionId: 's', projectHash: 'ab12', startTime: '2026-03-01T09:30:00.000Z', kind: 'main' },
    { id: uuid(1), timestamp: '2026-03-01T09:30:00.000Z', type: 'user', content: [{ text: 'Hello' }] },
    { id: uuid(2), timestamp: '2026-03-01T09:30:01.000Z', type: 'gemini', content: 'Bye' },
  ),
  pi: lines(
    { type: 'session', version: 3, id: 's', timestamp: '2026-03-01T09:30:00.000Z', cwd: '/home/ann/house' },
    piEntry(null, 'user', 'Hello'),
    piEntry('e-user', 'assistant', 'Bye'),
  ),
  'qwen-code': lines(qwenRecord('user', 'Hello'), qwenRecord('assistant', 'Bye')),
  'copilot-cli': lines(
    copilotEvent('session.start', { sessionId: 's', selectedModel: 'm' }),
    copilotEvent('user.message', { content: 'Hello' }),
  ),
  'session-v1': lines(agent, { ...said, message_id: 'm2' }, { ...said, message_id: 'm3', role: 'assistant' }),
  'session-v2': lines(agent, { ...said, message_id: 'm2', event_type: 'transcript_entry' }),
  'game-log': lines(
    { ...turn, event_type: 'GAME_START', payload: { players: ['Ann', 'Bo'] } },
    { ...turn, speaker: 'Ann', message: 'Hello' },
  ),
  'werewolf-match': JSON.stringify({ chat: [{ from: 'Ann', to: ['Bo'], content: 'Hello' }] }, null, 2),
};
