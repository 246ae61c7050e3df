import type { DispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, type DispatchEnvelope, isEventOf } from '@hansard/events';
import { eventLine } from '@hansard/views';
import { toTaskName } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';

/** What an agent still does while it is stopped fits in. */
const lookBack = 500;

/** The events that tell who or what stopped a dispatch. */
const stops: ReadonlySet<string> = new Set([
  'harness:abort',
  'harness:timeout',
  'harness:stall',
  'harness:loop_kill',
]);

/** @throws CliError that tells of each dispatch that is not `completed` why */
export async function tellBadEnds(
  store: DispatchStore,
  taskDir: string,
  ended: readonly DispatchEnvelope[],
): Promise<void> {
  const bad = ended.filter(({ status }) => status !== 'completed');
  if (bad.length === 0) return;
  const told: string[] = [];
  for (const { role, dispatchId, status } of bad) {
    const events = await store.getRecentEvents(taskDir, dispatchId, lookBack);
    const stop = status === 'aborted' ? events.findLast(({ type }) => stops.has(type)) : undefined;
    const end = stop ?? events.findLast(isBadEnd);
    const why = end === undefined ? '' : `: ${reasonOf(end)}`;
    told.push(`${role} ${dispatchId} ${status === 'aborted' ? 'was aborted' : status}${why}`);
  }
  throw new CliError(
    exitCode.failed,
    told.join('\n  '),
    `It is recorded up to there: \`hansard show ${toTaskName(taskDir)} ${bad[0]?.dispatchId}\`.`,
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
