import type { DispatchEnvelope } from '@hansard/events';
import { agentsNamed, createLogIndex, findEvent, type LogAgent, type LogIndex } from '@hansard/views';
import type { Harness } from '../harness.ts';
import { findDispatch } from '../tasks/find-dispatch.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { CliContext } from '../terminal/context.ts';
import { note } from '../terminal/context.ts';
import { createProgress } from '../terminal/progress.ts';

export interface SessionLogInput {
  readonly task: string;
  readonly dispatch: string;
}

/** Reads the log of one dispatch and its index. Diagnostics are printed on standard error. */
export async function readSessionLog(
  context: CliContext,
  { store }: Harness,
  { task, dispatch }: SessionLogInput,
): Promise<{ readonly envelope: DispatchEnvelope; readonly index: LogIndex }> {
  const taskDir = toTaskDir(task);
  const { envelope } = await findDispatch(store, taskDir, dispatch);
  const progress = createProgress(context, 'reading events');
  const events = await store.getDispatchEvents(taskDir, envelope.dispatchId);
  progress.update(events.length);
  progress.end();
  const index = createLogIndex(events);
  for (const { message } of index.diagnostics) note(context, `hansard: ${message}`);
  if (envelope.fidelity === 'narrative')
    note(context, 'hansard: recorded as a narrative: tool input and output are not in the log.');
  return { envelope, index };
}

/** The agent with a name or an id. @throws CliError that lists the agents if none, or more than one, matches */
export function findAgent(index: LogIndex, wanted: string): LogAgent {
  const fitting = agentsNamed(index, wanted);
  const [found] = fitting;
  if (found !== undefined && fitting.length === 1) return found;
  const labels = (agents: Iterable<LogAgent>) =>
    [...agents]
      .map(({ agentId, name, label }) => (name === null ? label : `${name} (${agentId})`))
      .join(', ');
  throw new CliError(
    exitCode.failed,
    found === undefined
      ? `There is no agent ${JSON.stringify(wanted)}.`
      : `${fitting.length} agents are named ${JSON.stringify(wanted)}: ${labels(fitting)}.`,
    found === undefined ? `The agents are: ${labels(index.agents.values())}.` : 'Name the agent by its id.',
  );
}

/** Refuses an unknown id. */
export function assertEvent(index: LogIndex, id: string): void {
  if (findEvent(index, id) !== null) return;
  throw new CliError(
    exitCode.failed,
    `There is no event or message ${id}.`,
    '`hansard events TASK DISPATCH --json` prints the ids.',
  );
}
