import type { CapturedEvent } from '@hansard/events';
import { eventLine, type Tone } from '@hansard/views';

/**
 * An event as one line of the reader. An array, because most answers are hundreds of them:
 * position, kind, time in milliseconds since 1970 (null if it is not a time), agent id, text, tone, size of the event as JSON in
 * characters, id of the tool call (null if it is not about one).
 */
export type EventRow = readonly [
  position: number,
  kind: string,
  time: number | null,
  agentId: string,
  text: string,
  tone: Tone,
  size: number,
  toolCallId: string | null,
];

/** Code points. A longer text is cut and ends with `…`: the page never gets more than it shows. */
const longestText = 160;

export function eventRow(event: CapturedEvent, position: number): EventRow {
  const { kind, target, text, tone } = eventLine(event);
  const time = Date.parse(event.timestamp);
  const { toolCallId } = event.data;
  return [
    position,
    kind,
    Number.isNaN(time) ? null : time,
    event.agentId ?? '',
    cut([target, text].filter((part) => part !== '').join('  ')),
    tone,
    JSON.stringify(event).length,
    typeof toolCallId === 'string' ? toolCallId : null,
  ];
}

function cut(text: string): string {
  if (text.length <= longestText) return text;
  const characters = [...text.slice(0, longestText * 2)];
  if (characters.length <= longestText && text.length <= longestText * 2) return text;
  return `${characters.slice(0, longestText - 1).join('')}…`;
}
