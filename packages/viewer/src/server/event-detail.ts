import type { CapturedEvent } from '@hansard/events';
import { neutraliseControls } from '@hansard/events/plain';
import { type Row, rowWords, wordsLine } from '@hansard/views';
import type { EventDetail, EventLink, LinkKind } from '../answers.ts';
import { cutTexts, harmless } from './cut-texts.ts';
import type { LogRows } from './log-rows.ts';

/** Code points of the text of a link. */
const linkText = 80;
/** Characters of a line. A longer one is cut, and asked for by itself. */
const mostCharacters = 262_144;
/** The most links that are shown in one direction. */
const mostLinks = 50;

/** One event with its row, as recorded, and the recorded links to what is near it. */
export interface EventAround {
  readonly event: CapturedEvent;
  /** The row that has the event. */
  readonly row: Row | null;
  /** What the events of the row came from. */
  readonly causes: readonly EventLink[];
  /** What came from them. */
  readonly effects: readonly EventLink[];
}

/** Null: there is no such event. */
export async function eventAround(rows: LogRows, position: number): Promise<EventAround | null> {
  const around = await rows.around(position);
  const event = around.events[position - around.first];
  if (event === undefined) return null;
  const row = around.rows.find(({ events }) => events.includes(position)) ?? null;
  const own = (row?.events ?? [position]).flatMap((at) => around.events[at - around.first] ?? []);
  const linkTo = (kind: LinkKind, at: number): EventLink[] => {
    const target = around.rows.find(({ events }) => events.includes(at));
    return target === undefined || target === row ? [] : [{ kind, position: at, text: textOf(target) }];
  };
  const namesOf = ({ id, messageId }: CapturedEvent) => (messageId === undefined ? [id] : [id, messageId]);
  const ownNames = new Set(own.flatMap(namesOf));
  const causes = own.flatMap((one) =>
    linksOf(one).flatMap(([kind, id]): EventLink[] => {
      if (ownNames.has(id)) return [];
      const at = around.events.findIndex((other) => namesOf(other).includes(id));
      return at === -1 ? [{ kind, position: null, text: id }] : linkTo(kind, around.first + at);
    }),
  );
  const effects = around.events.flatMap((other, at) =>
    linksOf(other).flatMap(([kind, id]) => (ownNames.has(id) ? linkTo(kind, around.first + at) : [])),
  );
  return { event, row, causes: causes.slice(0, mostLinks), effects: effects.slice(0, mostLinks) };
}

/** One event for the page. Null: there is no such event. */
export async function eventDetail(rows: LogRows, position: number): Promise<EventDetail | null> {
  const around = await eventAround(rows, position);
  if (around === null) return null;
  const { event, row, causes, effects } = around;
  const characters = JSON.stringify(event).length;
  const isCut = characters > mostCharacters;
  const shown = isCut ? cutTexts(event) : event;
  return {
    position,
    characters,
    isCut,
    event: shown,
    json: neutraliseControls(JSON.stringify(shown, null, 2)),
    events: row?.events ?? [position],
    words: row === null ? null : harmless(rowWords(isCut ? cutTexts(row) : row)),
    model: row?.model === undefined ? null : neutraliseControls(row.model.name),
    causes,
    effects,
  };
}

function linksOf({ cause, substance, via }: CapturedEvent): (readonly [LinkKind, string])[] {
  return [
    ...[cause ?? []].flat().map((id) => ['cause', id] as const),
    ...(substance === undefined ? [] : [['substance', substance] as const]),
    ...(via === undefined ? [] : [['via', via] as const]),
  ];
}

function textOf(row: Row): string {
  const { agent, word, head, text } = wordsLine(rowWords(row), linkText);
  return [agent, word, head, text].filter((piece) => piece !== '').join(' ');
}
