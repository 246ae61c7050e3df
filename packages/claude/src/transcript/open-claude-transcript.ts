import { constants, globSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { JsonObject } from '@hansard/events';
import type { ClaudeLog } from '../log/claude-log.ts';
import { readLogHead } from '../log/read-log-head.ts';
import { asObject } from '../values/json-fields.ts';
import { isTranscriptRecord } from './is-transcript-record.ts';
import { type SessionFile, TranscriptReading } from './transcript-reading.ts';

export interface OpenTranscriptOptions {
  /** Transcripts of the session's sub-agents. Absent: those in the folder `SESSION/subagents` beside the file, where Claude Code keeps them. */
  readonly subAgents?: readonly string[];
}

/**
 * Opens the transcript of a Claude Code session, with the transcripts of its sub-agents, which become agents of the same
 * dispatch. Reads up to the first record with a time.
 * @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NOT_JSONL
 */
export async function openClaudeTranscript(
  path: string,
  { subAgents = findSubAgents(path) }: OpenTranscriptOptions = {},
): Promise<ClaudeLog> {
  const { startedAt, ...head } = await readLogHead(path, isTranscriptRecord);
  const agents: SessionFile[] = [];
  for (const file of subAgents) agents.push(await openSubAgent(file, head.hasTime ? startedAt : undefined));
  // An agent is called before it begins, so its caller is read first.
  agents.sort((a, b) => a.startsAt - b.startsAt || (a.path < b.path ? -1 : 1));
  const main: SessionFile = { path, bytes: head.bytes, startsAt: head.firstTime, meta: {} };
  const own = head.continues === null ? undefined : (head.sessionId ?? undefined);
  const reading = new TranscriptReading([main, ...agents], head.hasTime, own);
  return {
    format: 'claude-transcript',
    files: [main, ...agents].map((file) => file.path),
    bytes: [main, ...agents].reduce((sum, { bytes }) => sum + bytes, 0),
    dispatchId: head.dispatchId,
    sessionId: head.sessionId,
    continues: head.continues,
    cwd: head.cwd,
    startedAt,
    hasTime: head.hasTime,
    read: (options) => reading.read(options),
    summary: () => reading.summary(),
  };
}

/** The transcripts of sub-agents beside the transcript of a session, sorted. */
export function findSubAgents(path: string): string[] {
  const folder = join(dirname(path), basename(path, extname(path)), 'subagents');
  return globSync('**/*.jsonl', { cwd: folder })
    .sort()
    .map((name) => join(folder, name));
}

/** A file that is empty, or holds no record yet, is opened like any other and reported when it is read. */
async function openSubAgent(path: string, sessionStart: number | undefined): Promise<SessionFile> {
  const name = basename(path, extname(path));
  const meta = await readMeta(join(dirname(path), `${name}.meta.json`));
  try {
    const { bytes, startedAt, hasTime, agentId } = await readLogHead(path, isTranscriptRecord);
    const named = agentId === null ? {} : { agentId };
    return { path, bytes, name, ...named, meta, startsAt: hasTime ? startedAt : (sessionStart ?? startedAt) };
  } catch (error) {
    return { path, bytes: 0, name, meta, startsAt: sessionStart ?? 0, problem: error };
  }
}

const mostBytesOfMeta = 1_000_000;

async function readMeta(path: string): Promise<JsonObject> {
  try {
    // A pipe would block the import, and a device never ends.
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > mostBytesOfMeta) return {};
    return asObject(JSON.parse(await file.readFile('utf8'))) ?? {};
  } catch {
    // The file is optional: most sub-agents have none, and a broken one is ignored.
    return {};
  }
}
