import { readFileSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import type { DispatchRef } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { detectSessionFormat } from '@hansard/formats';
import { assertRegularFile, logImporters } from '@hansard/import';
import { readSessionState, sessionErrors } from '@hansard/session';
import { noteTo } from '../context.ts';
import { harnessErrors } from '../harness-errors.ts';
import { importInHarness } from '../import-logs.ts';
import type { OpenParts } from '../open-parts.ts';
import { resolveSession } from './resolve-session.ts';
import { toTaskDir, toTaskName } from './task-name.ts';

/** A session log of another program, and its copy in the store, where its session continues. */
export interface SessionOfFile {
  /** The file, as it was named. */
  readonly name: string;
  /** What the file has now. */
  readonly events: readonly CapturedEvent[];
  /** The model that the file names for its root. Null: none. */
  readonly languageModel: string | null;
  /** The copy; null: there is none yet. */
  readonly copied: DispatchRef | null;
  /** Imports the file if the store has no copy of it, says where the copy is, and resolves to it. */
  copy(): Promise<DispatchRef>;
}

/**
 * Reads a session log of another program, and finds its copy in the store. It writes nothing until `copy` is called, and never the file.
 * `task`: where the copy is. Absent: where the file was imported, otherwise `chat/` and the name of the file.
 * @throws HARNESS_NOT_RESUMABLE for a file that is not a session log, or whose log no session can continue; HARNESS_AMBIGUOUS if several tasks
 * have its copy; errors of the import and the store
 */
export async function sessionOfFile(
  parts: OpenParts,
  file: string,
  task: string | undefined,
): Promise<SessionOfFile> {
  const { context } = parts;
  const path = resolve(context.cwd, file);
  assertRegularFile(path);
  const bytes = readFileSync(path);
  const format = detectSessionFormat(bytes);
  const importer = logImporters.find(({ id }) => id === format);
  if (importer === undefined) throw notASessionLog(file, bytes.length);
  const now = context.now ?? Date.now;
  const [log] = await importer.open({ files: [path], bytes: bytes.length }, { now });
  if (log === undefined) throw notASessionLog(file, bytes.length);
  const { dispatchId } = log;
  const copied = await findCopy(parts, dispatchId, task);
  const events: CapturedEvent[] = [];
  for await (const batch of log.read()) events.push(...batch);
  const named = task ?? `chat/${basename(path, extname(path))}`;
  return {
    name: file,
    events,
    languageModel: await modelOf(file, events, copied !== null),
    copied,
    async copy() {
      if (copied === null) await importCopy(parts, path, named, importer.id);
      const { taskDir } = copied ?? { taskDir: toTaskDir(named) };
      const place = `${toTaskName(taskDir)}/${dispatchId}${copied === null ? '' : ' before'}`;
      noteTo(
        context,
        `hansard: ${file} was copied to ${place}, where the session continues. The file is not changed.`,
      );
      return { taskDir, dispatchId };
    },
  };
}

/** The model of the root of a file. A file that was copied may have changed since. @throws HARNESS_NOT_RESUMABLE */
async function modelOf(
  file: string,
  events: readonly CapturedEvent[],
  isCopied: boolean,
): Promise<string | null> {
  try {
    const { hasRoot, languageModel } = await readSessionState({ events });
    if (hasRoot || isCopied) return languageModel;
  } catch (error) {
    if (!sessionErrors.is(error, 'SESSION_LOG_INVALID')) throw error;
    if (isCopied) return null;
    throw notResumable(file, 'creates no agent (agent_created), so there is nobody to talk to', error);
  }
  throw notResumable(file, 'has only peers and no root, so there is nobody to talk to');
}

function notResumable(file: string, what: string, cause?: unknown): Error {
  return harnessErrors.error(
    'HARNESS_NOT_RESUMABLE',
    `The session log ${file} ${what}. Nothing was copied.`,
    {
      advice:
        '`hansard import PATH` records it, so that it can be read. Name a session that has a root to continue.',
      cause,
    },
  );
}

async function findCopy(
  { store }: OpenParts,
  dispatchId: string,
  task: string | undefined,
): Promise<DispatchRef | null> {
  if (task !== undefined) {
    const reference = { taskDir: toTaskDir(task), dispatchId };
    return (await store.findDispatch(reference)) === null ? null : reference;
  }
  try {
    return await resolveSession(store, dispatchId);
  } catch (error) {
    if (harnessErrors.is(error, 'HARNESS_NOT_FOUND')) return null;
    throw error;
  }
}

async function importCopy(parts: OpenParts, path: string, task: string, as: string): Promise<void> {
  for await (const item of importInHarness(parts, [path], { task, as })) {
    if (item.kind === 'failed') throw item.error;
    if (item.kind !== 'imported') continue;
    for (const { line, message } of item.diagnostics)
      noteTo(parts.context, `hansard: ${basename(path)}, line ${line}: ${message}`);
  }
}

function notASessionLog(file: string, bytes: number): Error {
  const what = bytes === 0 ? 'is empty' : 'is not a session log (session-v1, session-v2 or smallchat)';
  return harnessErrors.error('HARNESS_NOT_RESUMABLE', `${file} ${what}, so no session continues it.`, {
    advice:
      '`hansard import PATH` reads the logs of other products; name a session of the store to continue.',
  });
}
