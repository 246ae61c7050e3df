import { createLogIndex } from '@hansard/views';
import type { Harness } from '../harness.ts';
import { findDispatch } from '../tasks/find-dispatch.ts';
import { findTask } from '../tasks/find-task.ts';
import type { CliContext } from '../terminal/context.ts';
import { note } from '../terminal/context.ts';
import { createProgress } from '../terminal/progress.ts';
import { SessionLog } from './session-log.ts';

export interface SessionLogInput {
  readonly task: string;
  readonly dispatch: string;
}

/** Reads the log of one dispatch and its index. Diagnostics are printed on standard error. */
export async function readSessionLog(
  context: CliContext,
  { store }: Harness,
  { task, dispatch }: SessionLogInput,
): Promise<SessionLog> {
  const taskDir = await findTask(store, task);
  const { envelope } = await findDispatch(store, taskDir, dispatch);
  const progress = createProgress(context, 'reading events');
  const events = await store.getDispatchEvents(taskDir, envelope.dispatchId);
  progress.update(events.length);
  progress.end();
  const index = createLogIndex(events);
  for (const { message } of index.diagnostics) note(context, `hansard: ${message}`);
  if (envelope.fidelity === 'narrative')
    note(context, 'hansard: recorded as a narrative: tool input and output are not in the log.');
  return new SessionLog(envelope, index, context.zone);
}
