import { resolve } from 'node:path';
import { openLiveStreams } from '@hansard/datasets';
import {
  addRedactions,
  type CapturedEvent,
  type JsonObject,
  type RedactionCounts,
  redactionsOf,
  type TextSink,
} from '@hansard/events';
import { harnessErrors } from '../harness-errors.ts';
import { openNamed } from '../sessions/resolve-session.ts';
import type { FormatOptions } from './export-formats.ts';
import type { ExportParts, ExportReading } from './export-source.ts';
import { mappingOf } from './named-files.ts';

interface FollowOptions extends ExportReading, FormatOptions {
  readonly session?: string;
  readonly out?: string | TextSink;
}

interface FollowedStreams {
  readonly path: string;
  readonly summary: JsonObject;
  readonly notes: readonly string[];
  readonly redactions: RedactionCounts;
}

/**
 * Writes the streams of a session until it ends, or until the signal aborts. The lines of an event are in the files once it was recorded.
 * @throws HARNESS_OPTION_INVALID, FORMAT_FILE_DIFFERS
 */
export async function followStreams(harness: ExportParts, options: FollowOptions): Promise<FollowedStreams> {
  const { store, context, redactor: loadRedactor } = harness;
  const { session, out, mapping, extended = false, onEvents, signal = context.signal } = options;
  if (session === undefined || typeof out !== 'string')
    throw harnessErrors.error(
      'HARNESS_OPTION_INVALID',
      'Streams that are followed are of one session, in a folder.',
      {
        advice: 'Name both: hansard export SESSION --as streams --follow --out FOLDER.',
      },
    );
  const { log } = await openNamed(store, session);
  const { envelope, dispatchId } = log;
  const path = resolve(context.cwd, out);
  const redactor = loadRedactor === null ? null : await loadRedactor();
  const redactions: Record<string, number> = {};
  const redacted = (event: CapturedEvent): CapturedEvent => {
    const without = redactor?.event(event) ?? event;
    if (without !== event) addRedactions(redactions, redactionsOf(without.data), redactionsOf(event.data));
    return without;
  };
  using streams = openLiveStreams(path, mappingOf(context.cwd, envelope, mapping), {
    runId: dispatchId,
    isExtended: extended,
  });
  let events = 0;
  for await (const { event } of log.stream(signal === undefined ? {} : { signal })) {
    streams.add(redacted(event));
    events += 1;
    onEvents?.(events);
  }
  const isWhole = signal?.aborted !== true;
  if (isWhole) streams.finish();
  const summary = { lines: { ...streams.lines }, runs: 1 };
  const notes = isWhole ? [] : ['The session was still running: the same command continues these files.'];
  return { path, summary, notes, redactions };
}
