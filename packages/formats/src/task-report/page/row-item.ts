import { formatCost, formatDuration, formatTime, formatTokens } from '@hansard/facts';
import type { Row, RowAgent, RowHearing } from '@hansard/views';
import { escapeHtmlInLine } from '../html-text.ts';
import { partHtml, partsHtml } from './part-html.ts';

/** How many colours the style sheet has for agents. */
const colours = 6;

/** A row as an item of a list. `scope` begins the anchors of its dispatch: that of an event is `scope-position`. */
export function rowItem(row: Row, scope: string, role: string): string {
  const { position, timestamp, kind, agent, isFailed, events, word } = row;
  const name = nameOf(agent, role);
  const anchored = new Set([position, ...(row.folded ?? []).map((one) => one.position)]);
  const anchors = events.filter((at) => !anchored.has(at)).map((at) => `<a id="${scope}-${at}"></a>`);
  const depth = Math.min(agent.depth, 4);
  return [
    `<li class="row ${kind}${isFailed ? ' failed' : ''}${row.tone === 'dim' ? ' quiet' : ''}" id="${scope}-${position}" data-agent="${escapeHtmlInLine(name)}" tabindex="-1">`,
    `<a class="at" href="#${scope}-${position}" title="event ${position}, ${timestamp}"><time datetime="${timestamp}">${formatTime(timestamp)}</time></a>`,
    `<span class="who a${colourOf(agent.agentId)} d${depth}" dir="auto">${escapeHtmlInLine(name)}</span>`,
    `<div class="what">${anchors.join('')}<span class="word">${isFailed ? '✗ ' : ''}${escapeHtmlInLine(word)}</span> ${headHtml(row)}${bodyHtml(row, scope, role)}</div>`,
    `<span class="fig">${figures(row)}</span></li>`,
  ].join('');
}

/** The first row of a day. */
export function dayItem(day: string): string {
  return `<li class="day">${day} <small>UTC</small></li>`;
}

function nameOf({ name, agentId }: RowAgent, role: string): string {
  return name || agentId || role;
}

function headHtml({ head, from, status, isFailed }: Row): string {
  const speaker = from === undefined ? '' : `from ${from.name || from.label}`;
  const state =
    status === undefined || status === 'completed'
      ? ''
      : ` <span class="${isFailed ? 'bad' : 'quiet'}">${escapeHtmlInLine(status)}</span>`;
  const text = speaker || head;
  return (text === '' ? '' : `<code dir="auto">${escapeHtmlInLine(text)}</code>`) + state;
}

function bodyHtml(row: Row, scope: string, role: string): string {
  const { content, call, decisions = [], heard = [], missing = [], folded = [] } = row;
  const decided = decisions.map(
    ({ hook, on, decision, reason, content: parts }) =>
      `<div class="decision">hook ${escapeHtmlInLine(hook)}: ${decision} ${escapeHtmlInLine(on.replaceAll('_', ' '))}${reason === '' ? '' : `, ${escapeHtmlInLine(reason)}`}</div>${partsHtml(parts)}`,
  );
  const outcome = call?.outcome ?? [];
  const isKnown = row.kind === 'message' && heard.length === 1;
  return [
    partsHtml(content),
    ...decided,
    outcome.length === 0 ? '' : `<div class="outcome">${partsHtml(outcome)}</div>`,
    heard.length === 0 || isKnown ? '' : heardHtml(heard, missing.length, role),
    folded.length === 0 ? '' : foldedHtml(row, scope),
  ].join('');
}

function heardHtml(heard: readonly RowHearing[], missing: number, role: string): string {
  const names = heard.map(({ agent, how }) => {
    const name = `<bdi>${escapeHtmlInLine(nameOf(agent, role))}</bdi>`;
    return how === 'same' ? name : `${name} <span class="chip">${how}</span>`;
  });
  const altered = heard.flatMap(({ agent, how, text, differences = [] }) => {
    if (how !== 'altered' || text === undefined) return [];
    const parts = differences.map(({ kind, text: piece }) => {
      const shown = escapeText(piece);
      return kind === 'same' ? shown : kind === 'added' ? `<ins>${shown}</ins>` : `<del>${shown}</del>`;
    });
    return [
      `<div class="altered">${escapeHtmlInLine(nameOf(agent, role))} received: ${parts.join('')}</div>`,
    ];
  });
  const others = missing === 0 ? '' : `; ${missing} could have and did not`;
  return `<div class="heard">heard by ${names.join(', ')}${others}</div>${altered.join('')}`;
}

function foldedHtml({ folded = [], position: own }: Row, scope: string): string {
  const items = folded.map(({ position, timestamp, word, text }) => {
    const anchor = position === own ? '' : ` id="${scope}-${position}"`;
    return `<li${anchor}><time>${formatTime(timestamp)}</time> <b>${escapeHtmlInLine(word)}</b> ${escapeHtmlInLine(text)}</li>`;
  });
  const words = Object.entries(Object.groupBy(folded, ({ word }) => word)).map(
    ([word, some = []]) => `${some.length} ${escapeHtmlInLine(word)}`,
  );
  const count = `${folded.length} ${folded.length === 1 ? 'record' : 'records'} of the harness: ${words.join(', ')}`;
  return `<details class="folded"><summary>${count}</summary><ol>${items.join('')}</ol></details>`;
}

function figures({ durationMs, model }: Row): string {
  const shown = [
    durationMs === undefined ? '' : formatDuration(durationMs),
    model === undefined ? '' : `${formatTokens(model.usage.outputTokens)} out`,
    model?.costUsd === undefined ? '' : formatCost(model.costUsd),
  ];
  return escapeHtmlInLine(shown.filter(Boolean).join(' · '));
}

function colourOf(agentId: string): number {
  let sum = 0;
  for (const character of agentId) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9_973;
  return sum % colours;
}

function escapeText(text: string): string {
  return partHtml({ kind: 'text', text, style: 'plain' }, 'bare');
}
