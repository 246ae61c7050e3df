import { renderRow } from '@hansard/views';
import type { History } from '../answers.ts';
import type { LogRows } from './log-rows.ts';

/** The most events that a history has. */
const mostEvents = 2_000;
/** The most characters of a history. A longer last row is whole. */
const mostCharacters = 1_000_000;

/** What happened up to an event, as text. Nothing of it is from later events. Null: there is no such event. */
export async function historyOf(rows: LogRows, position: number): Promise<History | null> {
  const page = await rows.upTo(position, mostEvents);
  if (page === null) return null;
  const shown: string[] = [];
  let characters = 0;
  let first = position + 1;
  for (const row of page.rows.toReversed()) {
    const text = renderRow(row, { full: true });
    characters += text.length + 1;
    if (characters > mostCharacters && shown.length > 0) break;
    shown.unshift(text);
    first = row.position;
  }
  if (page.first === 0 && shown.length === page.rows.length) first = 0;
  const before = first === 0 ? [] : [`… ${first} earlier events are left out …`];
  return { first, text: `${[...before, ...shown].join('\n')}\n` };
}
