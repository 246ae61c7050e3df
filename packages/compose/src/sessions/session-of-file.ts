import { readFileSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import type { DispatchRef } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { detectSessionFormat } from '@hansard/formats';
import { assertRegularFile, logImporters } from '@hansard/import';
import { noteTo } from '../context.ts';
import { harnessErrors } from '../harness-errors.ts';
import { importInHarness } from '../import-logs.ts';
import type { OpenParts } from '../open-parts.ts';
import { resolveSession } from './resolve-session.ts';
import { toTaskDir, toTaskName } from './task-name.ts';

/** The copy of a session log in the store, where its session continues. */
export interface SessionOfFile extends DispatchRef {
  /** What the file has now. */
  readonly events: readonly CapturedEvent[];
}

/**
 * Finds the copy of a session log of another program in the store, or imports it. The file is never written.
 * `task`: where it is. Absent: where it was imported, or else `chat/` and the name of the file.
 * @throws HARNESS_NOT_RESUMABLE for a file that is not a session log; HARNESS_AMBIGUOUS if several tasks have its copy; errors of the import and the store
 */
export async function sessionOfFile(
  parts: OpenParts,
  file: string,
  task: string | undefined,
): Promise<SessionOfFile> {
  const { store, context } = parts;
  const path = resolve(context.cwd, file);
  assertRegularFile(path);
  const bytes = readFileSync(path);
  const format = detectSessionFormat(bytes);
  const importer = logImporters.find(({ id }) => id === format);
  if (importer === undefined) throw notASessionLog(file, bytes.length);
  let found: DispatchRef | null = null;
  const findStart = async ([dispatchId = '']: readonly string[]) => {
    found = await findCopy(parts, dispatchId, task);
    return found === null ? null : Date.parse((await store.openDispatch(found)).envelope.startedAt);
  };
  const now = context.now ?? Date.now;
  const [log] = await importer.open({ files: [path], bytes: bytes.length }, { now, findStart });
  if (log === undefined) throw notASessionLog(file, bytes.length);
  const { dispatchId } = log;
  const events: CapturedEvent[] = [];
  for await (const batch of log.read()) events.push(...batch);
  const named = task ?? `chat/${basename(path, extname(path))}`;
  const { taskDir } = found ?? { taskDir: toTaskDir(named) };
  if (found === null) await importCopy(parts, path, named, importer.id);
  const place = `${toTaskName(taskDir)}/${dispatchId}`;
  noteTo(
    context,
    found === null
      ? `hansard: ${file} was copied to ${place}, where the session continues. The file is not changed.`
      : `hansard: ${file} was copied to ${place} before, where the session continues. The file is not changed.`,
  );
  return { taskDir, dispatchId, events };
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
  const what = bytes === 0 ? 'is empty' : 'is not a session log (session-v1 or session-v2)';
  return harnessErrors.error('HARNESS_NOT_RESUMABLE', `${file} ${what}, so no session continues it.`, {
    advice:
      '`hansard import PATH` reads the logs of other products; name a session of the store to continue.',
  });
}
