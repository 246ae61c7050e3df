import { constants, globSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import { messageOf } from '@hansard/events';
import { type ClaudeLog, readLogHead } from './claude-log.ts';
import { type BesideFile, findBeside, mostBytesOfMeta, resolveOwn } from './continue/beside-session.ts';
import { asKeptReading, findKept, isTranscriptRecord, type SessionFile } from './continue/kept-reading.ts';
import { TranscriptReading } from './continue/transcript-reading.ts';
import { asObject } from './lines/json-fields.ts';

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
  const main: SessionFile = { path, name: basename(path), bytes, modifiedAt, startsAt: firstTime, meta: {} };
  const files = [main, ...agents];
  const session = { id: head.sessionId, continues: head.continues?.sessionId ?? null };
  const known = new Set(files.flatMap((file) => [file.path, metaPathOf(file.path)]));
  const beside = [...findBeside(path, known), ...agents.flatMap((agent) => metadataOf(agent, folder))];
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
    isHeldTwice: (eventId) => reading.isHeldTwice(eventId),
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
  const sidecar = await readMeta(metaPathOf(path), folder);
  const facts = { path, name: relative(folder, path), prefix, ...sidecar };
  try {
    const { bytes, modifiedAt, startedAt, firstTime, agentId } = await readLogHead(path, isTranscriptRecord, {
      isNamedBySession: true,
    });
    const startsAt = startedAt ?? sessionStart ?? firstTime;
    return { ...facts, bytes, modifiedAt, ...(agentId === null ? {} : { agentId }), startsAt };
  } catch (error) {
    const bytesUnread = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    return { ...facts, bytes: 0, modifiedAt: 0, startsAt: sessionStart ?? 0, problem: error, bytesUnread };
  }
}

type Sidecar = Pick<SessionFile, 'meta' | 'metaProblem' | 'bytesOfMeta' | 'metaModifiedAt'>;

/** The metadata file of a sub-agent as a file beside the session, if it could be read. */
function metadataOf(agent: SessionFile, folder: string): BesideFile[] {
  const { agentId, bytesOfMeta: bytes, metaModifiedAt: modifiedAt, metaProblem } = agent;
  if (bytes === undefined || modifiedAt === undefined || metaProblem !== undefined) return [];
  const path = metaPathOf(agent.path);
  const name = relative(folder, path).replaceAll(sep, '/');
  const ofFile = basename(path, '.meta.json').replace(/^agent-/, '');
  return [{ path, name, bytes, modifiedAt, agentId: agentId ?? ofFile, isCounted: true }];
}

/** Reads the metadata file beside a sub-agent's transcript, if it is a regular file below the folder of the session. */
async function readMeta(path: string, folder: string): Promise<Sidecar> {
  const found = resolveOwn(path, folder);
  if (found.kind === 'absent') return { meta: {} };
  // A file outside has no byte of the source.
  const bytesOfMeta = found.kind === 'own' ? found.stats.size : 0;
  const problem = (metaProblem: string): Sidecar => ({ meta: {}, metaProblem, bytesOfMeta });
  if (found.kind === 'outside') return problem(`is a link to ${found.target}, outside of ${folder}`);
  if (found.kind === 'unreadable') return problem('is a link that leads nowhere');
  try {
    // A pipe would block the import, and a device never ends.
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await file.stat();
    if (!stats.isFile()) return problem('is not a regular file');
    if (stats.size > mostBytesOfMeta) return problem(`has ${stats.size} bytes, more than ${mostBytesOfMeta}`);
    const meta = asObject(JSON.parse(await file.readFile('utf8')));
    return meta === undefined
      ? problem('does not hold a JSON object')
      : { meta, bytesOfMeta, metaModifiedAt: stats.mtimeMs };
  } catch (error) {
    return problem(`cannot be read: ${messageOf(error)}`);
  }
}
