import { neutraliseControlsInLine } from '@hansard/events/plain';
import { rowWords } from '../words/row-words.ts';
import { spanText, type WordBlock, type Words } from '../words/words.ts';
import type { Row } from './row.ts';

/** Words as the parts of one line. No part has a line break or an invisible control character. */
export interface WordsLine {
  readonly agent: string;
  readonly word: string;
  /** The tool and its target, the author of a message, the model. */
  readonly head: string;
  /** How it went, and how long it took. */
  readonly status: string;
  /** The input of a call, and the content of anything else. */
  readonly text: string;
  /** What came back from a call. */
  readonly outcome: string;
  /** What hooks did, who heard it, how many records there are. */
  readonly notes: string;
}

/** Words on one line. Texts longer than `most` code points are cut and end with `…`. */
export function wordsLine(words: Words, most = Number.POSITIVE_INFINITY): WordsLine {
  const { blocks } = words;
  const span = (...labels: Parameters<typeof spanText>[1][]) => inLine(spanText(words, ...labels), most);
  const isNote = ({ source }: WordBlock) => source !== 'content' && source !== 'outcome';
  return {
    agent: span('agent'),
    word: span('word'),
    head: span('head'),
    status: span('mark', 'status', 'duration'),
    text: blocksInLine(
      blocks.filter(({ source }) => source === 'content'),
      most,
    ),
    outcome: blocksInLine(
      blocks.filter(({ source }) => source === 'outcome'),
      most,
    ),
    notes: blocksInLine(blocks.filter(isNote), most),
  };
}

/** Everything that a row shows, for a search, without who heard it. Its pieces are lines. */
export function rowText(row: Row): string {
  const words = rowWords(row);
  return [
    ...words.spans.flatMap(({ label, text }) =>
      label === 'agent' || label === 'word' || label === 'head' ? [text] : [],
    ),
    ...words.blocks.flatMap((block) => (block.source === 'hearing' ? [] : searchedLines(block))),
  ]
    .map((line) => neutraliseControlsInLine(line))
    .join('\n');
}

function searchedLines(block: WordBlock): string[] {
  const label = block.label === undefined ? [] : [block.label];
  switch (block.kind) {
    case 'text':
    case 'code':
    case 'changed':
      return [...label, ...block.text.split('\n')];
    case 'diff':
      return [...label, ...block.lines.map(({ text }) => text)];
    case 'table':
      return block.rows.map(([name, value]) => `${name} ${value}`);
    case 'media':
      return [block.text];
    case 'note':
      return [block.spans.map(({ text }) => text).join(' ')];
    case 'records':
      return block.records.map(({ text }) => text);
  }
}

function blocksInLine(blocks: readonly WordBlock[], most: number): string {
  const pieces: string[] = [];
  let length = 0;
  for (const block of blocks) {
    if (length > most) break;
    const label = block.source === 'hook' && block.label !== undefined ? `${block.label}: ` : '';
    const piece = inLine(label + blockInLine(block, most), most);
    length += piece.length;
    if (piece !== '') pieces.push(piece);
  }
  return cut(pieces.join('  '), most);
}

/** What is beyond is cut anyway, and need not be searched for controls. */
function blockInLine(block: WordBlock, most: number): string {
  switch (block.kind) {
    case 'text':
      return block.text.trim().slice(0, most * 4);
    case 'code':
      return (block.inLine ?? block.text).trim().slice(0, most * 4);
    case 'diff':
      return block.inLine;
    case 'table':
      return block.rows.map(([name, value]) => `${name} ${value}`).join(', ');
    case 'media':
      return block.text;
    case 'note':
      return `${block.source === 'hook' ? '!' : '⇢'} ${block.spans.map(({ text }) => text).join(' ')}`;
    // Its length is that of a text, and its note is on the line.
    case 'changed':
      return '';
    case 'records':
      return block.summary;
  }
}

function inLine(text: string, most: number): string {
  return cut(neutraliseControlsInLine(text), most);
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = [...text.slice(0, most * 2)];
  if (characters.length <= most && text.length <= most * 2) return text;
  return `${characters.slice(0, most - 1).join('')}…`;
}
