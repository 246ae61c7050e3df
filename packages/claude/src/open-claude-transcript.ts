import { globSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { type ClaudeLog, readLogHead } from './claude-log.ts';
import { findBeside, readMetadata, resolveOwn } from './continue/beside-session.ts';
import { asKeptReading, findKept, isTranscriptRecord, type SessionFile } from './continue/kept-reading.ts';
import { TranscriptReading } from './continue/transcript-reading.ts';

/**
 * Opens the transcript of a Claude Code session, with the transcripts of its sub-agents, which become agents of the same
 * dispatch. Reads up to the first record with a time.
 * @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NOT_JSONL
 */
export async function openClaudeTranscript(
  path: string,
  {
    subAgents = findSubAgents(path),
  }: {
    /** Transcripts of the session's sub-agents. Absent: those in the folder `SESSION/subagents` beside the file, where Claude Code keeps them. */
    readonly subAgents?: readonly string[];
  } = {},
): Promise<ClaudeLog> {
  const { startedAt, ...head } = await readLogHead(path, isTranscriptRecord, { isNamedBySession: true });
  const agents: SessionFile[] = [];
  const folder = dirname(path);
  for (const file of subAgents) agents.push(await openSubAgent(file, folder, startedAt ?? undefined));
  // An agent is called before it begins, so its caller is read first.
  agents.sort((a, b) => a.startsAt - b.startsAt || (a.path < b.path ? -1 : 1));
  const { bytes, modifiedAt, firstTime } = head;
  const main: SessionFile = { path, name: basename(path), bytes, modifiedAt, startsAt: firstTime };
  const files = [main, ...agents];
  const session = { id: head.sessionId, continues: head.continues?.sessionId ?? null };
  const known = new Set(files.flatMap((file) => [file.path, metaPathOf(file.path)]));
  const beside = [...findBeside(path, known), ...agents.flatMap(({ sidecar = [] }) => sidecar)];
  const reading = new TranscriptReading(files, beside, head.hasTime, session);
  return {
    format: 'claude-transcript',
    files: [...files, ...beside.filter(({ problem }) => problem === undefined)].map((file) => file.path),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    dispatchId: head.dispatchId,
    sessionId: head.sessionId,
    continues: head.continues,
    cwd: head.cwd,
    startedAt,
    hasTime: head.hasTime,
    read: (options) => reading.read(options),
    summary: () => reading.summary(),
    isInSeveralRecords: (eventId) => reading.isInSeveralRecords(eventId),
    continueAfter(value) {
      const kept = asKeptReading(value);
      if (kept === null || !head.hasTime || kept.continues !== session.continues) return null;
      const places = findKept(kept, files);
      if (places === null) return null;
      const rest = new TranscriptReading(files, beside, true, session, { kept, places });
      return {
        read: (options) => rest.read(options),
        summary: () => rest.summary(),
        isLost: () => rest.isLost,
      };
    },
  };
}

/** The transcripts of sub-agents beside the transcript of a session, sorted. A link out of the session's folder is not followed. */
export function findSubAgents(path: string): string[] {
  const folder = join(dirname(path), basename(path, extname(path)), 'subagents');
  return globSync('**/*.jsonl', { cwd: folder })
    .sort()
    .map((name) => join(folder, name))
    .filter((file) => resolveOwn(file, dirname(path)).kind !== 'outside');
}

/** The metadata file beside the transcript of a sub-agent. */
function metaPathOf(path: string): string {
  return join(dirname(path), `${basename(path, extname(path))}.meta.json`);
}

/** A file that is empty, or holds no record yet, is opened like any other and reported when it is read. */
async function openSubAgent(
  path: string,
  folder: string,
  sessionStart: number | undefined,
): Promise<SessionFile> {
  const prefix = basename(path, extname(path));
  const metadata = await readMetadata(metaPathOf(path), folder);
  const factsOf = (agentId: string | null) => ({
    ...{ path, name: relative(folder, path), prefix },
    ...(agentId === null ? {} : { agentId }),
    ...(metadata === null
      ? {}
      : { sidecar: { ...metadata, agentId: agentId ?? prefix.replace(/^agent-/, '') } }),
  });
  try {
    const { bytes, modifiedAt, startedAt, firstTime, agentId } = await readLogHead(path, isTranscriptRecord, {
      isNamedBySession: true,
    });
    return { ...factsOf(agentId), bytes, modifiedAt, startsAt: startedAt ?? sessionStart ?? firstTime };
  } catch (error) {
    const bytesUnread = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const startsAt = sessionStart ?? 0;
    return { ...factsOf(null), bytes: 0, modifiedAt: 0, startsAt, problem: error, bytesUnread };
  }
}
