import type { Harness } from '@hansard/compose';
import { openTaskSource } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { type CliContext, letInterrupt } from '../terminal/context.ts';
import { noteProblem } from '../terminal/explain-error.ts';
import type { Progress } from '../terminal/progress.ts';
import type { ExportSource } from './task-export.ts';

const consequences = {
  dispatch: 'The export has no reference to that dispatch.',
  task: 'The export does not have the name of the task.',
} as const;

/**
 * Reads the given dispatches of a task for an export, without the secrets that the configuration replaces. Shows the progress, and
 * stops at Ctrl-C.
 */
export async function openExportSource(
  context: CliContext,
  { store, redactor }: Pick<Harness, 'store' | 'redactor'>,
  taskDir: string,
  envelopes: readonly DispatchEnvelope[],
  progress: Progress,
): Promise<ExportSource> {
  const source = await openTaskSource(store, taskDir, {
    envelopes,
    onUnreadable: (error, omitted) => noteProblem(context, error, consequences[omitted]),
    async onPage(events) {
      progress.update(events);
      await letInterrupt(context);
    },
  });
  if (redactor === null) return { context, ...source, redactions: () => ({}) };
  const { redactSource } = await import('@hansard/redaction');
  const redacted = redactSource(source, await redactor());
  return { context, ...redacted.source, redactions: redacted.counts };
}
