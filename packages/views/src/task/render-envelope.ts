import type { DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import {
  costInWords,
  dispatchDuration,
  formatDuration,
  formatUsage,
  modelsInWords,
  timeNotRecorded,
  withOpenCalls,
} from '@hansard/facts';
import { openRewindInWords } from '../words/row-words.ts';

/** The known facts about a dispatch, one on a line, below its role. */
export function renderEnvelope(
  envelope: DispatchEnvelope,
  {
    status = envelope.status,
    task = envelope.taskSlug,
    durationMs = dispatchDuration(envelope),
  }: {
    /** The status in words. Absent: that of the envelope. */
    readonly status?: string | undefined;
    /** The task, as commands take it. Absent: its slug. */
    readonly task?: string | undefined;
    /** Absent: the time from start to end. */
    readonly durationMs?: number | null;
  } = {},
): string {
  const figures = withOpenCalls(envelope);
  const facts: readonly (readonly [string, string | null])[] = [
    ['title', envelope.title],
    ['session', envelope.dispatchId],
    ['task', task],
    ['parent', envelope.parentDispatchId],
    ['status', status],
    ['model', envelope.model],
    ['folder', envelope.cwd],
    ['started', envelope.startedAt ?? timeNotRecorded],
    ['ended', envelope.completedAt ?? (envelope.status === 'running' ? null : timeNotRecorded)],
    ['duration', durationMs === null ? null : formatDuration(durationMs)],
    ['cost', costInWords(figures)],
    ['usage', figures.usage === null ? null : formatUsage(figures.usage)],
    ['models', modelsInWords(figures)],
    ['at end', openRewindInWords(envelope)],
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === null ? [] : [`  ${name.padEnd(8)}  ${neutraliseControlsInLine(value)}`],
  );
  return [neutraliseControlsInLine(envelope.role), ...lines].join('\n');
}
