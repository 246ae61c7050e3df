import { isEventOf } from '@hansard/events';
import {
  agentLabel,
  type DialogRow,
  type EventLine,
  formatDuration,
  formatTime,
  type LogIndex,
  type PerspectiveRow,
  type SessionRow,
  speakerLabel,
} from '@hansard/views';
import { escapeHtmlInLine, textBlock } from './html-text.ts';

/** One line of a long dispatch. */
export function lineItem({ time, agent, kind, target, status, text, tone }: EventLine): string {
  const words = [target, status ?? '', text].filter(Boolean).join(' ');
  return row(
    time,
    agent,
    kind,
    `<div class="text ${toneOf(tone)}" dir="auto">${escapeHtmlInLine(words)}</div>`,
  );
}

/** One row of the log; a call includes its outcome. */
export function sessionItem(index: LogIndex, item: SessionRow): string {
  const { event, agent, kind, target, status, durationMs, text, outcome, tone } = item;
  const took = durationMs === undefined ? '' : ` ${formatDuration(durationMs)}`;
  const content = [
    target === '' ? '' : `<div class="target" dir="auto">${escapeHtmlInLine(target)}</div>`,
    status === undefined ? '' : `<div class="${tone}">${escapeHtmlInLine(status + took)}</div>`,
    text === '' ? '' : textBlock(text, `text ${toneOf(tone)}`),
    outcome === '' ? '' : textBlock(outcome, 'outcome'),
    ...observedImages(item),
  ].join('');
  const who = agent.agentId === '' ? '' : agentLabel(index, agent.agentId);
  return row(formatTime(event.timestamp), who, kind, content);
}

/** One utterance and its receivers. */
export function dialogItem(index: LogIndex, { speaker, text, audience }: DialogRow): string {
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
  return `<li><span class="who" dir="auto">${escapeHtmlInLine(speakerLabel(index, speaker))}</span><div>${textBlock(text)}${heard}${altered.join('')}</div></li>`;
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

/** A terminal shows messages in the colour of notices. The page shows them in a column of their own, without that colour. */
function toneOf(tone: EventLine['tone']): string {
  return tone === 'notice' ? 'plain' : tone;
}

function row(time: string, who: string, kind: string, content: string): string {
  return `<li><time>${escapeHtmlInLine(time)}</time><span class="who" dir="auto">${escapeHtmlInLine(who)}</span><span class="kind">${escapeHtmlInLine(kind)}</span><div>${content}</div></li>`;
}

const shownImages = /^image\/(png|jpeg|gif|webp)$/;
const largestImage = 2_000_000;

function observedImages({ event }: SessionRow): string[] {
  if (!isEventOf(event, 'agent:output')) return [];
  return event.data.parts.flatMap((part) => {
    if (part.kind !== 'image' || !shownImages.test(part.mediaType)) return [];
    if (part.base64.length > largestImage || !/^[A-Za-z0-9+/]*={0,2}$/.test(part.base64)) return [];
    return [
      `<img class="observed" alt="what the agent saw" src="data:${part.mediaType};base64,${part.base64}">`,
    ];
  });
}
