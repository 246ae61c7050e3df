import { formatCost, formatDuration, formatTime, formatTokens } from '@hansard/facts';
import type { FoldedEvent, Row, RowHearing, RowPart } from '@hansard/views';
import { besideOrBelow, blockMarkdown, inlineMarkdown } from './markdown-text.ts';

/** A row as Markdown paragraphs. Text of agents is shown word for word and is never markup. */
export function rowMarkdown(row: Row, role: string): string {
  const { content, call, decisions = [], heard = [], missing = [], folded = [] } = row;
  const [first, ...rest] = content;
  const start = startOf(row);
  const isBeside = first?.kind === 'text' && first.label === undefined && first.style !== 'code';
  const outcome = call?.outcome ?? [];
  const isKnown = row.kind === 'message' && heard.length === 1;
  return [
    isBeside ? besideOrBelow(`${start}:`, first.text) : start,
    ...partsMarkdown(isBeside ? rest : content),
    ...decisions.flatMap(({ hook, on, decision, reason, content: parts }) => [
      `hook ${inlineMarkdown(hook)}: ${decision} ${inlineMarkdown(on.replaceAll('_', ' '))}${reason === '' ? '' : `, ${inlineMarkdown(reason)}`}`,
      ...partsMarkdown(parts),
    ]),
    ...(outcome.length === 0 ? [] : ['Outcome:', ...partsMarkdown(outcome)]),
    ...(heard.length === 0 || isKnown ? [] : heardMarkdown(heard, missing.length, role)),
    ...(folded.length === 0 ? [] : [foldedMarkdown(folded)]),
  ].join('\n\n');
}

function startOf({ timestamp, agent, word, head, from, status, isFailed, durationMs, model }: Row): string {
  const words = [
    agent.name || agent.agentId,
    isFailed ? `✗ ${word}` : word,
    head,
    from === undefined ? '' : `from ${from.name || from.label}`,
    status === undefined || status === 'completed' ? '' : status,
  ];
  const figures = [
    durationMs === undefined ? '' : formatDuration(durationMs),
    model === undefined ? '' : `${formatTokens(model.usage.outputTokens)} out`,
    model?.costUsd === undefined ? '' : formatCost(model.costUsd),
  ].filter(Boolean);
  const shown = figures.length === 0 ? '' : ` (${figures.map(inlineMarkdown).join(', ')})`;
  return `**${formatTime(timestamp)}** ${words.filter(Boolean).map(inlineMarkdown).join(' ')}${shown}`;
}

function partsMarkdown(parts: readonly RowPart[]): string[] {
  return parts.flatMap((part) => {
    const label = 'label' in part && part.label !== undefined ? [`${inlineMarkdown(part.label)}:`] : [];
    return [...label, partMarkdown(part)];
  });
}

function partMarkdown(part: RowPart): string {
  switch (part.kind) {
    case 'text':
      return blockMarkdown(part.text);
    case 'json':
      return blockMarkdown(JSON.stringify(part.value, null, 2), 'json');
    case 'fields':
      return part.fields
        .map(([name, value]) => `- ${inlineMarkdown(name)}: ${inlineMarkdown(value)}`)
        .join('\n');
    case 'diff': {
      const marks = { same: ' ', removed: '-', added: '+' } as const;
      return blockMarkdown(part.lines.map(({ kind, text }) => `${marks[kind]} ${text}`).join('\n'), 'diff');
    }
    case 'image':
      return `(${inlineMarkdown(part.mediaType)})`;
  }
}

function heardMarkdown(heard: readonly RowHearing[], missing: number, role: string): string[] {
  const nameOf = ({ agent }: RowHearing) => inlineMarkdown(agent.name || agent.agentId || role);
  const names = heard.map((one) => (one.how === 'same' ? nameOf(one) : `${nameOf(one)} (${one.how})`));
  const others = missing === 0 ? '' : `; ${missing} could have and did not`;
  const altered = heard.flatMap((one) =>
    one.how === 'altered' && one.text !== undefined
      ? [besideOrBelow(`**${nameOf(one)}** received:`, one.text)]
      : [],
  );
  return [`Heard by ${names.join(', ')}${others}`, ...altered];
}

function foldedMarkdown(folded: readonly FoldedEvent[]): string {
  return folded
    .map(
      ({ timestamp, word, text }) => `- ${[formatTime(timestamp), word, text].map(inlineMarkdown).join(' ')}`,
    )
    .join('\n');
}
