import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { isStoreError } from '@hansard/provider';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { toTaskName } from './task-name.ts';

/** The dispatches of a task, oldest first; an error where there are none. */
export async function findDispatches(store: DispatchStore, taskDir: string): Promise<DispatchEnvelope[]> {
  const envelopes = await store.getDispatchEnvelopes(taskDir);
  if (envelopes.length > 0) return envelopes;
  throw new CliError(
    exitCode.failed,
    `There is no dispatch of ${toTaskName(taskDir)}.`,
    '`hansard ls` lists the tasks that have some.',
  );
}

/** One dispatch of a task, by its id, by the beginning or the end of it where that fits only one, or `latest`. */
export async function findDispatch(
  store: DispatchStore,
  taskDir: string,
  wanted: string,
): Promise<DispatchEnvelope> {
  const envelopes = await findDispatches(store, taskDir).catch(async (error) => {
    // Another dispatch of the task may be damaged.
    const exact = isStoreError(error, 'STORE_CORRUPT') ? await findExactly(store, taskDir, wanted) : null;
    if (exact === null) throw error;
    return [exact];
  });
  const fitting =
    wanted === 'latest'
      ? envelopes.slice(-1)
      : envelopes.filter(({ dispatchId }) => dispatchId.startsWith(wanted) || dispatchId.endsWith(wanted));
  const exact = fitting.find(({ dispatchId }) => dispatchId === wanted);
  const found = exact ?? (fitting.length === 1 ? fitting[0] : undefined);
  if (found !== undefined) return found;
  const name = toTaskName(taskDir);
  throw new CliError(
    exitCode.failed,
    fitting.length === 0
      ? `${name} has no dispatch ${wanted}.`
      : `${wanted} fits ${fitting.length} dispatches of ${name}.`,
    `\`hansard ls ${name}\` lists them; the last characters of an id are enough, and so is "latest".`,
  );
}

/** Null also for what is no id at all, such as the end of one. */
async function findExactly(
  store: DispatchStore,
  taskDir: string,
  wanted: string,
): Promise<DispatchEnvelope | null> {
  try {
    return await store.getDispatchEnvelope(taskDir, wanted);
  } catch (error) {
    if (isStoreError(error, 'STORE_INVALID_PATH')) return null;
    throw error;
  }
}
