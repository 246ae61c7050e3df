import type { DispatchEnvelope } from '@hansard/events';
import { dispatchDuration, formatCost, formatDuration, formatUsage } from '@hansard/facts';
import type { DispatchStartNotice } from '@hansard/provider';
import type { Words } from '@hansard/views';

/** The words of a dispatch that starts. */
export function dispatchStartWords({ taskDir, envelope }: DispatchStartNotice): Words {
  const { role, model, startedAt } = envelope;
  const text = [model, taskDir, envelope.dispatchId].filter(Boolean).join(', ');
  return {
    timestamp: startedAt,
    tone: 'notice',
    isFailed: false,
    spans: [
      { label: 'word', text: 'start' },
      { label: 'head', text: role },
    ],
    blocks: [{ kind: 'text', source: 'content', text, isProse: false }],
  };
}

/** The words of a dispatch that has ended, with its cost and usage. */
export function dispatchEndWords(envelope: DispatchEnvelope): Words {
  const { role, status, cost, usage, startedAt, completedAt } = envelope;
  const figures = [cost === null ? '' : formatCost(cost), usage === null ? '' : formatUsage(usage)];
  const durationMs = dispatchDuration(envelope);
  return {
    timestamp: completedAt ?? startedAt,
    tone: status === 'completed' ? 'good' : 'bad',
    isFailed: status !== 'completed',
    spans: [
      { label: 'word', text: 'end' },
      { label: 'head', text: role },
      { label: 'status', text: status },
      { label: 'duration', text: durationMs === null ? '' : formatDuration(durationMs) },
    ],
    blocks: [{ kind: 'text', source: 'content', text: figures.filter(Boolean).join(', '), isProse: false }],
  };
}
