import type { CapturedEvent, DispatchEnvelope, MediaPart, TaskSource } from '@hansard/events';
import {
  costInWords,
  formatDuration,
  formatUsage,
  modelsInWords,
  timeNotRecorded,
  withOpenCalls,
} from '@hansard/facts';
import {
  createLogIndex,
  type DispatchTreeNode,
  dispatchTree,
  type FoldedRows,
  foldsOf,
  type LogIndex,
  openRewindInWords,
  type Row,
  type RowFolds,
  type RowPart,
  RowReader,
  type SessionFacts,
  sessionFacts,
} from '@hansard/views';

import { largestImage } from './html-text.ts';

/** One dispatch of a report: all events, for every view or, if it is long, one by one. */
export type DispatchReport =
  | {
      readonly kind: 'whole';
      readonly facts: SessionFacts;
      readonly index: LogIndex;
      readonly folds: RowFolds | null;
    }
  | {
      readonly kind: 'long';
      readonly envelope: DispatchEnvelope;
      readonly events: AsyncIterable<CapturedEvent>;
      readonly folds: RowFolds | null;
    };

export function envelopeOf(report: DispatchReport): DispatchEnvelope {
  return report.kind === 'whole' ? report.facts.envelope : report.envelope;
}

function eventsOf(report: DispatchReport): Iterable<CapturedEvent> | AsyncIterable<CapturedEvent> {
  return report.kind === 'whole' ? report.index.events : report.events;
}

const wholeUpToByDefault = 10_000;

/** The dispatches in order, parents before their workers. Consume the events of one before requesting the next. */
export async function* readDispatchReports(
  source: TaskSource,
  { wholeUpTo = wholeUpToByDefault, onLeftOut }: ReportOptions,
): AsyncGenerator<DispatchReport> {
  for (const envelope of inTreeOrder(dispatchTree(source.envelopes))) {
    const events = withShownBytes(source.readEvents(envelope.dispatchId))[Symbol.asyncIterator]();
    try {
      const first: CapturedEvent[] = [];
      let next = await events.next();
      for (; next.done !== true && first.length < wholeUpTo; next = await events.next())
        first.push(next.value);
      if (next.done === true) {
        const pages = async function* () {
          yield { events: first };
        };
        const copied = await copiesIn(source, envelope);
        const folds = await foldsOf({ envelope: { ...envelope, folded: null }, pages }, reach, copied);
        yield { kind: 'whole', facts: sessionFacts(envelope, first), index: createLogIndex(first), folds };
        continue;
      }
      const folds = await foldsOfLong(source, envelope);
      onLeftOut?.('dialogs of long sessions', 1);
      yield { kind: 'long', envelope, events: allOf([...first, next.value], events), folds };
    } finally {
      await events.return?.(undefined);
    }
  }
}

/** The head of a dispatch that the report has as a part of another one. The head of a dispatch without its origin is shown. */
async function copiesIn(source: TaskSource, { dispatchId }: DispatchEnvelope) {
  return (await source.copiedEvents?.(dispatchId)) ?? null;
}

/** The folds of a dispatch that is read once more for them, unless its envelope has counted every event and knows no branch. */
async function foldsOfLong(source: TaskSource, envelope: DispatchEnvelope): Promise<RowFolds | null> {
  const copied = await copiesIn(source, envelope);
  const isCounted =
    envelope.folded !== null && envelope.folded !== undefined && envelope.status !== 'running';
  if (copied === null && isCounted && envelope.branched !== true && envelope.forkedFrom == null) return null;
  const pages = async function* () {
    for await (const event of source.readEvents(envelope.dispatchId)) yield { events: [event] };
  };
  return foldsOf({ envelope: { ...envelope, folded: null }, pages }, reach, copied);
}

/** The most bytes of images that a report holds and shows of one dispatch, in Base64. Further images are named. */
const mostShown = 32_000_000;

/** The events without the bytes that no page shows. */
async function* withShownBytes(events: AsyncIterable<CapturedEvent>): AsyncGenerator<CapturedEvent> {
  let shown = 0;
  for await (const event of events) {
    const { base64 } = event.data;
    if (event.type !== 'content:stored' || typeof base64 !== 'string') {
      yield event;
      continue;
    }
    const isShown = base64.length <= largestImage && shown + base64.length <= mostShown;
    if (isShown) shown += base64.length;
    const { base64: _, ...named } = event.data;
    yield isShown ? event : { ...event, data: named };
  }
}

async function* allOf(
  first: readonly CapturedEvent[],
  rest: AsyncIterator<CapturedEvent>,
): AsyncGenerator<CapturedEvent> {
  yield* first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

function inTreeOrder(nodes: readonly DispatchTreeNode[]): DispatchEnvelope[] {
  return nodes.flatMap(({ envelope, children }) => [envelope, ...inTreeOrder(children)]);
}

export interface ReportOptions {
  /**
   * Of how many events a dispatch may be to be shown from all sides; a longer one is shown as one line for each event,
   * written as it is read. Absent: 10,000.
   */
  readonly wholeUpTo?: number;
  /** Receives what the report leaves out, by kind: the events of folded branches, files that are only named, and dialogs of long sessions. */
  readonly onLeftOut?: (kind: string, count: number) => void;
}

/** A file that a report only names, in words. */
export function fileKind({ mediaType, kind }: MediaPart): string {
  return `${mediaType ?? kind} only named`;
}

/** The files of a row. */
export function mediaIn({ content, call }: Row): Extract<RowPart, { kind: 'media' }>[] {
  return [...content, ...(call?.outcome ?? [])].flatMap((part) => (part.kind === 'media' ? [part] : []));
}

/** The kinds of what is folded, in words. */
export function foldKind(fold: Row): string {
  return fold.kind === 'copies'
    ? 'events that a fork repeats'
    : `events of ${fold.fold?.of === 'branch' ? fold.fold.state : 'folded'} branches`;
}

/** The title of a task in a report: its name, else `PROJECT/SLUG`. */
export function taskTitle({ task, taskDir }: TaskSource): string {
  return task?.name || taskDir.replace(/\/tasks\/(?=[^/]+$)/, '/');
}

/** A row of a report can change for longer than one of a terminal, whose reader waits for it. */
const reach = { events: 10_000 };

/** A row of a report, and the row that stands for it if it is of a branch or of copies that are folded. */
export interface ReportRow {
  readonly row: Row;
  readonly fold: Row | null;
}

/** The rows of a dispatch in order, each when it can't change any more. */
export async function* settlingRows(report: DispatchReport): AsyncGenerator<ReportRow> {
  const { folds } = report;
  const foldRows = new Map<FoldedRows, Row>();
  for await (const row of rowsInOrder(envelopeOf(report), eventsOf(report))) {
    const folded = folds?.at(row.position) ?? null;
    const marked = folds?.shown(row, () => true) ?? row;
    if (folds === null || folded === null) yield { row: marked, fold: null };
    else {
      const fold = foldRows.get(folded) ?? folds.shown(row, () => false) ?? row;
      foldRows.set(folded, fold);
      yield { row: marked, fold };
    }
  }
}

async function* rowsInOrder(
  { status }: Pick<DispatchEnvelope, 'status'>,
  events: Iterable<CapturedEvent> | AsyncIterable<CapturedEvent>,
): AsyncGenerator<Row> {
  const reader = new RowReader({ ...reach, hasEnded: status !== 'running' });
  const contents = new Map<string, string>();
  for await (const event of events) {
    if (event.type === 'content:stored' && typeof event.data.base64 === 'string')
      contents.set(event.id, event.data.base64);
    reader.add(event);
    for (const row of reader.settled()) yield withImages(row, contents);
  }
  for (const row of reader.end()) yield withImages(row, contents);
}

/** A row whose images have the bytes of the log. */
function withImages(row: Row, contents: ReadonlyMap<string, string>): Row {
  if (contents.size === 0) return row;
  const filled = (parts: readonly RowPart[]): readonly RowPart[] =>
    parts.map((part) => {
      const base64 = part.kind === 'media' ? contents.get(part.media.sha256 ?? '') : undefined;
      return part.kind === 'media' && base64 !== undefined
        ? { ...part, media: { ...part.media, base64 } }
        : part;
    });
  const { content, call } = row;
  const outcome = call?.outcome == null ? undefined : filled(call.outcome);
  return {
    ...row,
    content: filled(content),
    ...(call !== undefined && outcome !== undefined && { call: { ...call, outcome } }),
  };
}

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
    ['at end', openRewindInWords(envelope)],
    ['fidelity', envelope.fidelity],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
}
