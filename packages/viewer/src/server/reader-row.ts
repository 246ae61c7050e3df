import { type Row, rowWords, wordsLine } from '@hansard/views';
import type { ReaderRow } from '../answers.ts';
import { timeOf } from './lenses/lens-page.ts';

/** Code points of a text. */
const longestText = 160;

export function readerRow(row: Row): ReaderRow {
  const words = rowWords(row);
  const { position, kind, agentId, tone, isFailed } = words;
  return {
    ...wordsLine(words, longestText),
    position,
    kind,
    time: timeOf(row),
    agentId,
    tone,
    isFailed,
  };
}
