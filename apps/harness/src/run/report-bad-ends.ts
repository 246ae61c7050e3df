import { toTaskName } from '@hansard/compose';
import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { dispatchEnding } from '@hansard/views';
import { CliError, exitCode } from '../terminal/cli-error.ts';

/** How many of the last events can contain the stop: an agent may still work for a while after it. */
const lookBack = 500;

/** Reports each dispatch that is not `completed`, with the reason. @throws CliError if there is one */
export async function reportBadEnds(
  store: DispatchStore,
  taskDir: string,
  ended: readonly DispatchEnvelope[],
): Promise<void> {
  const bad = ended.filter(({ status }) => status !== 'completed');
  if (bad.length === 0) return;
  const reports: string[] = [];
  for (const { role, dispatchId, status } of bad) {
    const { events } = await (await store.openDispatch({ taskDir, dispatchId })).last(lookBack);
    const { trouble } = dispatchEnding({ status }, events);
    const why = trouble === null ? '' : `: ${trouble}`;
    reports.push(`${role} ${dispatchId} ${status === 'aborted' ? 'was aborted' : status}${why}`);
  }
  throw new CliError(
    exitCode.failed,
    reports.join('\n  '),
    `The log has everything up to that point: \`hansard show ${toTaskName(taskDir)}/${bad[0]?.dispatchId}\`.`,
  );
}
