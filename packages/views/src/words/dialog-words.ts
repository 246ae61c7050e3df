import { neutraliseControlsInLine } from '@hansard/events/plain';
import { agentLabel, speakerLabel } from '../agents/agent-label.ts';
import { basisNote } from '../knowledge/agent-knowledge.ts';
import type { LogIndex } from '../log/log-index.ts';
import { speakerIdOf } from '../log/saying.ts';
import type { DialogRow } from '../session/dialog.ts';
import type { PerspectiveRow } from '../session/perspective.ts';
import { hangingLines } from '../text/columns.ts';
import {
  alteredNote,
  dispatchedAgent,
  fateWords,
  hearingClauses,
  sentToWords,
  takenBackWords,
} from './hearing-words.ts';
import type { RowWordsOptions } from './row-words.ts';
import { type NoteBlock, spanText, type WordBlock, type WordSpan, type Words } from './words.ts';

/** The width of a column of positions. */
const positionColumns = 4;

const margin = ' '.repeat(positionColumns + 2);

/** A saying or another line of a conversation in words. */
export interface TalkWords extends Words {
  readonly position: number;
  /** '' for the dispatched agent; null: no agent said it. */
  readonly agentId: string | null;
}

interface DialogWordsOptions extends RowWordsOptions {
  readonly isPart?: boolean;
  readonly isLinked?: boolean;
}

/**
 * A saying in words: who said it, its text, and a note for each clause about who heard it. An altered text follows its note. Words of all agents
 * are known only in a whole log: with `isPart`, nobody is said to have missed it. With `isLinked`, a surface links the deliveries, and the position of the decision is left out.
 */
export function dialogWords(
  index: LogIndex,
  { position, event, speaker, text, fate, sentTo, audience, missing }: DialogRow,
  { self = dispatchedAgent, isPart = false, isLinked = false }: DialogWordsOptions = {},
): TalkWords {
  const nameOf = (agentId: string) => agentLabel(index, agentId) || self;
  const clauses = hearingClauses({
    heard: audience.map(({ via, ...hearing }) => ({
      ...hearing,
      name: nameOf(hearing.agentId),
      ...(via !== undefined && !isLinked && { via: String(index.eventWithId(via)?.position ?? via) }),
    })),
    missing: isPart ? [] : missing.map(nameOf),
    notKnown: [],
  });
  return {
    position,
    timestamp: event.timestamp,
    agentId: speakerIdOf(speaker),
    tone: 'plain',
    isFailed: false,
    spans: [{ label: 'agent', text: speakerLabel(index, speaker) || self }],
    blocks: [
      { kind: 'text', source: 'content', text, isProse: true },
      ...(fate === undefined ? [] : [hearingNote(takenBackWords[fate], 'notice')]),
      ...(sentTo === undefined ? [] : [hearingNote(sentToWords(nameOf(sentTo)), 'dim')]),
      ...clauses.flatMap(({ spans, delivery, tone }): WordBlock[] => [
        { kind: 'note', source: 'hearing', spans, tone },
        ...(delivery?.how === 'altered' && delivery.text !== null
          ? [{ kind: 'text', source: 'hearing', text: delivery.text, isProse: true } as const]
          : []),
      ]),
    ],
  };
}

function hearingNote(text: string, tone: NoteBlock['tone']): NoteBlock {
  return { kind: 'note', source: 'hearing', spans: [{ label: 'text', text }], tone };
}

/** One thing that an agent heard, thought, did, received or said, in words: what it was, the tool, whom it came from, and its text. */
export function perspectiveWords(index: LogIndex, row: PerspectiveRow): TalkWords {
  const { id, event, kind, text, from, how, tool, fate, saidFate } = row;
  const head = [
    tool ?? '',
    kind === 'did' || from === null ? '' : `from ${speakerLabel(index, from)}`,
    kind === 'did' ? '' : alteredNote(how),
    fate === undefined ? '' : `(${fateWords[fate]})`,
    saidFate === undefined ? '' : `(${takenBackWords[saidFate]})`,
  ].filter(Boolean);
  const spans: WordSpan[] = [{ label: 'word', text: kind }];
  if (head.length > 0) spans.push({ label: 'head', text: head.join(' ') });
  return {
    position: index.eventWithId(id)?.position ?? 0,
    timestamp: event.timestamp,
    agentId: event.agentId ?? '',
    tone: 'plain',
    isFailed: false,
    spans,
    blocks: [{ kind: 'text', source: 'content', text, isProse: true }],
  };
}

/**
 * The position, speaker and text of each saying, and below it the agents that heard it; the received text where it was altered; and
 * the agents that were present and did not hear it.
 */
export function renderDialog(index: LogIndex, rows: readonly DialogRow[]): string {
  if (rows.length === 0) return '(nothing was said)';
  return rows
    .map((row) => {
      const words = dialogWords(index, row);
      const speaker = neutraliseControlsInLine(spanText(words, 'agent'));
      const start = `${String(row.position).padStart(positionColumns)}  ${speaker}: `;
      return linesOf(words.blocks, start).join('\n');
    })
    .join('\n');
}

/** A text stands beside the note before it, the first one beside `start`. */
function linesOf(blocks: readonly WordBlock[], start: string): string[] {
  const lines: string[] = [];
  let before: string | null = start;
  for (const block of blocks) {
    if (block.kind === 'text') {
      lines.push(hangingLines(before ?? margin, block.text));
      before = null;
    } else if (block.kind === 'note') {
      if (before !== null) lines.push(before);
      before = `${margin}${neutraliseControlsInLine(block.spans.map(({ text }) => text).join(' '))}`;
      const next = blocks[blocks.indexOf(block) + 1];
      if (next?.kind === 'text') before += ': ';
    }
  }
  return before === null ? lines : [...lines, before];
}

/** One paragraph for each row, beginning with the position of its event. */
export function renderPerspective(index: LogIndex, rows: readonly PerspectiveRow[]): string {
  if (rows.length === 0) return '(nothing yet)';
  const lines = rows.map((row) => {
    const words = perspectiveWords(index, row);
    const head = neutraliseControlsInLine(spanText(words, 'head'));
    const about = head === '' ? '' : row.kind === 'did' ? `${head} ` : `${head}: `;
    const position = String(words.position).padStart(positionColumns);
    return hangingLines(`${position}  ${spanText(words, 'word').padEnd(8)}  ${about}`, row.text);
  });
  return [...basisNote(rows), ...lines].join('\n');
}
