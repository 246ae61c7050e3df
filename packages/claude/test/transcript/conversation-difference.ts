import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';
import { TranscriptTree } from '@hansard/prompt';
import type { ClaudeLogRest, ClaudeLogSummary, openClaudeTranscript } from '../../src/index.ts';
import type { WrittenConversation } from './random-conversations.ts';

type Open = typeof openClaudeTranscript;

/** The row of an event. */
export function rowOf({ id }: CapturedEvent): string {
  return id.replace(/\.\d+$/, '');
}

export function treeOf(events: readonly CapturedEvent[]): TranscriptTree<CapturedEvent> {
  const tree = new TranscriptTree<CapturedEvent>();
  for (const event of events) tree.add(event, event);
  return tree;
}

/** The rows before an answer on its branch, each once. */
export function rowsBefore(tree: TranscriptTree<CapturedEvent>, answer: string): string[] {
  const values = tree.pathBefore(answer)?.values ?? [];
  return [...new Set(values.filter(({ type }) => type !== 'agent:inference').map(rowOf))];
}

const ofPrompts = /^(user:message|agent:(text|thinking|tool_call|tool_result)|session:compaction)$/;

/** The rows of entries that only abandoned branches have. */
export function abandonedRows(events: readonly CapturedEvent[]): string[] {
  const tree = treeOf(events);
  const kept = new Set(
    tree
      .branches('')
      .filter(({ state, address }) => state !== 'abandoned' && address !== null)
      .flatMap(({ address }) => tree.branchPath(address ?? '')?.values ?? [])
      .map(({ id }) => id),
  );
  const own = events.filter(({ agentId, type }) => agentId === undefined && ofPrompts.test(type));
  return [...new Set(own.filter(({ id }) => !kept.has(id) && !tree.isRetracted(id)).map(rowOf))];
}

export function textOf(rows: readonly JsonObject[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** What is wrong in the reading of a conversation, read at once and as it grew to these numbers of bytes; null: nothing. */
export async function conversationDifference(
  written: WrittenConversation,
  cuts: readonly number[],
  open: Open,
): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-conversation-'));
  try {
    const path = join(folder, 'session.jsonl');
    const bytes = Buffer.from(textOf(written.rows));
    writeFileSync(path, bytes);
    const log = await open(path);
    const events = await eventsOf(log);
    const { openRewind } = log.summary();
    if ((openRewind !== null) !== written.isOpen) return `the open rewind is ${JSON.stringify(openRewind)}`;
    return (
      pathDifference(written, events) ??
      abandonedDifference(written, events, openRewind) ??
      (await growthDifference(path, bytes, cuts, { events, openRewind }, open))
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function pathDifference({ prompts }: WrittenConversation, events: readonly CapturedEvent[]): string | null {
  const tree = treeOf(events);
  if (tree.problems.length > 0) return JSON.stringify(tree.problems);
  for (const [answer, should] of prompts) {
    const is = rowsBefore(tree, answer);
    if (is.join() !== should.join()) return `${answer} was given ${is.join()}, not ${should.join()}`;
  }
  return null;
}

function abandonedDifference(
  { abandoned, rows }: WrittenConversation,
  events: readonly CapturedEvent[],
  openRewind: { readonly id: string; readonly keptThrough: string | null } | null,
): string | null {
  if (abandoned === null) return null;
  const rewind = { id: 'open', type: 'session:rewind' as const, timestamp: null, data: { ...openRewind } };
  const all = openRewind === null ? events : [...events, rewind];
  const asked = new Set(
    rows.flatMap(({ type, message, uuid }) =>
      type === 'user' && /Request/.test(JSON.stringify(message)) ? [String(uuid)] : [],
    ),
  );
  const is = abandonedRows(all)
    .filter((row) => asked.has(row))
    .sort();
  return is.join() === abandoned.join() ? null : `abandoned are ${is.join()}, not ${abandoned.join()}`;
}

/** Reads the file as it grew, each time continuing the reading before where that is possible. */
async function growthDifference(
  path: string,
  bytes: Buffer,
  cuts: readonly number[],
  { events, openRewind }: { readonly events: readonly CapturedEvent[]; readonly openRewind: object | null },
  open: Open,
): Promise<string | null> {
  let known: CapturedEvent[] = [];
  let kept: JsonValue | null = null;
  for (const cut of [...cuts, bytes.length]) {
    writeFileSync(path, bytes.subarray(0, cut));
    const log = await open(path);
    const rest: ClaudeLogRest | null = kept === null ? null : log.continueAfter(kept);
    const more = rest === null ? [] : await eventsOf(rest);
    const isContinued: boolean = rest !== null && !rest.isLost();
    known = isContinued ? [...known, ...more] : await eventsOf(log);
    const summary: Pick<ClaudeLogSummary, 'kept' | 'openRewind'> = (
      isContinued ? (rest ?? log) : log
    ).summary();
    kept = summary.kept;
    if (cut === bytes.length && JSON.stringify(summary.openRewind) !== JSON.stringify(openRewind))
      return `the open rewind is ${JSON.stringify(summary.openRewind)}, not ${JSON.stringify(openRewind)}`;
    const wrong = known.findIndex((event, at) => JSON.stringify(event) !== JSON.stringify(events[at]));
    if (wrong >= 0)
      return `after ${cut} bytes (${isContinued ? 'continued' : 'whole'}), event ${wrong} is ${JSON.stringify(known[wrong])}`;
  }
  return known.length === events.length ? null : `${known.length} events grew, not ${events.length}`;
}

async function eventsOf(log: Pick<ClaudeLogRest, 'read'>): Promise<CapturedEvent[]> {
  const events: CapturedEvent[] = [];
  for await (const batch of log.read()) events.push(...batch);
  return events;
}
