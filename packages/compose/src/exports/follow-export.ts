import { resolve } from 'node:path';
import { openLiveStreams } from '@hansard/datasets';
import type { DispatchLog } from '@hansard/dispatch';
import {
  addRedactions,
  type CapturedEvent,
  type RedactionCounts,
  redactionsOf,
  type TextSink,
} from '@hansard/events';
import { createSessionWriter, type SessionFormatId } from '@hansard/formats';
import { openLiveSessionLog } from '@hansard/formats/files';
import { harnessErrors } from '../harness-errors.ts';
import { openNamed } from '../sessions/resolve-session.ts';
import type { ExportFormatId, FormatOptions } from './export-formats.ts';
import type { ExportParts, ExportReading } from './export-source.ts';
import { sessionLogFacts, type Written } from './format-writers.ts';
import { mappingOf } from './named-files.ts';

interface FollowOptions extends ExportReading, FormatOptions {
  readonly as: ExportFormatId;
  readonly session?: string;
  readonly out?: string | TextSink;
}

interface FollowedExport extends Written {
  readonly path: string | null;
  readonly redactions: RedactionCounts;
}

/** What is written while a session is recorded. */
interface Followed extends Disposable {
  /** The file or folder; null: a sink of the program. */
  readonly path: string | null;
  /** Writes the lines that an event completes. */
  add(event: CapturedEvent): void | Promise<void>;
  /** Writes the remaining lines. */
  finish(): void | Promise<void>;
  facts(): Written;
}

/**
 * Writes the streams or the session log of a session until it ends, or until the signal aborts. The lines that an event completes are written
 * once it was recorded.
 * @throws HARNESS_OPTION_INVALID, FORMAT_FILE_DIFFERS
 */
export async function followExport(harness: ExportParts, options: FollowOptions): Promise<FollowedExport> {
  const { store, context, redactor: loadRedactor } = harness;
  const { as, session, onEvents, signal = context.signal } = options;
  if (session === undefined)
    throw harnessErrors.error('HARNESS_OPTION_INVALID', 'An export that follows is of one session.', {
      advice: `Name the session: hansard export SESSION --as ${as} --follow.`,
    });
  if (as === 'streams' && typeof options.out !== 'string')
    throw harnessErrors.error(
      'HARNESS_OPTION_INVALID',
      'Streams that are followed are written to a folder.',
      {
        advice: 'Name it: hansard export SESSION --as streams --follow --out FOLDER.',
      },
    );
  const { log } = await openNamed(store, session);
  using followed = open(log, context.cwd, options);
  const redactor = loadRedactor === null ? null : await loadRedactor();
  const redactions: Record<string, number> = {};
  const redacted = (event: CapturedEvent): CapturedEvent => {
    const without = redactor?.event(event) ?? event;
    if (without !== event) addRedactions(redactions, redactionsOf(without.data), redactionsOf(event.data));
    return without;
  };
  let events = 0;
  for await (const { event } of log.stream(signal === undefined ? {} : { signal })) {
    await followed.add(redacted(event));
    events += 1;
    onEvents?.(events);
  }
  const isWhole = signal?.aborted !== true;
  if (isWhole) await followed.finish();
  const { summary, leftOut, notes } = followed.facts();
  const { path } = followed;
  return { path, summary, leftOut, notes: [...(isWhole ? [] : [stillRunning(path)]), ...notes], redactions };
}

function stillRunning(path: string | null): string {
  const advice = path === null ? '' : `: the same command continues ${path}`;
  return `The session was still running${advice}.`;
}

function open(log: DispatchLog, cwd: string, options: FollowOptions): Followed {
  const { as, out, extended = false } = options;
  if (as === 'session-v1' || as === 'session-v2') return openSessionLog(as, log, cwd, options);
  const path = resolve(cwd, String(out));
  const streams = openLiveStreams(path, mappingOf(cwd, log.envelope, options.mapping), {
    runId: log.dispatchId,
    isExtended: extended,
  });
  return {
    ...streams,
    path,
    add(event) {
      streams.add(event);
      streams.flush();
    },
    facts: () => ({
      summary: { lines: { ...streams.lines }, runs: 1 },
      leftOut: streams.omitted(),
      notes: [],
    }),
  };
}

function openSessionLog(
  format: SessionFormatId,
  { envelope }: DispatchLog,
  cwd: string,
  { out, extended: isExtended = false }: FollowOptions,
): Followed {
  if (typeof out === 'string') {
    const path = resolve(cwd, out);
    const file = openLiveSessionLog(path, format, { isExtended });
    return {
      ...file,
      path,
      add(event) {
        file.add(event);
        file.flush();
      },
      facts: () => sessionLogFacts(format, [envelope], file.report()),
    };
  }
  if (out === undefined)
    throw harnessErrors.error('HARNESS_OPTION_INVALID', `${format} is written as one text.`, {
      advice: 'Name a file, or pass a sink for the text.',
    });
  const writer = createSessionWriter(format, { isExtended });
  const send = async (lines: readonly string[]) => {
    if (lines.length > 0) await out.write(lines.join(''));
  };
  return {
    path: null,
    add: (event) => send(writer.add(event)),
    finish: () => send(writer.finish()),
    facts: () => sessionLogFacts(format, [envelope], writer.report()),
    [Symbol.dispose]() {},
  };
}
