import { createHash } from 'node:crypto';
import type { SessionKey } from '@anthropic-ai/claude-agent-sdk';

export interface DispatchName {
  readonly taskDir: string;
  readonly dispatchId: string;
}

/** Where the transcript of a key lies. */
export interface TranscriptPlace extends DispatchName {
  /** The dispatch of the session itself, where this is a part of it; null for the session itself. */
  readonly parentDispatchId: string | null;
}

const longestSlug = 60;

/**
 * The dispatch of a key. Any three strings have one of their own: what names it is a hash, which no path, no capital
 * letter and no length can fool; the readable part before it is for people.
 */
export function transcriptPlace(
  { projectKey, sessionId, subpath }: SessionKey,
  taskDirOf: (projectKey: string) => string,
): TranscriptPlace {
  if (subpath === '') throw new TypeError("subpath is ''; leave it out for the main transcript of a session");
  const taskDir = taskDirOf(projectKey);
  const main = `claude-${slug(sessionId)}${hash([projectKey, sessionId])}`;
  if (subpath === undefined) return { taskDir, dispatchId: main, parentDispatchId: null };
  const name = slug(subpath.slice(subpath.lastIndexOf('/') + 1));
  const part = `claude-${name}${hash([projectKey, sessionId, subpath])}`;
  return { taskDir, dispatchId: part, parentDispatchId: main };
}

/** The task that holds the sessions of a project where the user names none. */
export function defaultTaskDir(projectKey: string): string {
  return `claude-sessions/tasks/${slug(projectKey)}${hash([projectKey])}`;
}

/** The end of a name is what tells it from others: a path ends with the project, an id has no better half. */
function slug(name: string): string {
  const plain = name
    .toLowerCase()
    .slice(-longestSlug)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return plain === '' ? '' : `${plain}-`;
}

function hash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
