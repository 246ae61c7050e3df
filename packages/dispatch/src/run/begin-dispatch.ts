import type { DispatchEnvelope } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { ensureTaskOf } from '../store/ensure-task-record.ts';
import { openToolbox, type Toolbox } from '../tools/toolbox.ts';
import { AgentRun } from './agent-run.ts';
import type { DispatchRun } from './dispatch-run.ts';
import { RecordedTime, RunLog } from './run-log.ts';
import { checkRunOptions, type RunDispatchOptions } from './run-options.ts';
import type { BegunDispatch, RunFamily, RunPlace } from './run-place.ts';

/** What a dispatch that can have workers shares with them. */
export function familyOf(toolbox: Toolbox): RunFamily {
  const family: RunFamily = {
    toolbox,
    slots: { taken: 0 },
    members: new Map(),
    begin: (ofWorker, depth) => beginDispatch(ofWorker, { depth, family }),
  };
  return family;
}

/** Resolves when the envelope is durable; the agent runs from then on. */
async function beginDispatch(options: RunDispatchOptions, place: RunPlace): Promise<BegunDispatch> {
  const { store, taskDir, agent, role, dispatchId, model, cwd, parentDispatchId, botId, fidelity } = options;
  const start = (await agent.recordedStart?.(options.signal ?? new AbortController().signal)) ?? null;
  const recordedTime = start === null ? null : new RecordedTime(start);
  const dispatch = await store.beginDispatch(
    taskDir,
    { role, dispatchId, model, cwd, parentDispatchId, botId, fidelity },
    {
      owner: 'a run',
      communication: options.communication,
      now: recordedTime === null ? undefined : () => recordedTime.now(),
    },
  );
  const { envelope } = dispatch;
  // A worker has the task of its caller.
  if (place.depth === 0)
    await ensureTaskOf(store, taskDir, envelope, options.onTaskProblem).catch((error) => {
      dispatch.abandon();
      throw error;
    });
  const run = new AgentRun(options, place, new RunLog(dispatch, recordedTime));
  const { completed, ended } = run.drive();
  completed.catch(() => dispatch.abandon());
  return {
    dispatchId: dispatch.dispatchId,
    envelope,
    completed,
    ended,
    stream: (live) => dispatch.stream(live),
    send: (text, source) => run.send(text, source),
    abort: (reason, by) => run.abort(reason, by),
  };
}

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
