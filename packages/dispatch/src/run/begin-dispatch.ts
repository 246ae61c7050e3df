import { ensureTaskOf } from '../store/ensure-task-record.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { AgentRun } from './agent-run.ts';
import { RecordedTime } from './recorded-time.ts';
import { RunLog } from './run-log.ts';
import type { RunDispatchOptions } from './run-options.ts';
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
