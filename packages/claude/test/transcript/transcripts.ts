import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CapturedEvent, type Fidelity, type JsonObject, parseEvent } from '@hansard/events';
import { type ClaudeLog, type ClaudeLogSummary, openClaudeTranscript } from '../../src/index.ts';

export interface ReadLog {
  readonly log: ClaudeLog;
  readonly events: CapturedEvent[];
  readonly summary: ClaudeLogSummary;
}

/** Reads a log to its end and checks that each of its events can be recorded, under an id of its own. */
export async function readToEnd(log: ClaudeLog, fidelity: Fidelity = 'full'): Promise<ReadLog> {
  const events: CapturedEvent[] = [];
  for await (const batch of log.read({ fidelity })) events.push(...batch.map((event) => parseEvent(event)));
  const ids = new Set(events.map(({ id }) => id));
  if (ids.size !== events.length) throw new Error('two events have the same id');
  return { log, events, summary: log.summary() };
}

/** Reads a transcript of these bytes, and files beside it by their path below the folder of it. */
export async function readTranscript(
  text: string | Uint8Array,
  {
    fidelity,
    beside = {},
    open = openClaudeTranscript,
  }: {
    fidelity?: Fidelity;
    beside?: Readonly<Record<string, string>>;
    open?: typeof openClaudeTranscript;
  } = {},
): Promise<ReadLog> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-transcript-'));
  try {
    const path = join(folder, 'session.jsonl');
    writeFileSync(path, text);
    for (const [name, content] of Object.entries(beside)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    return await readToEnd(await open(path), fidelity);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function codesOf({ summary }: ReadLog): string[] {
  return Object.keys(summary.counts).sort();
}

export function typesOf({ events }: ReadLog): string[] {
  return events.map(({ type }) => type);
}

/** A record of a session. Its number gives its time, in seconds. */
export function record(number: number, fields: JsonObject): JsonObject {
  return {
    parentUuid: number === 1 ? null : uuid(number - 1),
    isSidechain: false,
    userType: 'external',
    cwd: '/house',
    sessionId: 'session-1',
    version: '2.1.30',
    uuid: uuid(number),
    timestamp: new Date(Date.parse('2026-03-01T09:30:00.000Z') + number * 1_000).toISOString(),
    ...fields,
  };
}

export function uuid(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

export function prompt(number: number, text: string, fields: JsonObject = {}): JsonObject {
  return record(number, { type: 'user', message: { role: 'user', content: text }, ...fields });
}

export function answer(
  number: number,
  block: JsonObject,
  message: JsonObject = {},
  fields: JsonObject = {},
): JsonObject {
  const usage = { input_tokens: 3, output_tokens: 5 };
  const whole = {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    content: [block],
    stop_reason: null,
    usage,
  };
  return record(number, { type: 'assistant', message: { ...whole, ...message }, ...fields });
}

export function text(words: string): JsonObject {
  return { type: 'text', text: words };
}

export function call(id: string, name: string, input: JsonObject): JsonObject {
  return { type: 'tool_use', id, name, input };
}

export function outcome(number: number, id: string, content: string, fields: JsonObject = {}): JsonObject {
  const result = { type: 'tool_result', tool_use_id: id, content, is_error: false };
  return record(number, { type: 'user', message: { role: 'user', content: [result] }, ...fields });
}

export function lines(...records: readonly (JsonObject | string)[]): string {
  return records.map((item) => `${typeof item === 'string' ? item : JSON.stringify(item)}\n`).join('');
}

/** The links of an event to the answer that it carries or is made of: its own, or those of the report that it names. */
export function linksOf(
  events: readonly CapturedEvent[],
  event: CapturedEvent | undefined,
): Pick<CapturedEvent, 'substance' | 'cause'> {
  const report = events.find(({ id, type }) => type === 'system:agent_report' && id === event?.substance);
  const { substance, cause } = report ?? event ?? {};
  return { ...(substance === undefined ? {} : { substance }), ...(cause === undefined ? {} : { cause }) };
}
