import type { CapturedEvent, DispatchEnvelope, JsonValue, Usage } from '@hansard/events';
import { isReadableAs, neutraliseControls } from '@hansard/events/plain';
import {
  dayHeading,
  dispatchDuration,
  factsOf,
  formatDay,
  openCallEvents,
  withOpenCalls,
} from '@hansard/facts';
import { outcomeInWords } from '../rows/describe-event.ts';
import { rowsOf } from '../rows/read-rows.ts';
import { type RenderRowOptions, renderRow } from '../rows/render-row.ts';
import type { Row } from '../rows/row.ts';
import { renderEnvelope } from '../task/render-envelope.ts';

/** Where a dispatch is read from: a dispatch store is one. */
export interface SessionSource {
  getDispatchEnvelope(
    taskDir: string,
    dispatchId: string,
  ): Promise<DispatchEnvelope | null> | DispatchEnvelope | null;
  getDispatchEvents(
    taskDir: string,
    dispatchId: string,
  ): Promise<readonly CapturedEvent[]> | readonly CapturedEvent[];
}

/** Names a session of a store. */
interface SessionRef {
  readonly taskDir: string;
  readonly dispatchId: string;
}

/**
 * A session as plain text, in order (D12): the header, the rows, the result, the structured result. The session is named by a
 * reference, such as an entry of a listing, or by its `taskDir` and `dispatchId`.
 * @throws what the store throws for a dispatch that does not exist
 */
export function renderSessionView(
  store: SessionSource,
  session: SessionRef,
  options?: RenderRowOptions,
): Promise<string>;
export function renderSessionView(
  store: SessionSource,
  taskDir: string,
  dispatchId: string,
  options?: RenderRowOptions,
): Promise<string>;
export async function renderSessionView(
  store: SessionSource,
  first: SessionRef | string,
  second?: string | RenderRowOptions,
  third?: RenderRowOptions,
): Promise<string> {
  if (typeof first !== 'string') return sessionView(store, first, second as RenderRowOptions | undefined);
  return sessionView(store, { taskDir: first, dispatchId: second as string }, third);
}

async function sessionView(
  store: SessionSource,
  { taskDir, dispatchId }: SessionRef,
  options: RenderRowOptions = {},
): Promise<string> {
  const events = await store.getDispatchEvents(taskDir, dispatchId);
  const envelope = await store.getDispatchEnvelope(taskDir, dispatchId);
  if (envelope === null) throw new TypeError(`The store has events of ${dispatchId}, and no envelope of it.`);
  const {
    model,
    costUsd: cost,
    usage,
    durationMs,
    result,
    structuredResult,
  } = sessionFacts(envelope, events);
  const sections = [
    renderEnvelope({ ...withOpenCalls(envelope), model, cost, usage }, { durationMs }),
    body(rowsOf(events, { hasEnded: envelope.status !== 'running' }), options),
  ];
  if (result !== null) sections.push(`result\n${indented(result)}`);
  if (structuredResult !== null)
    sections.push(`structured result\n${indented(JSON.stringify(structuredResult, null, 2))}`);
  return sections.join('\n\n');
}

function body(rows: readonly Row[], options: RenderRowOptions): string {
  if (rows.length === 0) return '(no events)';
  const last = rows.findLast(({ word }) => word === 'complete');
  const days = newDays(rows.map(({ timestamp }) => timestamp));
  return rows
    .flatMap((row, at) => {
      // The last result is below, in full.
      const text = renderRow(row === last ? { ...row, content: [] } : row, options);
      return days[at] === '' ? [text] : [days[at], text];
    })
    .join('\n');
}

function indented(text: string): string {
  return neutraliseControls(text)
    .split('\n')
    .map((line) => `  ${line}`.trimEnd())
    .join('\n');
}

/**
 * For each timestamp the heading of its day (UTC), or '' if it needs none. If all are of one day, all are '', because the times of day
 * are enough.
 */
function newDays(timestamps: readonly (string | null)[]): readonly string[] {
  const isOneDay = timestamps.every(
    (timestamp) => timestamp !== null && formatDay(timestamp) === formatDay(timestamps[0] ?? null),
  );
  let day = '';
  return timestamps.map((timestamp) => {
    const heading = isOneDay ? null : dayHeading(timestamp, day);
    day = heading ?? day;
    return heading ?? '';
  });
}

/** The facts about a dispatch as a whole, from its envelope and, where that does not have them (yet), from its events. */
export interface SessionFacts {
  readonly envelope: DispatchEnvelope;
  readonly model: string | null;
  readonly costUsd: number | null;
  readonly usage: Usage | null;
  readonly durationMs: number | null;
  /** The outcome of the dispatch in words; null: not known (yet). */
  readonly result: string | null;
  readonly structuredResult: JsonValue | null;
}

/** The facts about a dispatch. `events`: all its events, in append order. */
export function sessionFacts(envelope: DispatchEnvelope, events: readonly CapturedEvent[]): SessionFacts {
  const init = events.find((event) => isReadableAs(event, 'session:init'));
  const calls = new Set(events.flatMap(({ id, type }) => (type === 'agent:inference' ? id : [])));
  const open = openCallEvents(envelope, (id) => calls.has(id));
  const facts = factsOf([...events, ...open]);
  const outcome = facts.completion;
  const isInEnvelope = outcome === null && envelope.status !== 'running';
  const { cost, usage } = withOpenCalls(envelope);
  return {
    envelope,
    model: envelope.model ?? init?.data.model ?? null,
    costUsd: isInEnvelope ? (cost ?? facts.costUsd) : (facts.costUsd ?? cost),
    usage: isInEnvelope ? (usage ?? facts.usage) : (facts.usage ?? usage),
    durationMs: facts.durationMs ?? dispatchDuration(envelope),
    result: outcome === null ? null : outcomeInWords(outcome) || null,
    structuredResult: outcome?.structuredResult ?? envelope.structuredResult,
  };
}
