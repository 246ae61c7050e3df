import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { contentLabel } from '@hansard/events/plain';
import { formatCost, formatCount, formatDuration, formatTokens, shortId } from '@hansard/facts';
import type { AgentNames } from '../agents/agent-names.ts';
import { decisionInWords, decisionTones, describeEvent } from '../rows/describe-event.ts';
import { isStoredRow } from '../rows/noise.ts';
import type { DiffLine, Row, RowAgent, RowDecision, RowFold, RowPart, RowSpeaker } from '../rows/row.ts';
import { fitColumns } from '../text/columns.ts';
import { compactJson } from '../text/compact-json.ts';
import { dispatchedAgent, hearingClauses, hearingSpans, receivedLabel } from './hearing-words.ts';
import type { NoteBlock, RowWords, SpanLabel, WordBlock, WordSource, WordSpan, Words } from './words.ts';

export interface RowWordsOptions {
  /** What the dispatched agent is called, such as its role, if it has no name. Absent: it is named only where others are. */
  readonly self?: string | undefined;
}

/** A row in words. Every surface draws these; `plainWords` gives them as text. */
export function rowWords(row: Row, { self }: RowWordsOptions = {}): RowWords {
  const { position, timestamp, kind, agent, tone, isFailed, word, head, from, status, durationMs, model } =
    row;
  const nameOf = ({ name, agentId }: RowAgent) => name || agentId || (self ?? dispatchedAgent);
  return {
    position,
    timestamp,
    kind,
    agentId: agent.agentId,
    depth: agent.depth,
    tone,
    isFailed,
    spans: spansOf([
      ['agent', agent.name || agent.agentId || (self ?? '')],
      ['word', word],
      ['head', from === undefined ? head : fromInWords(from, self)],
      ...(row.branch === undefined ? [] : [['mark', branchMarks[row.branch]] as const]),
      ...(row.isRetracted === true ? [['mark', 'retracted'] as const] : []),
      ['status', status === undefined || status === 'completed' ? '' : status],
      ['duration', durationMs === undefined ? '' : formatDuration(durationMs)],
      ['figure', model === undefined ? '' : `${formatTokens(model.usage.outputTokens)} out`],
      ['figure', model?.costUsd === undefined ? '' : formatCost(model.costUsd)],
    ]),
    blocks: [
      ...row.content.map((part) => blockOf(part, 'content')),
      ...decisionBlocks(row, nameOf),
      ...(row.call?.outcome ?? []).map((part) => blockOf(part, 'outcome')),
      ...hearingBlocks(row, nameOf),
      ...recordBlocks(row),
      ...foldBlocks(row),
    ],
  };
}

function fromInWords({ label, name }: RowSpeaker, self = dispatchedAgent): string {
  return label === 'agent' && name === '' ? `from ${self}` : ['from', label, name].filter(Boolean).join(' ');
}

const branchMarks = { abandoned: 'abandoned', parallel: 'parallel branch' } as const;

/** The rows that a row stands for. */
function foldBlocks({ fold }: Row): WordBlock[] {
  return fold === undefined
    ? []
    : [{ kind: 'records', source: 'content', summary: foldInWords(fold), records: [] }];
}

/** What a folded row stands for. */
export function foldInWords(fold: RowFold): string {
  if (fold.of === 'copies') {
    const events =
      fold.events === 1
        ? 'first event is that'
        : `first ${fold.events.toLocaleString('en')} events are those`;
    return `the ${events} of ${shortId(fold.origin)}`;
  }
  const counts = `${formatCount(fold.prompts, 'prompt')}, ${formatCount(fold.events, 'event')}`;
  const state = fold.state === 'abandoned' ? 'abandoned by a rewind' : 'a parallel branch (a second program)';
  return `${counts}, ${state}; it ends with ${fold.end}`;
}

/** A call of a run that a surface folds. */
export interface FoldedCall {
  readonly tool: string;
  /** Milliseconds since 1970; null: not known, as is a null duration. */
  readonly time: number | null;
  readonly durationMs: number | null;
  readonly isFailed: boolean;
}

/** The most tools that are named. */
const mostTools = 4;

/** What a run of calls did: `7 calls: 3 Read, 2 Bash, 2 Edit · 41.0s · 1 failed`. Time that calls share counts once. */
export function callsInWords(calls: readonly FoldedCall[]): string {
  const counts = [...Map.groupBy(calls, ({ tool }) => tool)]
    .map(([tool, own]) => ({ tool, count: own.length }))
    .sort((one, other) => other.count - one.count);
  const shown = counts.length > mostTools + 1 ? mostTools : counts.length;
  const others = counts.slice(shown).reduce((sum, { count }) => sum + count, 0);
  const tools = [
    ...counts.slice(0, shown).map(({ tool, count }) => (calls.length === 1 ? tool : `${count} ${tool}`)),
    ...(others === 0 ? [] : [`${others} of other tools`]),
  ];
  const busyMs = timeOfCalls(calls);
  const failed = calls.filter(({ isFailed }) => isFailed).length;
  return [
    `${formatCount(calls.length, 'call')}: ${tools.join(', ')}`,
    ...(busyMs === 0 ? [] : [formatDuration(busyMs)]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ].join(' · ');
}

/** Milliseconds in which at least one of the calls ran, as far as that is recorded. */
function timeOfCalls(calls: readonly FoldedCall[]): number {
  const spans = calls
    .flatMap(({ time, durationMs }) =>
      time === null || durationMs === null ? [] : [[time, time + durationMs] as const],
    )
    .sort(([one], [other]) => one - other);
  let sum = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const [start, end] of spans) {
    sum += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return sum;
}

/** The rewind that the end of an imported log announces, and that no event of the log is yet. Null: there is none. */
export function openRewindInWords({ source }: Pick<DispatchEnvelope, 'source'>): string | null {
  const { openRewind } = source ?? {};
  if (openRewind === undefined) return null;
  return `a rewind to ${openRewind.keptThrough ?? 'the beginning'} was requested; nothing has followed it yet`;
}

/**
 * One event of any type in words, by itself, for a line. `names` has the names that earlier events of its dispatch gave to agents, and learns from this
 * event; absent: agents are shown by their ids.
 */
export function eventWords(event: CapturedEvent, names?: AgentNames): Words {
  names?.learn(event);
  const nameAgent = (agentId = '') => names?.of(agentId) ?? agentId;
  const { kind, target, text, status, durationMs, tone } = describeEvent(event, nameAgent);
  return {
    timestamp: event.timestamp,
    tone,
    isFailed: tone === 'bad',
    spans: spansOf([
      ['agent', nameAgent(event.agentId)],
      ['word', kind],
      ['head', target],
      ['status', status ?? ''],
      ['duration', durationMs === undefined ? '' : formatDuration(durationMs)],
    ]),
    blocks: text === '' ? [] : [{ kind: 'text', source: 'content', text, isProse: false }],
  };
}

function spansOf(spans: readonly (readonly [SpanLabel, string])[]): WordSpan[] {
  return spans.flatMap(([label, text]) => (text === '' ? [] : [{ label, text }]));
}

function blockOf(part: RowPart, source: WordSource): WordBlock {
  switch (part.kind) {
    case 'text': {
      const { label, text, style } = part;
      return style === 'code'
        ? { kind: 'code', source, label, text }
        : { kind: 'text', source, label, text, isProse: style === 'markdown' };
    }
    case 'json': {
      const { label, value } = part;
      const text = JSON.stringify(value, null, 2);
      return { kind: 'code', source, label, text, inLine: compactJson(value) };
    }
    case 'fields':
      return { kind: 'table', source, rows: part.fields };
    case 'diff': {
      const { label, lines } = part;
      return { kind: 'diff', source, label, lines, inLine: diffInLine(lines) };
    }
    case 'media': {
      const { media, isRemoved } = part;
      const text = contentLabel({ ...media, isRemoved });
      return { kind: 'media', source, media, ...(isRemoved && { isRemoved }), text };
    }
  }
}

function diffInLine(lines: readonly DiffLine[]): string {
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length;
  const changed = lines.find(({ kind }) => kind === 'added') ?? lines.find(({ kind }) => kind === 'removed');
  const shown = changed?.text.trim() ?? '';
  const sign = changed?.kind === 'added' ? '+' : '-';
  return `+${count('added')} -${count('removed')}${shown === '' ? '' : `  ${sign} ${shown}`}`;
}

type NameOf = (agent: RowAgent) => string;

/** What hooks did: each decision, why, and what came of it. What the row shows elsewhere is not repeated. */
function decisionBlocks(row: Row, nameOf: NameOf): WordBlock[] {
  const shown = new Set([
    ...textsOf([...row.content, ...(row.call?.outcome ?? [])]),
    ...(row.heard ?? []).flatMap(({ text }) => text ?? []),
  ]);
  return (row.decisions ?? []).flatMap((decision) => {
    // The row of a decision by itself has it in its head and its content.
    const isOwn = decision.position === row.position;
    const { given, verdict, content, instead } = decision;
    const isShown = (part: RowPart) => isOwn || textsOf([part]).some((text) => shown.has(text));
    return [
      ...(isOwn ? [] : [decisionNote(decision, nameOf)]),
      ...(given === undefined || shown.has(given) ? [] : [hookText('given', given)]),
      ...(verdict === undefined ? [] : [hookText(`verdict of ${nameOf(verdict.agent)}`, verdict.text)]),
      ...content.flatMap((part) => (isShown(part) ? [] : [blockOf(part, 'hook')])),
      ...(instead === undefined ? [] : [hookText(`${nameOf(instead.agent)} received instead`, instead.text)]),
    ];
  });
}

function decisionNote(decision: RowDecision, nameOf: NameOf): NoteBlock {
  const { reason, agent, on, position } = decision;
  const whom = on === 'delivery' ? ` to ${nameOf(agent)}` : '';
  const text = `hook ${decisionInWords(decision)}${whom}${reason === '' ? '' : `: ${reason}`}`;
  const tone = decisionTones[decision.decision];
  return { kind: 'note', source: 'hook', spans: [{ label: 'text', text, position }], tone };
}

function hookText(label: string, text: string): WordBlock {
  return { kind: 'text', source: 'hook', label, text, isProse: true };
}

function textsOf(parts: readonly RowPart[]): string[] {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
}

function hearingBlocks({ kind, heard = [], missing = [], notKnown = [] }: Row, nameOf: NameOf): WordBlock[] {
  // Of a message that one agent received, its transcript says so.
  if (heard.length === 0 || (kind === 'message' && heard.length === 1)) return [];
  const clauses = hearingClauses({
    heard: heard.map((one) => ({ ...one, name: nameOf(one.agent) })),
    missing: missing.map(nameOf),
    notKnown: notKnown.map(nameOf),
  });
  return [
    { kind: 'note', source: 'hearing', spans: hearingSpans(clauses), tone: 'dim' },
    ...heard.flatMap(({ agent, how, text, differences: parts = [] }): WordBlock[] =>
      how === 'altered' && text !== undefined
        ? [{ kind: 'changed', source: 'hearing', label: receivedLabel(nameOf(agent)), text, parts }]
        : [],
    ),
  ];
}

function recordBlocks(row: Row): WordBlock[] {
  const { kind, folded = [] } = row;
  if (folded.length === 0) return [];
  const what = kind === 'noise' ? 'harness record' : 'engine record';
  const records = folded.map(({ position, timestamp, word, text }) => ({
    position,
    timestamp,
    text: text === '' ? word : `${word} ${text}`,
  }));
  const summary = isStoredRow(row)
    ? storedInWords(folded)
    : `${formatCount(folded.length, what)}: ${kindsInWords(folded)}`;
  return [{ kind: 'records', source: kind === 'noise' ? 'content' : 'records', summary, records }];
}

const mostKinds = 4;

/** The kinds of records, in the order of the log. */
function kindsInWords(folded: NonNullable<Row['folded']>): string {
  const counts = [...Map.groupBy(folded, ({ word }) => word)];
  const shown = counts.length > mostKinds + 1 ? mostKinds : counts.length;
  const words = counts
    .slice(0, shown)
    .map(([word, some]) => (counts.length > 1 && some.length > 1 ? `${word} ×${some.length}` : word));
  const others = counts.slice(shown).reduce((sum, [, some]) => sum + some.length, 0);
  return [...words, ...(others === 0 ? [] : [`${others} of other kinds`])].join(', ');
}

/** The columns for the tools and parameters in a summary: its records have them whole. */
const requestColumns = 40;

function storedInWords(folded: NonNullable<Row['folded']>): string {
  const requests = folded.filter(({ type }) => type === 'request:stored');
  const files = folded.length - requests.length;
  const given = requests.map(({ text }) => text).join(', ');
  return [
    ...(files === 0 ? [] : [formatCount(files, 'attached file')]),
    ...(requests.length === 0 ? [] : [`given to the model: ${fitColumns(given, requestColumns)}`]),
  ].join(', ');
}
