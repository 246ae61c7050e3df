import { setImmediate as nextTurn } from 'node:timers/promises';
import { copiedEvents, type DispatchLog, openTaskSource } from '@hansard/dispatch';
import type { DispatchEnvelope, RedactionCounts, TaskSource } from '@hansard/events';
import type { RedactorLoader } from '../configured-redactor.ts';
import { inWords, noteTo } from '../context.ts';
import type { OpenParts } from '../open-parts.ts';
import { openNamed } from '../sessions/resolve-session.ts';

/** The parts of a harness that an export reads. */
export interface ExportParts extends OpenParts {
  readonly redactor: RedactorLoader | null;
}

/** How an export reads. */
export interface ExportReading {
  /** Receives the number of events that were read so far. */
  readonly onEvents?: (events: number) => void;
  /** Ends the export between two pages, with its reason. Absent: that of the harness. */
  readonly signal?: AbortSignal;
}

/** The dispatches of a task without the secrets that the configuration replaces. */
export interface ExportSource extends TaskSource {
  /** The secrets that were replaced in what was read, by their kind. */
  redactions(): RedactionCounts;
}

const consequences = {
  dispatch: 'The export has no reference to that dispatch.',
  task: 'The export does not have the name of the task.',
} as const;

export async function openExportSource(
  { store, redactor, context }: ExportParts,
  taskDir: string,
  envelopes: readonly DispatchEnvelope[],
  { onEvents, signal = context.signal }: ExportReading,
): Promise<ExportSource> {
  const source = await openTaskSource(store, taskDir, {
    envelopes,
    onUnreadable: (error, omitted) =>
      noteTo(context, `hansard: ${inWords(error)}\n  ${consequences[omitted]}`),
    async onPage(events) {
      onEvents?.(events);
      // A synchronous store would keep signals waiting until the end.
      await nextTurn(undefined, signal === undefined ? {} : { signal });
    },
  });
  if (redactor === null) return { ...source, redactions: () => ({}) };
  const { redactSource } = await import('@hansard/redaction');
  const redacted = redactSource(source, await redactor());
  return { ...redacted.source, redactions: redacted.counts };
}

/** A session, as an export reads it. */
export interface OpenedSource {
  readonly log: DispatchLog;
  readonly source: ExportSource;
}

/**
 * A source of one session. Its copied events are those that it has from any session of the store: a packet has only
 * its own events.
 */
export async function openSessionSource(
  harness: ExportParts,
  session: string,
  reading: ExportReading,
): Promise<OpenedSource> {
  const { taskDir, log } = await openNamed(harness.store, session);
  const source = await openExportSource(harness, taskDir, [log.envelope], reading);
  const copiedOf = () => copiedEvents(harness.store, log, log.envelope);
  return { log, source: { ...source, copiedEvents: copiedOf } };
}
