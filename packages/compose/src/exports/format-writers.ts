import {
  type TrainingEstimate,
  type TrainingManifest,
  writeGameStreams,
  writeTrainingFiles,
} from '@hansard/datasets';
import {
  addRedactions,
  type CapturedEvent,
  type DispatchEnvelope,
  type JsonObject,
  type TaskSource,
} from '@hansard/events';
import { matchesEventType } from '@hansard/events/plain';
import { formatCount, timeNotRecorded } from '@hansard/facts';
import { createSessionWriter, type SessionFormatId, type SessionWriter, writeAtif } from '@hansard/formats';
import {
  type ReportOptions,
  writePullRequest,
  writeTaskMarkdown,
  writeTaskPage,
  writeTaskPages,
} from '@hansard/pages';
import { createTokenCounter, tokenEncodings } from '@hansard/prompt/tokens';
import { harnessErrors } from '../harness-errors.ts';
import type { ExportFormatId, FormatOptions } from './export-formats.ts';
import type { ExportTarget } from './export-target.ts';
import { unmatchedPlayersNote } from './judging.ts';
import { readGameMapping, readTools } from './named-files.ts';
import { writeAgentTrace } from './write-agent-trace.ts';

/** What a format has written. */
export interface Written {
  readonly summary: JsonObject;
  /** What it left out, by kind: types of events, reasons, and files that are only named. Empty: nothing. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** What a person should know, such as omissions with their reason. */
  readonly notes: readonly string[];
}

/** What a format is written with. */
interface Writing {
  readonly cwd: string;
  readonly target: ExportTarget;
  readonly options: FormatOptions;
  /** Whether the program asked for the text, besides what is sent. */
  readonly isTextWanted: boolean;
  /** Receives what a person should know before the end. */
  note(line: string): void;
}

/** Writes tasks, each read before the next one is asked for, so that logs of any length fit in memory. */
type WriteFormat = (sources: AsyncIterable<TaskSource>, writing: Writing) => Promise<Written>;

export const formatWriters: Readonly<Record<ExportFormatId, WriteFormat>> = {
  'session-v1': ofOne((source, writing) => writeSessionLog('session-v1', source, writing)),
  'session-v2': ofOne((source, writing) => writeSessionLog('session-v2', source, writing)),
  smallchat: ofOne((source, writing) => writeSessionLog('smallchat', source, writing)),
  otlp: ofOne(writeTraces),
  markdown: ofOne((source, writing) => writeReport(writeTaskMarkdown, source, writing)),
  'pull-request': ofOne((source, writing) => writeReport(writePullRequest, source, writing)),
  html: ofOne(writeHtml),
  pages: async (sources, { target }) => {
    const { leftOut, onLeftOut } = leftOutCounts();
    const summary = { ...(await writeTaskPages(sources, target.file, { onLeftOut })) };
    return { summary, leftOut, notes: [] };
  },
  streams: ofOne(writeStreams),
  'agent-trace': ofOne((source, { target }) => writeAgentTrace(source, (text) => target.text.write(text))),
  atif: ofOne(writeTrajectory),
  sft: ofOne((source, writing) => writeTraining('sft', source, writing)),
  trl: ofOne((source, writing) => writeTraining('trl', source, writing)),
  'trl-chat': ofOne((source, writing) => writeTraining('trl-chat', source, writing)),
  openai: ofOne((source, writing) => writeTraining('openai', source, writing)),
};

/** Counts what a writer leaves out. */
function leftOutCounts() {
  const leftOut: Record<string, number> = {};
  const onLeftOut = (kind: string, count: number) => addRedactions(leftOut, { [kind]: count });
  return { leftOut, onLeftOut };
}

function ofOne(write: (source: TaskSource, writing: Writing) => Promise<Written>): WriteFormat {
  return async (sources, writing) => {
    for await (const source of sources) return write(source, writing);
    throw new TypeError('There is no task to export.');
  };
}

/** A session as a session log of one dialect, written while the session is recorded. */
async function writeSessionLog(
  id: SessionFormatId,
  { envelopes, readEvents }: TaskSource,
  { target, options }: Writing,
): Promise<Written> {
  const { extended: isExtended = false } = options;
  const writer = createSessionWriter(id, { isExtended });
  const send = async (lines: readonly string[]) => {
    if (lines.length > 0) await target.text.write(lines.join(''));
  };
  for (const { dispatchId } of envelopes)
    for await (const event of readEvents(dispatchId)) await send(writer.add(event));
  await send(writer.finish());
  return sessionLogFacts(id, envelopes, writer.report());
}

/** What a session log does not hold, for a person and for a program. */
export function sessionLogFacts(
  id: SessionFormatId,
  envelopes: readonly DispatchEnvelope[],
  { leftOut, diagnostics, omittedKeys }: ReturnType<SessionWriter['report']>,
): Written {
  const notes = [
    ...(envelopes.some(({ fidelity }) => fidelity === 'narrative')
      ? ['The dispatch was recorded as a narrative: tool input and output are not in the log.']
      : []),
    ...Object.entries(leftOut).map(
      ([type, count]) => `${type} omitted (${count}): ${id} can't represent it.`,
    ),
    ...Object.entries(omittedKeys).map(
      ([key, count]) =>
        `${key} omitted from ${count} records: the schema of ${id} does not have it there. --extended writes it.`,
    ),
    ...diagnostics.map(({ code, eventId, message }) => `${eventId} ${code}: ${message}`),
  ];
  const lost = diagnostics.map((diagnostic) => ({ ...diagnostic }));
  return { summary: { omittedKeys, diagnostics: lost }, leftOut, notes };
}

/** A trajectory of ATIF, with the images and sounds that it names. */
async function writeTrajectory(
  { envelopes: [envelope], readEvents }: TaskSource,
  { target }: Writing,
): Promise<Written> {
  if (envelope === undefined) throw new TypeError('There is no session to export.');
  const events: CapturedEvent[] = [];
  for await (const event of readEvents(envelope.dispatchId)) events.push(event);
  const { document, files, leftOut, steps } = writeAtif(events, envelope);
  const trajectory = target.file('trajectory.json');
  await trajectory.write(`${JSON.stringify(document, null, 2)}\n`);
  await trajectory.end();
  for (const [path, base64] of files) {
    const file = target.file(path);
    await file.write(Buffer.from(base64, 'base64'));
    await file.end();
  }
  const notes =
    envelope.fidelity === 'narrative'
      ? ['The session was recorded as a narrative: tool input and output are not in the trajectory.']
      : [];
  return { summary: { steps, files: files.size }, leftOut, notes };
}

/** A file of OTLP/JSON, or sent to a receiver, or both. */
async function writeTraces(source: TaskSource, { target, options, isTextWanted }: Writing): Promise<Written> {
  // Only this export needs the OpenTelemetry libraries.
  const { otlpLines, sendOtlp, shownEndpoint, traceDispatches } = await import('@hansard/traces');
  const { endpoint, content = 'none', reasoning = false, dataOf = [] } = options;
  const isContent = (type: string) => dataOf.some((pattern) => matchesEventType(pattern, type));
  const untimed = { dispatch: 0, event: 0 };
  let { leftOut, onLeftOut } = leftOutCounts();
  const records = () => {
    Object.assign(untimed, { dispatch: 0, event: 0 });
    ({ leftOut, onLeftOut } = leftOutCounts());
    const onUntimed = (what: keyof typeof untimed) => {
      untimed[what] += 1;
      if (what === 'dispatch') onLeftOut('sessions without a time', 1);
    };
    return traceDispatches(source, { content, reasoning, dataOf: isContent, onUntimed, onLeftOut });
  };
  const written = { spans: 0, logs: 0 };
  if (endpoint === undefined || isTextWanted) {
    for await (const { text, spans, logs } of otlpLines(records())) {
      await target.text.write(text);
      written.spans += spans;
      written.logs += logs;
    }
  }
  if (endpoint === undefined)
    return { summary: { ...written, untimed: { ...untimed } }, leftOut, notes: untimedNotes(untimed) };
  const { refused, ...sent } = await sendOtlp(records(), endpoint);
  const shown = shownEndpoint(endpoint);
  for (const { kind } of refused) onLeftOut(`${kind}s too large for the receiver`, 1);
  return {
    leftOut,
    summary: { ...sent, untimed: { ...untimed }, endpoint: shown },
    notes: [
      ...untimedNotes(untimed),
      `${sent.spans} spans and ${sent.logs} log records sent to ${shown}.`,
      ...refused.map(
        ({ kind, name, traceId, spanId }) =>
          `Not sent, too large for the receiver: the ${kind} ${name} (span ${spanId ?? 'none'} of trace ${traceId ?? 'none'}).`,
      ),
    ],
  };
}

/** A trace demands a time of everything. */
function untimedNotes({ dispatch, event }: { readonly dispatch: number; readonly event: number }): string[] {
  return [
    ...(dispatch === 0 ? [] : [`${formatCount(dispatch, 'session')} omitted: ${timeNotRecorded}.`]),
    ...(event === 0
      ? []
      : [
          `${formatCount(event, 'event')} placed after the event before, and marked as hansard.time_not_recorded: ${timeNotRecorded}.`,
        ]),
  ];
}

async function writeReport(
  write: (source: TaskSource, options: ReportOptions) => AsyncIterable<string>,
  source: TaskSource,
  { target }: Writing,
): Promise<Written> {
  const { leftOut, onLeftOut } = leftOutCounts();
  for await (const piece of write(source, { onLeftOut })) await target.text.write(piece);
  return { summary: { dispatches: source.envelopes.length }, leftOut, notes: [] };
}

/** A page with more events is slow to open. */
const mostOnPage = 100_000;

async function writeHtml(source: TaskSource, writing: Writing): Promise<Written> {
  let events = 0;
  async function* readEvents(dispatchId: string) {
    for await (const event of source.readEvents(dispatchId)) {
      events += 1;
      yield event;
    }
  }
  const written = await writeReport(writeTaskPage, { ...source, readEvents }, writing);
  if (events <= mostOnPage) return written;
  const advice = `${events.toLocaleString('en')} events are on one page, which is slow to open. \`--as pages --out FOLDER\` writes several files with an index.`;
  return { ...written, notes: [advice] };
}

async function writeStreams(source: TaskSource, { cwd, target, options }: Writing): Promise<Written> {
  const { mapping, extended = false } = options;
  const { lines, runs } = await writeGameStreams(source, target.file, {
    ...(mapping === undefined ? {} : { mapping: readGameMapping(cwd, mapping) }),
    isExtended: extended,
  });
  const notes = runs.flatMap(({ dispatchId, leftOut, unmatchedPlayers, untimedLines }) => [
    ...(untimedLines === 0
      ? []
      : [
          `${formatCount(untimedLines, 'line')} of ${dispatchId} with the timestamp null: ${timeNotRecorded}.`,
        ]),
    ...unmatchedPlayersNote(dispatchId, unmatchedPlayers),
    ...Object.entries(leftOut).map(
      ([tool, count]) =>
        `Calls of ${tool} omitted from ${dispatchId}: ${count}. Their input does not have the fields that the mapping names.`,
    ),
  ]);
  if (lines.game_events === 0)
    notes.push('game_events.jsonl is empty: no event is of a type that "gameEvents" of the mapping names.');
  const { leftOut, onLeftOut } = leftOutCounts();
  for (const { omitted } of runs) for (const [type, count] of Object.entries(omitted)) onLeftOut(type, count);
  return { summary: { lines: { ...lines }, runs: runs.length }, leftOut, notes };
}

async function writeTraining(
  format: Parameters<typeof writeTrainingFiles>[2]['format'],
  source: TaskSource,
  { cwd, target, options, note }: Writing,
): Promise<Written> {
  const { maxBytes, agents, thoughts, tools, mapping } = options;
  let estimate: TrainingEstimate | undefined;
  const manifest = await writeTrainingFiles(source, target.file, {
    format,
    tokens: counterOf,
    counter: await createTokenCounter(),
    onEstimate(estimated) {
      estimate = estimated;
      note(estimateNote(estimated));
    },
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(agents === undefined ? {} : { agents }),
    ...(thoughts === undefined ? {} : { reasoning: thoughts }),
    ...(tools === undefined ? {} : { tools: readTools(cwd, tools) }),
    ...(mapping === undefined ? {} : { mapping: readGameMapping(cwd, mapping) }),
  });
  assertSomebody(manifest);
  const { file, rows, bytes, sha256, calls } = manifest;
  const estimated = estimate === undefined ? {} : { estimate: { ...estimate, calls: { ...estimate.calls } } };
  return {
    summary: { file, rows, bytes, sha256, calls: { ...calls }, ...estimated },
    leftOut: leftOutOf(manifest),
    notes: notesOf(manifest),
  };
}

function leftOutOf({ dropped, refused, named }: TrainingManifest): Record<string, number> {
  const { leftOut, onLeftOut } = leftOutCounts();
  for (const [reason, { count }] of Object.entries(dropped)) onLeftOut(`calls (${reason})`, count);
  if (refused.length > 0) onLeftOut('sessions recorded as a narrative', refused.length);
  for (const [type, count] of Object.entries(named)) onLeftOut(`${type} only named`, count);
  return leftOut;
}

/** Fails if none of the requested agents exists. */
function assertSomebody({ rows, missingAgents }: TrainingManifest): void {
  if (rows > 0 || missingAgents.length === 0) return;
  throw harnessErrors.error(
    'HARNESS_NOT_FOUND',
    `Unknown agents: ${missingAgents.map((agent) => JSON.stringify(agent)).join(', ')}.`,
    { advice: '`hansard tree SESSION` lists the agents of a session. Nothing was written.' },
  );
}

const unitBytes = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 } as const;

function estimateNote({ rows, bytes, tokens, calls: { inRows, of } }: TrainingEstimate): string {
  const share = of === 0 ? '' : ` (${((100 * inRows) / of).toFixed(1)} %)`;
  const [unit, size] = Object.entries(unitBytes).findLast(([, least]) => bytes >= least) ?? ['B', 1];
  const about = `${Number((bytes / size).toFixed(1))}${unit}`;
  return `hansard: about ${about} and ${tokens ?? 'unknown'} tokens in ${rows} rows, from ${inRows} of ${of} model calls${share}.`;
}

async function counterOf(counterId: string) {
  const encoding = tokenEncodings.find((name) => counterId === `gpt-tokenizer/${name}`);
  return encoding === undefined ? undefined : createTokenCounter({ encoding });
}

function notesOf({
  rows,
  calls,
  dropped,
  refused,
  missingAgents,
  format,
  named,
  faults,
}: TrainingManifest): string[] {
  const omitted = Object.entries(dropped).map(
    ([reason, { count, first }]) => `${count} calls omitted from ${format}: ${reason} (first: ${first[0]}).`,
  );
  return [
    `${rows} rows of ${calls.inRows} model calls; ${calls.recorded} of these calls have a recorded prompt.`,
    ...missingAgents.map((agent) => `Unknown agent: ${JSON.stringify(agent)}.`),
    ...(refused.length === 0
      ? []
      : [
          `${refused.length} dispatches refused: they were recorded without tool input and output (narrative).`,
        ]),
    ...omitted,
    ...Object.entries(named).map(([type, count]) => `${count} files only named in ${format}: ${type}.`),
    ...Object.entries(faults).map(
      ([fault, count]) => `${count} × ${fault} in answers: taken for thoughts (\`parts\` of the mapping).`,
    ),
  ];
}
