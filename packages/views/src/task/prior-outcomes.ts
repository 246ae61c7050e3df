import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { isEventOf, shortened } from '@hansard/events/plain';
import {
  dispatchDuration,
  formatCost,
  formatDuration,
  stops,
  timeNotRecorded,
  withOpenCalls,
} from '@hansard/facts';
import { wordsLine } from '../rows/row-line.ts';
import { eventWords } from '../words/row-words.ts';

export interface PriorDispatch {
  readonly envelope: DispatchEnvelope;
  /** Absent: the end of its log was not read, and only the envelope is reported. */
  readonly ending?: DispatchEnding | undefined;
}

/** The outcomes of earlier dispatches of a task. */
export interface PriorOutcomes {
  /** A text for the start of the next dispatch; '' if it has no outcome to report. */
  readonly text: string;
  /** The dispatches in the text, oldest first. */
  readonly dispatchIds: readonly string[];
  /** The number of older dispatches that did not fit. */
  readonly omitted: number;
}

/** The largest length of one result in characters. */
const longestResult = 2_000;

/**
 * The outcomes of earlier dispatches of a task: role, status, duration and cost from their envelopes (D12), what stopped them or
 * made them fail, and their result: the structured one, else the text. Running dispatches are left out. If there is not enough room for all, the newest are kept.
 */
export function priorOutcomes(
  dispatches: readonly PriorDispatch[],
  {
    maxCharacters = 8_000,
  }: {
    /** The largest length of the whole text in characters. Absent: 8,000. */
    readonly maxCharacters?: number;
  } = {},
): PriorOutcomes {
  const ended = dispatches
    .filter(({ envelope }) => envelope.status !== 'running')
    .sort(
      ({ envelope: one }, { envelope: other }) =>
        compare(one.startedAt ?? '', other.startedAt ?? '') || compare(one.dispatchId, other.dispatchId),
    );
  const reported: { readonly dispatchId: string; readonly text: string }[] = [];
  // Minus the longest possible first line.
  let room = maxCharacters - opening(ended.length, ended.length).length;
  for (const dispatch of ended.toReversed()) {
    const text = outcomeOf(dispatch);
    room -= text.length + 2;
    if (room < 0) break;
    reported.unshift({ dispatchId: dispatch.envelope.dispatchId, text });
  }
  const omitted = ended.length - reported.length;
  const text =
    reported.length === 0
      ? ''
      : [opening(ended.length, omitted), ...reported.map(({ text }) => text)].join('\n\n');
  return { text, dispatchIds: reported.map(({ dispatchId }) => dispatchId), omitted };
}

function opening(all: number, omitted: number): string {
  const leftOut = omitted === 0 ? '' : ` The ${omitted} oldest are left out.`;
  return `The ${all === 1 ? 'outcome of 1 earlier dispatch' : `outcomes of ${all} earlier dispatches`} of this task, oldest first.${leftOut}`;
}

function outcomeOf({ envelope, ending }: PriorDispatch): string {
  const { dispatchId, role, model, status, startedAt, cost, botId } = withOpenCalls(envelope);
  const duration = dispatchDuration(envelope);
  const head = [
    `${dispatchId}: ${role}`,
    ...(botId === null ? [] : [`bot ${botId}`]),
    ...(model === null ? [] : [model]),
    `${status}, ${startedAt === null ? timeNotRecorded : `started ${startedAt}`}`,
    ...(duration === null ? [] : [formatDuration(duration)]),
    ...(cost === null ? [] : [formatCost(cost)]),
  ].join(', ');
  const trouble = ending?.trouble ?? null;
  return [head, ...(trouble === null ? [] : [cut(trouble)]), resultOf(envelope, ending)].join('\n');
}

function resultOf({ structuredResult }: DispatchEnvelope, ending: DispatchEnding | undefined): string {
  if (structuredResult !== null)
    return cut(typeof structuredResult === 'string' ? structuredResult : JSON.stringify(structuredResult));
  if (ending === undefined) return 'No structured result.';
  const { result, lastText } = ending;
  if (result !== null) return cut(result);
  return lastText === null ? 'No result.' : cut(`No result is stated. Its last text: ${lastText}`);
}

function cut(text: string): string {
  if (text.length <= longestResult) return text;
  const kept = shortened(text, longestResult).slice(0, -1);
  return `${kept}\n[… ${text.length - kept.length} characters left out …]`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** How a dispatch ended. */
export interface DispatchEnding {
  /** The result that the dispatch stated in text. Null: none, or `trouble` has it. */
  readonly result: string | null;
  /** The last text of the dispatched agent. Null: none. */
  readonly lastText: string | null;
  /** What stopped it, or why it failed, on one line. Null: nothing, or not recorded. */
  readonly trouble: string | null;
}

/** How an ended dispatch ended, by its last events, in the order of its log. */
export function dispatchEnding(
  { status }: Pick<DispatchEnvelope, 'status'>,
  events: readonly CapturedEvent[],
): DispatchEnding {
  const completion = events.findLast((event) => isEventOf(event, 'session:complete'));
  const said = events.findLast((event) => isEventOf(event, 'agent:text') && event.agentId === undefined);
  const stop = status === 'aborted' ? events.findLast(({ type }) => stops.has(type)) : undefined;
  const trouble = status === 'completed' ? undefined : (stop ?? events.findLast(isBadEnd));
  return {
    result: completion === undefined || completion === trouble ? null : (completion.data.result ?? null),
    lastText: said === undefined ? null : String(said.data.text),
    trouble: trouble === undefined ? null : inWords(trouble),
  };
}

function isBadEnd(event: CapturedEvent): boolean {
  if (isEventOf(event, 'session:complete')) return event.data.status !== 'completed';
  return event.type === 'harness:error';
}

function inWords(event: CapturedEvent): string {
  const { word, head, text } = wordsLine(eventWords(event));
  if (event.type === 'session:complete') return text;
  return [word, head, text].filter((part) => part !== '').join(' ');
}
