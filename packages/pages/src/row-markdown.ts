import { formatTime } from '@hansard/facts';
import { type Row, rowWords, spanText, type WordBlock } from '@hansard/views';
import { besideOrBelow, blockMarkdown, inlineMarkdown } from './markdown-text.ts';

/** A row as Markdown paragraphs. `role` names the dispatched agent. Text of agents is shown word for word and is never markup. */
export function rowMarkdown(row: Row, role: string): string {
  const words = rowWords(row, { self: role });
  const word = spanText(words, 'word');
  const line = [
    spanText(words, 'agent'),
    words.isFailed ? `✗ ${word}` : word,
    spanText(words, 'head'),
    spanText(words, 'status'),
  ].filter(Boolean);
  const figures = words.spans.flatMap(({ label, text }) =>
    label === 'duration' || label === 'figure' ? inlineMarkdown(text) : [],
  );
  const start = `**${formatTime(words.timestamp)}** ${line.map(inlineMarkdown).join(' ')}${figures.length === 0 ? '' : ` (${figures.join(', ')})`}`;
  const [first, ...rest] = words.blocks;
  const isBeside = first?.kind === 'text' && first.label === undefined && first.source === 'content';
  const firstOutcome = words.blocks.find(({ source }) => source === 'outcome');
  return [
    isBeside ? besideOrBelow(`${start}:`, first.text) : start,
    ...(isBeside ? rest : words.blocks).flatMap((block) => [
      ...(block === firstOutcome ? ['→'] : []),
      blockInMarkdown(block),
    ]),
  ].join('\n\n');
}

function blockInMarkdown(block: WordBlock): string {
  const label = block.label === undefined ? '' : `${inlineMarkdown(block.label)}:`;
  const shown = unlabelled(block);
  if (block.kind === 'changed') return besideOrBelow(label, block.text);
  return label === '' ? shown : `${label}\n\n${shown}`;
}

function unlabelled(block: WordBlock): string {
  switch (block.kind) {
    case 'text':
    case 'changed':
      return blockMarkdown(block.text);
    case 'code':
      return blockMarkdown(block.text, block.inLine === undefined ? 'text' : 'json');
    case 'table':
      return block.rows
        .map(([name, value]) => `- ${inlineMarkdown(name)}: ${inlineMarkdown(value)}`)
        .join('\n');
    case 'diff': {
      const marks = { same: ' ', removed: '-', added: '+' } as const;
      return blockMarkdown(block.lines.map(({ kind, text }) => `${marks[kind]} ${text}`).join('\n'), 'diff');
    }
    case 'image':
      return inlineMarkdown(block.text);
    case 'note':
      return inlineMarkdown(block.spans.map(({ text }) => text).join(' '));
    case 'records': {
      const records = block.records.map(
        ({ timestamp, text }) => `- ${formatTime(timestamp)} ${inlineMarkdown(text)}`,
      );
      return [`${inlineMarkdown(block.summary)}`, '', ...records].join('\n');
    }
  }
}
