import { type CapturedEvent, toNarrative } from '@hansard/events';
import type { FormatDiagnostic, FormatReport, LogOrigin } from '@hansard/formats';
import type { OpenLog } from '@hansard/provider';

/** A log that was read as a whole. */
export interface WholeLog {
  readonly events: readonly CapturedEvent[];
  readonly report: FormatReport;
  readonly origin: LogOrigin;
  /** Whether the log says how it ended. */
  readonly isComplete: boolean;
}

const batchSize = 1_000;

export function openWholeLog(
  facts: Pick<OpenLog, 'format' | 'files' | 'dispatchId' | 'role'>,
  { events, report, origin, isComplete }: WholeLog,
): OpenLog {
  const times = events.flatMap(({ timestamp }) => timestamp ?? []);
  return {
    ...facts,
    startedAt: momentOf(times[0]),
    ...(origin.id === null && origin.time === null ? { identifiedByPlace: origin.file ?? '' } : {}),
    async *read({ fidelity = 'full' } = {}) {
      for (let at = 0; at < events.length; at += batchSize) {
        const batch = events.slice(at, at + batchSize);
        yield fidelity === 'full' ? batch : batch.map((event) => toNarrative(event));
      }
    },
    summary: () => ({
      records: report.records,
      events: events.length,
      status: isComplete ? 'completed' : 'aborted',
      completedAt: momentOf(times.at(-1)),
      diagnostics: report.diagnostics,
      counts: countsOf(report.diagnostics),
    }),
  };
}

function momentOf(timestamp: string | undefined): number | null {
  return timestamp === undefined ? null : Date.parse(timestamp);
}

function countsOf(diagnostics: readonly FormatDiagnostic[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { code } of diagnostics) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
