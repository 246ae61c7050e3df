import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isAbsolute, join, normalize, relative } from 'node:path';
import {
  addRedactions,
  type CapturedEvent,
  type DispatchEnvelope,
  type JsonObject,
  type TaskSource,
} from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import { formatCount, timeNotRecorded } from '@hansard/facts';
import { agentTrace, type TracedFile, type TracedOrigin } from '@hansard/formats';
import { FileBlame, type FileStep, fileRecordsOf, LineTable, replayOrder, stepOf } from '@hansard/views';
import { toTaskName } from '../sessions/task-name.ts';

function ownVersion(): string {
  const path = import.meta.url.endsWith('.ts') ? '../../package.json' : '../package.json';
  const text = readFileSync(new URL(path, import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

interface TracedStep {
  readonly step: FileStep;
  readonly time: number | null;
  readonly session: string;
  readonly by: TracedOrigin;
}

/**
 * Writes one record of Agent Trace: the lines of each file that the sessions changed, as its last recorded content has them, and the event that wrote each. A file of the
 * project has its path in it.
 */
export async function writeAgentTrace(
  source: TaskSource,
  write: (text: string) => Promise<void>,
): Promise<{
  readonly summary: JsonObject;
  readonly leftOut: Readonly<Record<string, number>>;
  readonly notes: readonly string[];
}> {
  const table = new LineTable();
  const sessions: TracedStep[][] = [];
  /** The types of the events, by their addresses. */
  const read = new Map<string, string>();
  for (const envelope of source.envelopes) sessions.push(await stepsOf(source, envelope, table, read));
  const order = replayOrder(sessions, null);
  const blame = new FileBlame<TracedOrigin>(table, order.isUnsure);
  const changed = new Set<string>();
  let unplaced = 0;
  for (const { step, by, session } of order.steps) {
    if (!blame.add(step, by, session).isPlaced) unplaced += 1;
    if (!step.isSeen) changed.add(step.path);
  }
  const folders = source.envelopes.flatMap(({ cwd }) => cwd ?? []);
  const files = blame.paths
    .filter((path) => changed.has(path))
    .map((path): TracedFile => {
      const lines = blame.linesOf(path) ?? [];
      return {
        path: inProject(path, folders),
        lines: lines.map(({ text, origin }) => ({ text, origin: origin?.by ?? null })),
      };
    });
  const narratives = source.envelopes.filter(({ fidelity }) => fidelity === 'narrative').length;
  const timestamp = timeOf(order.steps, source.envelopes);
  const isWritten = files.length > 0 && timestamp !== null;
  if (isWritten) {
    const record = agentTrace({
      id: uuidOf(source, order.steps),
      timestamp,
      toolVersion: ownVersion(),
      files,
    });
    await write(`${JSON.stringify(record)}\n`);
  }
  const lines = files.flatMap((file) => file.lines);
  const unknown = lines.filter(({ origin }) => origin === null).length;
  return {
    leftOut: leftOutOf(read, isWritten ? lines : [], narratives),
    summary: { files: files.length, lines: lines.length, notOnRecord: unknown, unplaced, narratives },
    notes: [
      ...(files.length === 0
        ? ['No record was written: no session has the contents of a file that it changed.']
        : []),
      ...(files.length > 0 && timestamp === null
        ? [`No record was written, because it demands a time: ${timeNotRecorded}.`]
        : []),
      ...(unknown === 0
        ? []
        : [`${formatCount(unknown, 'line')} in no range: what wrote them is not on record.`]),
      ...(unplaced === 0
        ? []
        : [`${formatCount(unplaced, 'edit')} omitted: the contents are not on record.`]),
      ...(narratives === 0
        ? []
        : [
            `${formatCount(narratives, 'session')} omitted: recorded as a narrative, without contents of files.`,
          ]),
    ],
  };
}

/** The events that no line of the record comes from, by type. `read`: the types of all events, by their addresses. */
function leftOutOf(
  read: ReadonlyMap<string, string>,
  lines: TracedFile['lines'],
  narratives: number,
): Record<string, number> {
  const leftOut: Record<string, number> = {};
  const written = new Set(lines.map(({ origin }) => origin?.url));
  for (const [url, type] of read) if (!written.has(url)) addRedactions(leftOut, { [type]: 1 });
  if (narratives > 0) addRedactions(leftOut, { 'sessions recorded as a narrative': narratives });
  return leftOut;
}

async function stepsOf(
  { taskDir, readEvents }: TaskSource,
  { dispatchId, cwd, model, fidelity }: DispatchEnvelope,
  table: LineTable,
  read: Map<string, string>,
): Promise<TracedStep[]> {
  const steps: TracedStep[] = [];
  if (fidelity === 'narrative') return steps;
  const models = new ModelsOfCalls(model);
  const session = `hansard:${encodeURI(toTaskName(taskDir))}/${dispatchId}`;
  for await (const event of readEvents(dispatchId)) {
    models.add(event);
    const time = event.timestamp === null ? null : Date.parse(event.timestamp);
    const url = `${session}?event=${encodeURIComponent(event.id)}`;
    read.set(url, event.type);
    for (const { path, from, ...record } of fileRecordsOf(event)) {
      const placed = {
        ...record,
        path: absolute(path, cwd),
        from: from === null ? null : absolute(from, cwd),
      };
      const by = {
        url,
        session,
        isMixed: record.isMixed,
      };
      const { toolCallId } = event.data as { readonly toolCallId: string };
      steps.push({
        step: stepOf(table, placed),
        time,
        session: dispatchId,
        by: models.named(by, toolCallId),
      });
    }
  }
  return steps;
}

/** The model of each call, by the message that it belongs to. A model call can follow its message. */
class ModelsOfCalls {
  readonly #usual: string | null;
  readonly #messages = new Map<string, string>();
  readonly #calls = new Map<string, string>();

  constructor(usual: string | null) {
    this.#usual = usual;
  }

  add(event: CapturedEvent): void {
    const { messageId } = event;
    if (messageId === undefined) return;
    if (isReadableAs(event, 'agent:inference')) this.#messages.set(messageId, event.data.model);
    else if (isReadableAs(event, 'agent:tool_call')) this.#calls.set(event.data.toolCallId, messageId);
  }

  /** The model is looked up when it is asked for. */
  named(origin: Omit<TracedOrigin, 'model'>, toolCallId: string): TracedOrigin {
    const model = () => this.#messages.get(this.#calls.get(toolCallId) ?? '') ?? this.#usual;
    return {
      ...origin,
      get model() {
        return model();
      },
    };
  }
}

function absolute(path: string, cwd: string | null): string {
  return normalize(isAbsolute(path) || cwd === null ? path : join(cwd, path));
}

function inProject(path: string, folders: readonly string[]): string {
  const inside = folders
    .map((folder) => relative(folder, path))
    .find((one) => !one.startsWith('..') && !isAbsolute(one));
  return (inside ?? path).replaceAll('\\', '/');
}

/** The time of the last edit, or else of a session. */
function timeOf(steps: readonly TracedStep[], envelopes: readonly DispatchEnvelope[]): string | null {
  const edits = steps.flatMap(({ step, time }) => (step.isSeen || time === null ? [] : time));
  const ofSessions = envelopes.flatMap(({ completedAt, startedAt }) => completedAt ?? startedAt ?? []);
  const times = edits.length > 0 ? edits : ofSessions.map((time) => Date.parse(time));
  if (times.length === 0) return null;
  return new Date(times.reduce((latest, time) => Math.max(latest, time))).toISOString();
}

/** The same sessions with the same edits have the same id. */
function uuidOf({ taskDir }: TaskSource, steps: readonly TracedStep[]): string {
  const hash = createHash('sha256').update(taskDir);
  for (const { by } of steps) hash.update(`\n${by.url}`);
  const hex = hash.digest('hex');
  const variant = ((Number.parseInt(hex[16] as string, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
