import type { DispatchEnvelope, TaskSource } from '@hansard/events';
import { neutraliseControls, neutraliseControlsInLine } from '@hansard/events/plain';
import { formatTime } from '@hansard/facts';
import {
  type DialogRow,
  dialogOf,
  dialogWords,
  dispatchTree,
  flowMermaid,
  type LogIndex,
  messageFlow,
  type PerspectiveRow,
  perspectiveOf,
  perspectiveWords,
  type Row,
  renderDispatchTree,
  rowWords,
  type SessionFacts,
  spanText,
  type WordBlock,
} from '@hansard/views';
import {
  type DispatchReport,
  dispatchFacts,
  envelopeOf,
  fileKind,
  foldKind,
  mediaIn,
  type ReportOptions,
  readDispatchReports,
  settlingRows,
  taskTitle,
} from './dispatch-report.ts';

/**
 * A task as Markdown, in pieces: the tree with costs, then each dispatch with its facts, result, events, dialog and the
 * view of each agent. Text of agents is shown word for word and is never markup.
 */
export async function* writeTaskMarkdown(
  source: TaskSource,
  options: ReportOptions = {},
): AsyncGenerator<string> {
  yield `# ${inlineMarkdown(taskTitle(source))}\n\n`;
  yield `${blockMarkdown(renderDispatchTree(dispatchTree(source.envelopes)) || '(no sessions)')}\n\n`;
  for await (const report of readDispatchReports(source, options)) {
    const envelope = envelopeOf(report);
    const isWhole = report.kind === 'whole';
    yield* head(envelope, isWhole ? report.facts : null);
    if (isWhole) yield* results(report.facts);
    yield* happened(envelope, report, options);
    if (isWhole) yield* lenses(report.facts, report.index);
  }
}

function* head(envelope: DispatchEnvelope, session: SessionFacts | null): Generator<string> {
  yield `## ${inlineMarkdown(envelope.role)}\n\n`;
  for (const [name, value] of dispatchFacts(envelope, session)) yield `- ${name}: ${inlineMarkdown(value)}\n`;
  yield '\n';
}

function* results(session: SessionFacts): Generator<string> {
  if (session.result !== null) yield `### Result\n\n${blockMarkdown(session.result)}\n\n`;
  if (session.structuredResult !== null)
    yield `### Structured result\n\n${blockMarkdown(JSON.stringify(session.structuredResult, null, 2))}\n\n`;
}

/** One row stands for the rows of a branch that is not current, which a text cannot open. */
async function* happened(
  envelope: DispatchEnvelope,
  report: DispatchReport,
  { onLeftOut }: ReportOptions,
): AsyncGenerator<string> {
  yield '### What happened\n\n';
  let isEmpty = true;
  for await (const { row, fold } of settlingRows(report)) {
    isEmpty = false;
    if (fold !== null) onLeftOut?.(foldKind(fold), row.events.length);
    else for (const { media } of mediaIn(row)) onLeftOut?.(fileKind(media), 1);
    if (fold === null || fold.position === row.position)
      yield `${rowMarkdown(fold ?? row, envelope.role)}\n\n`;
  }
  if (isEmpty) yield '(no events)\n\n';
}

function* lenses(session: SessionFacts, index: LogIndex): Generator<string> {
  const flow = messageFlow(index);
  if (flow.steps.length > 0) {
    const { text, left } = flowMermaid(flow);
    yield `### How messages flowed\n\n\`\`\`mermaid\n${text}\n\`\`\`\n\n`;
    if (left > 0)
      yield `The diagram leaves out the last ${left} of ${flow.steps.length} sayings, which are below.\n\n`;
  }
  const dialog = dialogOf(index);
  if (dialog.length > 0) yield '### Who said what\n\n';
  for (const row of dialog) yield `${dialogItem(index, row)}\n\n`;
  for (const { agentId, label } of index.agents.values()) {
    const rows = perspectiveOf(index, agentId);
    if (rows.length === 0) continue;
    yield `### What ${inlineMarkdown(label || session.envelope.role)} saw\n\n`;
    for (const row of rows) yield `${perspectiveItem(index, row)}\n\n`;
  }
}

function dialogItem(index: LogIndex, row: DialogRow): string {
  const words = dialogWords(index, row);
  const paragraphs: string[] = [];
  let start = `**${inlineMarkdown(spanText(words, 'agent'))}**:`;
  for (const [at, block] of words.blocks.entries()) {
    if (block.kind === 'text') paragraphs.push(besideOrBelow(start, block.text));
    if (block.kind !== 'note') continue;
    const note = inlineMarkdown(block.spans.map(({ text }) => text).join(' '));
    if (words.blocks[at + 1]?.kind === 'text') start = `${note}:`;
    else paragraphs.push(note);
  }
  return paragraphs.join('\n\n');
}

function perspectiveItem(index: LogIndex, row: PerspectiveRow): string {
  const words = perspectiveWords(index, row);
  const about = inlineMarkdown(spanText(words, 'head'));
  return besideOrBelow(`**${spanText(words, 'word')}**${about === '' ? '' : ` ${about}`}:`, row.text);
}

/** A row as Markdown paragraphs. `role` names the dispatched agent. Text of agents is shown word for word and is never markup. */
function rowMarkdown(row: Row, role: string): string {
  const words = rowWords(row, { self: role });
  const word = spanText(words, 'word');
  const line = [
    spanText(words, 'agent'),
    words.isFailed ? `✗ ${word}` : word,
    spanText(words, 'head'),
    spanText(words, 'mark'),
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
    case 'media':
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

/**
 * Escapes foreign text within a line, so that Markdown shows it unchanged: nothing in it is markup, HTML or a link,
 * including in renderers that link bare addresses. Characters without a meaning at their place are not escaped, so that
 * the source stays readable.
 */
export function inlineMarkdown(text: string): string {
  return neutraliseControlsInLine(text).replace(
    meaningful,
    (mark) => ({ '<': '&lt;', '&': '&amp;' })[mark] ?? `\\${mark}`,
  );
}

const meaningful = new RegExp(
  [
    /[\\`*~|#<]/,
    /&(?=[#\p{L}])/u,
    /(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/u,
    /\](?=[([])/,
    /\$(?!\d)/,
    // Addresses.
    /(?<=\S)@(?=\S)|:(?=\/\/)|(?<=[\p{L}\p{N}])\.(?=\p{L})/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** Foreign text as a block of code: word for word, on separate lines. */
export function blockMarkdown(text: string, language: 'text' | 'json' | 'diff' = 'text'): string {
  const lines = neutraliseControls(text);
  let longest = 2;
  for (const [run] of lines.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${lines}\n${fence}`;
}

/** Puts a text after the start of a line: beside it if it fits, otherwise below it. */
function besideOrBelow(start: string, text: string): string {
  if (text === '') return start;
  return text.includes('\n') || text.length > 400
    ? `${start}\n\n${blockMarkdown(text)}`
    : `${start} ${inlineMarkdown(text)}`;
}
