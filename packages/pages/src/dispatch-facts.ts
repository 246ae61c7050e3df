import type { DispatchEnvelope } from '@hansard/events';
import {
  costInWords,
  formatDuration,
  formatUsage,
  modelsInWords,
  timeNotRecorded,
  withOpenCalls,
} from '@hansard/facts';
import type { SessionFacts } from '@hansard/views';

/** The known facts about a dispatch as a whole, by name. */
export function dispatchFacts(
  envelope: DispatchEnvelope,
  session: SessionFacts | null,
): [name: string, value: string][] {
  const model = session?.model ?? envelope.model;
  const figures = withOpenCalls(envelope);
  const cost = session?.costUsd ?? figures.cost;
  const usage = session?.usage ?? figures.usage;
  const facts: readonly (readonly [string, string | null])[] = [
    ['session', envelope.dispatchId],
    ['status', envelope.status],
    ['model', model],
    ['bot', envelope.botId],
    ['parent', envelope.parentDispatchId],
    ['folder', envelope.cwd],
    ['started', envelope.startedAt ?? timeNotRecorded],
    ['ended', envelope.completedAt ?? (envelope.status === 'running' ? null : timeNotRecorded)],
    ['duration', session === null || session.durationMs === null ? null : formatDuration(session.durationMs)],
    ['cost', costInWords({ ...figures, cost })],
    ['usage', usage === null ? null : formatUsage(usage)],
    ['models', modelsInWords(figures)],
    ['fidelity', envelope.fidelity],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
}
