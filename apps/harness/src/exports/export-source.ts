import type { DispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, type DispatchEnvelope, definedOnly } from '@hansard/events';
import { type CliContext, letInterrupt } from '../terminal/context.ts';
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
  return {
    context,
    taskDir,
    task: await store.getTask(taskDir),
    envelopes,
    relatives: await store.getDispatchEnvelopes(taskDir),
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
