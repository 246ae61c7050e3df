import type { DispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, type DispatchEnvelope, isEventOf } from '@hansard/events';
import { eventLine } from '@hansard/views';
import { CliError, exitCode } from '../cli-error.ts';
import { toTaskName } from '../task-name.ts';

/** The events that tell why a dispatch did not end by itself. */
const endings: ReadonlySet<string> = new Set([
  'harness:error',
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
    const events = await store.getRecentEvents(taskDir, dispatchId, 20);
    const end = events.findLast(({ type }) => endings.has(type)) ?? events.findLast(isBadCompletion);
    const why = end === undefined ? '' : `: ${reasonOf(end)}`;
    told.push(`${role} ${dispatchId} ${status === 'aborted' ? 'was aborted' : status}${why}`);
  }
  throw new CliError(
    exitCode.failed,
    told.join('\n  '),
    `It is recorded up to there: \`hansard show ${toTaskName(taskDir)} ${bad[0]?.dispatchId}\`.`,
  );
}

function isBadCompletion(event: CapturedEvent): boolean {
  return isEventOf(event, 'session:complete') && event.data.status !== 'completed';
}

function reasonOf(event: CapturedEvent): string {
  const { kind, target, text } = eventLine(event);
  if (event.type === 'session:complete') return text;
  return [kind, target, text].filter((part) => part !== '').join(' ');
}
