import { addRedactions, type DispatchEnvelope, redactionsOf, type TaskSource } from '@hansard/events';
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

/** Characters of a prompt or an answer. A longer text is cut, and counted. */
const longestSaying = 1_500;

/** Files of a diffstat. */
const mostFiles = 100;

/**
 * A task for the description of a pull request, in pieces: for each session its prompts, each with the decisions about calls after it and its
 * last answer, then the files that calls edited, and what was redacted and left out. Text of agents is never markup.
 */
export async function* writePullRequest(
  source: TaskSource,
  { onLeftOut, ...options }: ReportOptions = {},
): AsyncGenerator<string> {
  const leftOut: Record<string, number> = {};
  const redacted: Record<string, number> = {};
  const leave = (kind: string, count: number) => {
    addRedactions(leftOut, { [kind]: count });
    onLeftOut?.(kind, count);
  };
  const counted: TaskSource = {
    ...source,
    readEvents: async function* (dispatchId) {
      for await (const event of source.readEvents(dispatchId)) {
        addRedactions(redacted, redactionsOf(event.data));
        yield event;
      }
    },
  };
  const [only, ...others] = source.envelopes;
  const isOne = only !== undefined && others.length === 0 && (source.task?.name ?? '') === '';
  yield `# ${inlineMarkdown(isOne ? (only.title ?? only.role) : taskTitle(source))}\n\n`;
  const files = new Map<string, { added: number; removed: number }>();
  for await (const report of readDispatchReports(counted, options)) {
    const { role, title } = envelopeOf(report);
    if (!isOne) yield `## ${inlineMarkdown(title ?? role)}\n\n`;
    let answer: string | null = null;
    for await (const { row, fold } of settlingRows(report)) {
      if (fold !== null) {
        leave(foldKind(fold), row.events.length);
        continue;
      }
      countEdits(row, files);
      const isPrompt = row.from?.kind === 'user';
      const text = saidIn(row);
      if (row.kind === 'said' && text !== '') {
        if (answer !== null) leave('answers before the last one', 1);
        answer = `**Answer**\n\n${blockMarkdown(cutSaying(text, leave))}`;
        continue;
      }
      if (!isPrompt) {
        const decided = decisionsIn(row);
        for (const line of decided) yield `**Decision**\n\n${blockMarkdown(cutSaying(line, leave))}\n\n`;
        if (decided.length === 0) leave(`events of the kind ${row.kind}`, row.events.length);
        continue;
      }
      if (answer !== null) yield `${answer}\n\n`;
      answer = null;
      yield `**Prompt**\n\n${blockMarkdown(cutSaying(text, leave))}\n\n`;
    }
    if (answer !== null) yield `${answer}\n\n`;
  }
  yield* diffstat(files);
  yield `---\n\nMade by Hansard. ${sumInWords('Redacted', redacted)} ${sumInWords('Left out', leftOut)}\n`;
}

/** The tools by which an agent asks a person. */
const asking: ReadonlySet<string> = new Set([
  'AskUserQuestion',
  'ExitPlanMode',
  'ask_user',
  'request_user_input',
]);

/** What people and hooks decided in a row: answers to questions, approvals, and calls and messages that were denied or altered. */
function decisionsIn(row: Row): string[] {
  const { head, word, call, decisions = [] } = row;
  const byHooks = decisions.flatMap(({ hook, on, decision, reason }) =>
    decision === 'allow' ? [] : `${hook}: ${decision} ${on} ${head}${reason === '' ? '' : `: ${reason}`}`,
  );
  const text = saidIn(row);
  if (call !== undefined && asking.has(call.tool)) {
    const given = saidIn({ content: call.outcome ?? [] });
    return [
      [`${call.tool} ${call.target}`.trim(), text, `→ ${given}`].filter(Boolean).join('\n'),
      ...byHooks,
    ];
  }
  return word === 'asked' || word === 'answered'
    ? [[head, text].filter(Boolean).join('\n'), ...byHooks]
    : byHooks;
}

function saidIn({ content }: Pick<Row, 'content'>): string {
  return content
    .flatMap((part) => (part.kind === 'text' ? part.text : []))
    .join('\n')
    .trim();
}

function cutSaying(text: string, leave: (kind: string, count: number) => void): string {
  if (text.length <= longestSaying) return text;
  leave('characters of long texts', text.length - longestSaying);
  return `${text.slice(0, longestSaying).toWellFormed()}…`;
}

function countEdits(
  { call, content, isFailed }: Row,
  files: Map<string, { added: number; removed: number }>,
): void {
  if (call === undefined || isFailed) return;
  for (const part of content) {
    if (part.kind !== 'diff') continue;
    const file = files.get(call.target ?? '') ?? { added: 0, removed: 0 };
    for (const { kind } of part.lines) if (kind !== 'same') file[kind] += 1;
    files.set(call.target ?? '', file);
  }
}

/** The sums of the edits, which can be more than the difference at the end. */
function* diffstat(files: ReadonlyMap<string, { readonly added: number; readonly removed: number }>) {
  if (files.size === 0) return;
  yield '## Edited files\n\n| file | lines added by edits | removed |\n|---|--:|--:|\n';
  const rows = [...files].sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [file, { added, removed }] of rows.slice(0, mostFiles))
    yield `| ${inlineMarkdown(file || '(not named)')} | +${added} | -${removed} |\n`;
  if (rows.length > mostFiles) yield `| and ${rows.length - mostFiles} more | | |\n`;
  yield '\n';
}

function sumInWords(what: string, counts: Readonly<Record<string, number>>): string {
  const kinds = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  return `${what}: ${kinds.length === 0 ? 'nothing' : inlineMarkdown(kinds.join(', '))}.`;
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
