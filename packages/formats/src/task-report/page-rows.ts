import {
  agentLabel,
  type DialogRow,
  type LogIndex,
  missedBy,
  type PerspectiveRow,
  speakerLabel,
} from '@hansard/views';
import { escapeHtmlInLine, textBlock } from './html-text.ts';

/** One utterance and its receivers. */
export function dialogItem(index: LogIndex, row: DialogRow): string {
  const { speaker, text, audience } = row;
  const names = audience.map(({ agentId, how }) => {
    const name = `<bdi>${escapeHtmlInLine(agentLabel(index, agentId))}</bdi>`;
    return how === 'same' ? name : `${name} (${how})`;
  });
  const altered = audience.flatMap(({ agentId, how, text: received }) =>
    how === 'altered' && received !== null
      ? [
          `<div class="notice">${escapeHtmlInLine(agentLabel(index, agentId))} heard:</div>${textBlock(received)}`,
        ]
      : [],
  );
  const heard = names.length === 0 ? '' : `<div class="heard">heard by ${names.join(', ')}</div>`;
  const missed = missedBy(index, row);
  const notHeard =
    missed === null ? '' : `<div class="heard">not heard by <bdi>${escapeHtmlInLine(missed)}</bdi></div>`;
  return `<li><span class="who" dir="auto">${escapeHtmlInLine(speakerLabel(index, speaker))}</span><div>${textBlock(text)}${heard}${altered.join('')}${notHeard}</div></li>`;
}

/** One thing that an agent heard, thought, did, received or said. */
export function perspectiveItem(index: LogIndex, { kind, text, from, how, tool }: PerspectiveRow): string {
  const about = [
    tool ?? '',
    from === null ? '' : `from ${speakerLabel(index, from)}`,
    how === null || how === 'same' ? '' : `(${how})`,
  ]
    .filter(Boolean)
    .join(' ');
  const head = about === '' ? '' : `<div class="heard">${escapeHtmlInLine(about)}</div>`;
  return `<li><span class="kind">${kind}</span><div>${head}${textBlock(text)}</div></li>`;
}
