import type { DispatchEnvelope } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { openToolbox } from '../tools/toolbox.ts';
import { familyOf } from './begin-dispatch.ts';
import type { DispatchRun } from './dispatch-run.ts';
import { checkRunOptions, type RunDispatchOptions } from './run-options.ts';

/**
 * Dispatches an agent: creates the envelope, then records, publishes and supervises the activities of the agent. Resolves
 * when the envelope is durable, and the record of the task if it had none. Handle `ended` of the run at once.
 *
 * @throws STORE_DISPATCH_NOT_FOUND if the task has no dispatch `parentDispatchId`; the errors of `beginDispatch`; the error
 * of a tool provider that cannot list its tools; DISPATCH_OPTION_INVALID
 */
export async function startDispatch(options: RunDispatchOptions): Promise<DispatchRun> {
  checkRunOptions(options);
  const { parentDispatchId, tools = [], signal } = options;
  if (parentDispatchId !== undefined) await assertParent(options, parentDispatchId);
  return familyOf(await openToolbox(tools, signal)).begin(options, 0);
}

/** Dispatches an agent and waits for its end: `startDispatch`, then `ended`. */
export async function runDispatch(options: RunDispatchOptions): Promise<DispatchEnvelope> {
  const run = await startDispatch(options);
  return run.ended;
}

async function assertParent({ store, taskDir }: RunDispatchOptions, parentDispatchId: string): Promise<void> {
  const parent = { taskDir, dispatchId: parentDispatchId };
  if ((await store.findDispatch(parent)) !== null) return;
  throw storeErrors.error(
    'STORE_DISPATCH_NOT_FOUND',
    `The task ${taskDir} has no dispatch ${parentDispatchId} to be the parent; a worker belongs to the task of its parent.`,
    { details: { ...parent } },
  );
}
