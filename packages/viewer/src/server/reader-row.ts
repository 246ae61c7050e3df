import { type Row, rowWords, wordsLine } from '@hansard/views';
import type { ReaderRow } from '../answers.ts';

/** Code points of a text. */
const longestText = 160;

export function readerRow(row: Row): ReaderRow {
  const words = rowWords(row);
  const { position, kind, agentId, tone, isFailed } = words;
  const time = Date.parse(row.timestamp);
  return {
    ...wordsLine(words, longestText),
    position,
    kind,
    time: Number.isNaN(time) ? null : time,
    agentId,
    tone,
    isFailed,
  };
}
