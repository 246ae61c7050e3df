import { createHash } from 'node:crypto';
import type { SessionKey } from '@anthropic-ai/claude-agent-sdk';
import type { DispatchRef } from '@hansard/dispatch';

/** The dispatch of a transcript, whether or not it exists. */
export interface TranscriptPlace extends DispatchRef {
  /** The dispatch of the session if the transcript is a part of it; null for the session itself. */
  readonly parentDispatchId: string | null;
}

/** One name for the dispatch of a transcript. */
export function nameOf(place: DispatchRef): string {
  return `${place.taskDir}\n${place.dispatchId}`;
}

/** The session of a transcript: the transcript itself, or the session that it is a part of. */
export function sessionOf(place: TranscriptPlace): DispatchRef {
  return { ...place, dispatchId: place.parentDispatchId ?? place.dispatchId };
}

const longestSlug = 60;

/**
 * The dispatch of a key. Every combination of the three strings has its own dispatch: the id contains a hash, so paths,
 * capital letters and length do not matter. The readable part before the hash is for people.
 */
export function transcriptPlace(
  { projectKey, sessionId, subpath }: SessionKey,
  taskDirOf: (projectKey: string) => string,
): TranscriptPlace {
  if (subpath === '') throw new TypeError("subpath is ''; leave it out for the main transcript of a session");
  const main = {
    taskDir: taskDirOf(projectKey),
    dispatchId: `claude-${slug(sessionId)}${hash([projectKey, sessionId])}`,
    parentDispatchId: null,
  };
  if (subpath === undefined) return main;
  const name = slug(subpath.slice(subpath.lastIndexOf('/') + 1));
  const dispatchId = `claude-${name}${hash([projectKey, sessionId, subpath])}`;
  return { ...main, dispatchId, parentDispatchId: main.dispatchId };
}

/** The task of a project's sessions if the user names none. */
export function defaultTaskDir(projectKey: string): string {
  return `claude-sessions/tasks/${slug(projectKey)}${hash([projectKey])}`;
}

/** Keeps the end of a long name: a path ends with the project, and any half of an id is equally distinct. */
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
