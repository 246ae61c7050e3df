import { formatTime } from '@hansard/facts';
import type { CapturedEvent } from '@hansard/provider';
import { eventWords, wordsLine } from '@hansard/views';
import { cutText } from './cut-text.ts';

export interface TextLimits {
  /** The most characters of one event. */
  readonly perEvent: number;
  /** The most characters in all. */
  readonly inAll: number;
}

/**
 * Events for a model, one on a line, oldest first. Where they are too long in all, the oldest are left out, and the
 * first line says how many.
 */
export function recentEventsText(events: readonly CapturedEvent[], { perEvent, inAll }: TextLimits): string {
  const lines: string[] = [];
  // The line about those left out is as long as can be where all are.
  let room = inAll - leftOutLine(events.length).length;
  for (const event of events.toReversed()) {
    const line = cutText(lineOf(event), perEvent);
    if (line.length + 1 > room) break;
    room -= line.length + 1;
    lines.unshift(line);
  }
  const leftOut = events.length - lines.length;
  return [...(leftOut === 0 ? [] : [leftOutLine(leftOut)]), ...lines].join('\n');
}

function lineOf(event: CapturedEvent): string {
  const { agent, word, head, status, text } = wordsLine(eventWords(event));
  return [formatTime(event.timestamp), agent, word, head, status, text]
    .filter((part) => part !== '')
    .join(' ');
}

function leftOutLine(count: number): string {
  return `[${count} older ${count === 1 ? 'event' : 'events'} left out]`;
}
