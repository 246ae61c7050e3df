import type { DispatchEnvelope } from '@hansard/events';
import { dispatchDuration, formatCost, formatTime, formatUsage } from '@hansard/facts';
import type { DispatchStartNotice } from '@hansard/provider';
import type { EventLine } from '@hansard/views';

/** The line of a dispatch that starts. */
export function dispatchStartLine({ taskDir, envelope }: DispatchStartNotice): EventLine {
  const { role, model, startedAt } = envelope;
  return {
    time: formatTime(startedAt),
    agent: '',
    kind: 'start',
    target: role,
    text: [model, taskDir, envelope.dispatchId].filter(Boolean).join(', '),
    tone: 'notice',
  };
}

/** The line of a dispatch that has ended, with its cost and usage. */
export function dispatchEndLine(envelope: DispatchEnvelope): EventLine {
  const { role, status, cost, usage, startedAt, completedAt } = envelope;
  const figures = [cost === null ? '' : formatCost(cost), usage === null ? '' : formatUsage(usage)];
  return {
    time: formatTime(completedAt ?? startedAt),
    agent: '',
    kind: 'end',
    target: role,
    status,
    durationMs: dispatchDuration(envelope) ?? undefined,
    text: figures.filter(Boolean).join(', '),
    tone: status === 'completed' ? 'good' : 'bad',
  };
}
