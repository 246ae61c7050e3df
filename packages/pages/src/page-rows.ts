import {
  type DialogRow,
  dialogWords,
  type LogIndex,
  type PerspectiveRow,
  perspectiveWords,
  spanText,
} from '@hansard/views';
import { escapeHtmlInLine, textBlock } from './html-text.ts';
import { noteHtml } from './page/block-html.ts';

/** One utterance and its receivers. */
export function dialogItem(index: LogIndex, row: DialogRow): string {
  const words = dialogWords(index, row);
  const blocks = words.blocks.map((block) => {
    if (block.kind === 'text') return textBlock(block.text);
    return block.kind === 'note' ? noteHtml(block, block.tone === 'notice' ? 'notice' : 'heard') : '';
  });
  const speaker = escapeHtmlInLine(spanText(words, 'agent'));
  return `<li><span class="who" dir="auto">${speaker}</span><div>${blocks.join('')}</div></li>`;
}

/** One thing that an agent heard, thought, did, received or said. */
export function perspectiveItem(index: LogIndex, row: PerspectiveRow): string {
  const words = perspectiveWords(index, row);
  const about = escapeHtmlInLine(spanText(words, 'head'));
  const head = about === '' ? '' : `<div class="heard">${about}</div>`;
  return `<li><span class="kind">${spanText(words, 'word')}</span><div>${head}${textBlock(row.text)}</div></li>`;
}
