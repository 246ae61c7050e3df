import type { DispatchEnvelope } from '@hansard/events';
import { formatCost, formatDuration } from '../text/format.ts';
import { dispatchDuration } from './dispatch-figures.ts';

export interface PriorOutcomesOptions {
  /** The most characters of the whole text. Absent: 8,000. */
  readonly maxCharacters?: number;
}

/** What earlier dispatches of a task came to. */
export interface PriorOutcomes {
  /** To open the next dispatch with; '' where there is none to tell of. */
  readonly text: string;
  /** Those that the text tells of, oldest first. */
  readonly dispatchIds: readonly string[];
  /** How many older ones it leaves out, for there is no room. */
  readonly omitted: number;
}

/** The most characters of one result. */
const longestResult = 2_000;

/**
 * What earlier dispatches of a task came to, from their envelopes alone (D12): who, how it ended, what it took, and the
 * result. Those that are still running are no outcome. The newest are told first where there is no room for all.
 */
export function priorOutcomes(
  envelopes: readonly DispatchEnvelope[],
  { maxCharacters = 8_000 }: PriorOutcomesOptions = {},
): PriorOutcomes {
  const ended = envelopes
    .filter(({ status }) => status !== 'running')
    .sort(
      (one, other) => compare(one.startedAt, other.startedAt) || compare(one.dispatchId, other.dispatchId),
    );
  const told: { readonly dispatchId: string; readonly text: string }[] = [];
  // Room for the line that says how many are left out.
  let room = maxCharacters - opening(ended.length, ended.length).length;
  for (const envelope of ended.toReversed()) {
    const text = outcomeOf(envelope);
    room -= text.length + 2;
    if (room < 0) break;
    told.unshift({ dispatchId: envelope.dispatchId, text });
  }
  const omitted = ended.length - told.length;
  const text =
    told.length === 0 ? '' : [opening(ended.length, omitted), ...told.map(({ text }) => text)].join('\n\n');
  return { text, dispatchIds: told.map(({ dispatchId }) => dispatchId), omitted };
}

function opening(all: number, omitted: number): string {
  const leftOut = omitted === 0 ? '' : ` The ${omitted} oldest are left out.`;
  return `What ${all} earlier ${all === 1 ? 'dispatch' : 'dispatches'} of this task came to, oldest first.${leftOut}`;
}

function outcomeOf(envelope: DispatchEnvelope): string {
  const { dispatchId, role, model, status, startedAt, cost, botId, structuredResult } = envelope;
  const duration = dispatchDuration(envelope);
  const head = [
    `${dispatchId}: ${role}`,
    ...(botId === null ? [] : [`bot ${botId}`]),
    ...(model === null ? [] : [model]),
    `${status}, started ${startedAt}`,
    ...(duration === null ? [] : [formatDuration(duration)]),
    ...(cost === null ? [] : [formatCost(cost)]),
  ].join(', ');
  if (structuredResult === null) return `${head}\nNo structured result.`;
  const result = typeof structuredResult === 'string' ? structuredResult : JSON.stringify(structuredResult);
  if (result.length <= longestResult) return `${head}\n${result}`;
  const leftOut = result.length - longestResult;
  return `${head}\n${result.slice(0, longestResult).toWellFormed()}\n[… ${leftOut} characters left out …]`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
