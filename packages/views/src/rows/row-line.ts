import { neutraliseControlsInLine } from '@hansard/events/plain';
import { formatCount } from '@hansard/facts';
import { compactJson } from '../text/compact-json.ts';
import { partLines } from './part-lines.ts';
import type { Row, RowPart } from './row.ts';

/** A row as the parts of one line. No part has a line break or an invisible control character. */
export interface RowLine {
  /** The tool and its target, the author of a message, the model. */
  readonly head: string;
  /** The input of a call, and the content of any other row. */
  readonly text: string;
  /** What came back from a call; null: nothing yet, or the row is not a call. */
  readonly outcome: string | null;
  /** Who received it, decisions that changed or denied it. '' if nothing is recorded. */
  readonly notes: string;
}

/** A row on one line. Texts longer than `most` code points are cut and end with `…`. */
export function rowLine(row: Row, most: number): RowLine {
  const { head, from, content, call, kind } = row;
  const speaker = from === undefined ? '' : ['from', from.name || from.label].join(' ');
  const text = kind === 'noise' ? cut(foldedInLine(row), most) : partsInLine(content, most);
  const target = neutraliseControlsInLine(call?.target ?? '');
  return {
    head: cut(neutraliseControlsInLine(speaker || head), most),
    // A command is often both the target and the input.
    text: target !== '' && target === text ? '' : text,
    outcome: call?.outcome ? partsInLine(call.outcome, most) : null,
    notes: cut(notesOf(row), most),
  };
}

/** Everything that a row shows, for a search. Its pieces are lines. */
export function rowText(row: Row): string {
  const { head, from, content, call, decisions = [], folded = [], agent, word } = row;
  const parts = [...content, ...(call?.outcome ?? []), ...decisions.flatMap((decision) => decision.content)];
  return [
    ...[agent.name, word, from?.name ?? '', head].map(neutraliseControlsInLine),
    ...parts.flatMap((part) => partLines(part).map(({ text }) => text)),
    ...decisions.map(({ hook, reason }) => neutraliseControlsInLine(`${hook} ${reason}`)),
    ...folded.map(({ word: kind, text }) => neutraliseControlsInLine(`${kind} ${text}`)),
  ].join('\n');
}

function partsInLine(parts: readonly RowPart[], most: number): string {
  const pieces: string[] = [];
  let length = 0;
  for (const part of parts) {
    if (length > most) break;
    const piece = partInLine(part, most);
    length += piece.length;
    if (piece !== '') pieces.push(piece);
  }
  return cut(pieces.join('  '), most);
}

function partInLine(part: RowPart, most: number): string {
  switch (part.kind) {
    case 'text':
      // What is beyond is cut anyway, and need not be searched for controls.
      return neutraliseControlsInLine(part.text.trim().slice(0, most * 4));
    case 'json':
      return neutraliseControlsInLine(compactJson(part.value));
    case 'fields':
      return neutraliseControlsInLine(part.fields.map(([name, value]) => `${name} ${value}`).join(', '));
    case 'diff':
      return diffInLine(part);
    case 'image':
      return neutraliseControlsInLine(`[${part.mediaType}]`);
  }
}

function diffInLine({ lines }: Extract<RowPart, { kind: 'diff' }>): string {
  const count = (kind: string) => lines.filter((line) => line.kind === kind).length;
  const changed = lines.find(({ kind }) => kind === 'added') ?? lines.find(({ kind }) => kind === 'removed');
  const shown = changed === undefined ? '' : neutraliseControlsInLine(changed.text.trim());
  const sign = changed?.kind === 'added' ? '+' : '-';
  return `+${count('added')} -${count('removed')}${shown === '' ? '' : `  ${sign} ${shown}`}`;
}

function foldedInLine({ folded = [] }: Row): string {
  const counts = Object.entries(Object.groupBy(folded, ({ word }) => word)).map(
    ([word, some = []]) => `${some.length} ${word}`,
  );
  return neutraliseControlsInLine(`${formatCount(folded.length, 'harness record')}: ${counts.join(', ')}`);
}

function notesOf({ kind, heard = [], missing = [], decisions = [], folded = [] }: Row): string {
  const isKnown = kind === 'message' && heard.length === 1;
  const names = isKnown
    ? []
    : heard.map(({ agent, how }) => {
        const name = agent.name || 'dispatched agent';
        return how === 'same' ? name : `${name} (${how})`;
      });
  const words = { deny: 'denied', alter: 'altered' } as const;
  const decided = decisions.flatMap(({ hook, decision }) =>
    decision === 'allow' ? [] : [`! ${words[decision]} by ${hook}`],
  );
  const notes = [
    ...decided,
    ...(names.length === 0 ? [] : [`⇢ ${names.join(', ')}`]),
    ...(names.length > 0 && missing.length > 0 ? [`not ${missing.length} others`] : []),
    ...(kind !== 'noise' && folded.length > 0 ? [formatCount(folded.length, 'engine record')] : []),
  ];
  return neutraliseControlsInLine(notes.join('  '));
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = [...text.slice(0, most * 2)];
  if (characters.length <= most && text.length <= most * 2) return text;
  return `${characters.slice(0, most - 1).join('')}…`;
}
