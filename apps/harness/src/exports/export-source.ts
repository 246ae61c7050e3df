import type { DispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, type DispatchEnvelope, definedOnly, type TaskRecord } from '@hansard/events';
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
      for await (const events of pagesOf(store, taskDir, dispatchId)) {
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

async function* pagesOf(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
): AsyncGenerator<readonly CapturedEvent[]> {
  let after: number | undefined;
  do {
    const page = await store.readEvents(taskDir, dispatchId, {
      limit: pageSize,
      ...definedOnly({ after }),
    });
    yield page.events;
    after = page.events.length < pageSize ? undefined : page.next;
  } while (after !== undefined);
}
