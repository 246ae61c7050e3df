import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope, TaskRecord } from '@hansard/events';
import { isStoreError } from '@hansard/provider';
import { type CliContext, letInterrupt } from '../terminal/context.ts';
import { noteProblem } from '../terminal/explain-error.ts';
import type { Progress } from '../terminal/progress.ts';
import type { ExportSource } from './task-export.ts';

const pageSize = 500;

export async function openExportSource(
  context: CliContext,
  store: DispatchStore,
  taskDir: string,
  envelopes: readonly DispatchEnvelope[],
  progress: Progress,
): Promise<ExportSource> {
  let count = 0;
  const listings = await store.listDispatches(taskDir);
  for (const { error } of listings)
    if (error !== undefined) noteProblem(context, error, 'What is exported does not refer to that dispatch.');
  return {
    context,
    taskDir,
    task: await readTask(context, store, taskDir),
    envelopes,
    relatives: listings.flatMap(({ envelope }) => envelope ?? []),
    async *readEvents(dispatchId) {
      const log = await store.openDispatch(taskDir, dispatchId);
      for await (const { events } of log.pages({ limit: pageSize })) {
        await letInterrupt(context);
        yield* events;
        count += events.length;
        progress.update(count);
      }
    },
  };
}

async function readTask(
  context: CliContext,
  store: DispatchStore,
  taskDir: string,
): Promise<TaskRecord | null> {
  try {
    return await store.getTask(taskDir);
  } catch (error) {
    if (!isStoreError(error, 'STORE_CORRUPT')) throw error;
    noteProblem(context, error, 'What is exported lacks the name of the task.');
    return null;
  }
}
