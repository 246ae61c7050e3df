import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { isEventOf } from '@hansard/events/plain';
import { stops } from '@hansard/facts';
import { wordsLine } from '../rows/row-line.ts';
import { eventWords } from '../words/row-words.ts';

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
