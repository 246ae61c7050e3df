import type { DispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, type DispatchEnvelope, isEventOf } from '@hansard/events';
import { eventLine } from '@hansard/views';
import { toTaskName } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';

/** How many of the last events can contain the stop: an agent may still work for a while after it. */
const lookBack = 500;

/** The events that record who or what stopped a dispatch. */
const stops: ReadonlySet<string> = new Set([
  'harness:abort',
  'harness:timeout',
  'harness:stall',
  'harness:loop_kill',
]);

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
    const stop = status === 'aborted' ? events.findLast(({ type }) => stops.has(type)) : undefined;
    const end = stop ?? events.findLast(isBadEnd);
    const why = end === undefined ? '' : `: ${reasonOf(end)}`;
    reports.push(`${role} ${dispatchId} ${status === 'aborted' ? 'was aborted' : status}${why}`);
  }
  throw new CliError(
    exitCode.failed,
    reports.join('\n  '),
    `The log has everything up to that point: \`hansard show ${toTaskName(taskDir)} ${bad[0]?.dispatchId}\`.`,
  );
}

function isBadEnd(event: CapturedEvent): boolean {
  if (isEventOf(event, 'session:complete')) return event.data.status !== 'completed';
  return event.type === 'harness:error';
}

function reasonOf(event: CapturedEvent): string {
  const { kind, target, text } = eventLine(event);
  if (event.type === 'session:complete') return text;
  return [kind, target, text].filter((part) => part !== '').join(' ');
}
