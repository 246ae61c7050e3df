import { resolve } from 'node:path';
import { openLiveStreams } from '@hansard/datasets';
import type { DispatchLog, DispatchStore } from '@hansard/dispatch';
import {
  addRedactions,
  type CapturedEvent,
  type DispatchEnvelope,
  type JsonObject,
  type RedactionCounts,
  redactionsOf,
  type TextSink,
} from '@hansard/events';
import { createSessionWriter, type SessionFormatId } from '@hansard/formats';
import { openLiveSessionLog } from '@hansard/formats/files';
import { noteTo } from '../context.ts';
import { harnessErrors } from '../harness-errors.ts';
import { type ListedTask, listTasks } from '../sessions/list-sessions.ts';
import { allSessions, onlySession, openNamed, resolveScope } from '../sessions/resolve-session.ts';
import {
  type ExportFormat,
  type ExportFormatId,
  exportFormats,
  type FormatOptions,
} from './export-formats.ts';
import {
  type ExportParts,
  type ExportReading,
  type ExportSource,
  openExportSource,
} from './export-source.ts';
import { openExportTarget } from './export-target.ts';
import { formatWriters, sessionLogFacts, type Written } from './format-writers.ts';
import { mappingOf } from './named-files.ts';

/** What a program exports, and where to. */
export interface ExportOptions extends ExportReading, FormatOptions {
  readonly as: ExportFormatId;
  /** What one word names: a task, or a session. Absent: all tasks, for `pages`. */
  readonly session?: string;
  /** A new file or folder, relative to the folder of the harness; or what takes the text. It may be absent if the traces are sent. */
  readonly out?: string | TextSink;
}

/** What was exported. */
export interface Exported {
  readonly format: ExportFormatId;
  /** The file or folder; null: a sink of the program. */
  readonly path: string | null;
  /** The figures of the format. */
  readonly summary: JsonObject;
  /** What was left out, by kind: types of events, reasons, and files that are only named. Empty: nothing. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** What a person should know, such as omissions with their reason. */
  readonly notes: readonly string[];
  /** The secrets that were replaced, by their kind: the log still has them. */
  readonly redactions: RedactionCounts;
  /** All tasks that were asked for, also those that could not be read; empty if a session or a task was named. */
  readonly listed: readonly ListedTask[];
}

export async function exportInHarness(harness: ExportParts, options: ExportOptions): Promise<Exported> {
  const { as, out, onEvents, signal } = options;
  const { context, store } = harness;
  const format = exportFormats[as];
  assertOptions(options);
  if (options.follow === true) return { format: as, listed: [], ...(await followExport(harness, options)) };
  const { tasks, listed } = await chooseTasks(store, format, options);
  const target = openExportTarget(context.cwd, out, { id: as, target: format.target });
  const opened: ExportSource[] = [];
  const reading = { ...(onEvents && { onEvents }), ...(signal && { signal }) };
  try {
    const { summary, leftOut, notes } = await formatWriters[as](
      openSources(harness, tasks, reading, opened),
      {
        cwd: context.cwd,
        target,
        options,
        isTextWanted: out !== undefined,
        note: (line) => noteTo(context, line),
      },
    );
    await target.close();
    const redactions: Record<string, number> = {};
    for (const source of opened) addRedactions(redactions, source.redactions());
    return { format: as, path: target.path, summary, leftOut, notes, redactions, listed };
  } finally {
    await target.discard();
  }
}

/** The sources of tasks, each opened when the one before has been read, and then added to `opened`. */
async function* openSources(
  harness: ExportParts,
  tasks: readonly ChosenTask[],
  { onEvents, ...reading }: ExportReading,
  opened: ExportSource[],
): AsyncGenerator<ExportSource> {
  let before = 0;
  for (const { taskDir, envelopes } of tasks) {
    let events = 0;
    const source = await openExportSource(harness, taskDir, envelopes, {
      ...reading,
      onEvents(count) {
        events = count;
        onEvents?.(before + count);
      },
    });
    opened.push(source);
    yield source;
    before += events;
  }
}

const formatOptions = [...new Set(Object.values(exportFormats).flatMap(({ options }) => options))];

/** Refuses an option of another format. @throws HARNESS_OPTION_INVALID */
function assertOptions(given: ExportOptions): void {
  const { options } = exportFormats[given.as];
  const strange = formatOptions.find((name) => given[name] !== undefined && !options.includes(name));
  if (strange === undefined) return;
  throw harnessErrors.error(
    'HARNESS_OPTION_INVALID',
    `The option ${strange} does not apply to ${given.as}.`,
    {
      advice: `Leave it out; ${given.as} takes ${options.length === 0 ? 'no options' : options.join(', ')}.`,
    },
  );
}

interface ChosenTask {
  readonly taskDir: string;
  readonly envelopes: readonly DispatchEnvelope[];
}

interface Chosen {
  readonly tasks: readonly ChosenTask[];
  /** All tasks that were asked for, also those that cannot be read; empty if a session or a task was named. */
  readonly listed: readonly ListedTask[];
}

interface Choice {
  readonly as: string;
  /** What one word names. Absent: all tasks. */
  readonly session?: string;
  readonly project?: string;
}

/** The tasks and dispatches that a format is written of. @throws HARNESS_OPTION_INVALID, HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS */
async function chooseTasks(
  store: DispatchStore,
  { scope }: Pick<ExportFormat, 'scope'>,
  { as, session, project }: Choice,
): Promise<Chosen> {
  if (session === undefined && scope === 'store') return allTasks(store, project);
  if (session === undefined)
    throw harnessErrors.error(
      'HARNESS_OPTION_INVALID',
      `${as} is written of one ${scope === 'session' ? 'session' : 'task or session'}.`,
      { advice: 'Name it; `hansard ls` lists the sessions.' },
    );
  if (project !== undefined)
    throw harnessErrors.error('HARNESS_OPTION_INVALID', '--project chooses among all tasks.', {
      advice: 'Remove it, or the name of a session.',
    });
  const named = await resolveScope(store, session);
  const envelopes =
    named.dispatchId !== null || scope === 'session'
      ? [(await store.openDispatch(onlySession(named, session))).envelope]
      : allSessions(named);
  return { tasks: [{ taskDir: named.taskDir, envelopes }], listed: [] };
}

/** The tasks with dispatches, the most recently active one first. A damaged one hides no other. */
async function allTasks(store: DispatchStore, project = ''): Promise<Chosen> {
  const { tasks: listed } = await listTasks(store, { project, sort: 'active' });
  const tasks = listed.flatMap(({ taskDir, readable: envelopes }) =>
    envelopes.length === 0 ? [] : [{ taskDir, envelopes }],
  );
  if (tasks.length > 0) return { tasks, listed };
  const [unreadable] = listed.flatMap(({ errors }) => errors);
  throw (
    unreadable ??
    harnessErrors.error(
      'HARNESS_NOT_FOUND',
      project === '' ? 'There is no task yet.' : `No project contains ${JSON.stringify(project)}.`,
      { advice: '`hansard ls` lists the tasks.', details: { isPlace: true } },
    )
  );
}

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
async function followExport(harness: ExportParts, options: FollowOptions): Promise<FollowedExport> {
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
  if (as === 'session-v1' || as === 'session-v2' || as === 'smallchat')
    return openSessionLog(as, log, cwd, options);
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
