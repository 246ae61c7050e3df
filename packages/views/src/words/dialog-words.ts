import { agentLabel, speakerLabel } from '../agents/agent-label.ts';
import type { LogIndex } from '../log/log-index.ts';
import { type Fate, speakerIdOf } from '../log/saying.ts';
import type { DialogRow } from '../session/dialog.ts';
import type { PerspectiveRow } from '../session/perspective.ts';
import { alteredNote, dispatchedAgent, fateWords, hearingClauses, takenBackWords } from './hearing-words.ts';
import type { RowWordsOptions } from './row-words.ts';
import type { NoteBlock, WordBlock, WordSpan, Words } from './words.ts';

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
  { position, event, speaker, text, fate, audience, missing }: DialogRow,
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
      ...(fate === undefined ? [] : [takenBackNote(fate)]),
      ...clauses.flatMap(({ spans, delivery, tone }): WordBlock[] => [
        { kind: 'note', source: 'hearing', spans, tone },
        ...(delivery?.how === 'altered' && delivery.text !== null
          ? [{ kind: 'text', source: 'hearing', text: delivery.text, isProse: true } as const]
          : []),
      ]),
    ],
  };
}

function takenBackNote(fate: Fate): NoteBlock {
  const spans = [{ label: 'text', text: takenBackWords[fate] } as const];
  return { kind: 'note', source: 'hearing', spans, tone: 'notice' };
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
