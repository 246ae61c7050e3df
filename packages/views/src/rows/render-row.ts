import { neutraliseControls, neutraliseControlsInLine } from '@hansard/events/plain';
import { formatCost, formatCount, formatDuration, formatTime, formatTokens } from '@hansard/facts';
import { columnsOf } from '../text/columns.ts';
import { wrapColumns } from '../text/wrap-columns.ts';
import type { Ink } from './ink.ts';
import { type PartLine, partLines } from './part-lines.ts';
import type { Row, RowDecision, RowHearing } from './row.ts';

export interface RenderRowOptions {
  /** The largest width of a line in columns; absent: lines are not wrapped. */
  readonly width?: number | undefined;
  /** Whether texts of any length and the records in a run of noise are shown in full. */
  readonly full?: boolean;
  /** How to see what is cut, such as `--full shows all`. */
  readonly hint?: string;
  /** Adds colours to a harmless text. Absent: none. */
  readonly paint?: (ink: Ink, text: string) => string;
}

const shownInput = 40;
const shownOutcome = 20;
const timeColumns = 8;
const positionColumns = 4;
const deepest = 4;
/** On a narrower terminal, the lines below a first line are indented less. */
const narrow = 70;

/** A row as text: its position, time, agent and head, with its content indented below. No control character of it is printed. */
export function renderRow(row: Row, options: RenderRowOptions = {}): string {
  const { width, paint = (_, text) => text } = options;
  const head = headOf(row, paint);
  const depth = ' '.repeat(2 * Math.min(row.agent.depth, deepest));
  const margin =
    (width ?? narrow) < narrow ? '    ' : ' '.repeat(positionColumns + 2 + timeColumns + 2) + depth;
  const lines = linesOf(row, options);
  const start = `${head.plain}  `;
  const [only] = lines;
  const fitsBeside =
    lines.length === 1 &&
    only !== undefined &&
    only.mark === '' &&
    (width === undefined || columnsOf(start + only.text) <= width);
  if (fitsBeside) return `${head.painted}  ${inked(only, paint)}`;
  const below = lines.flatMap((line) => {
    const hang = ' '.repeat(columnsOf(line.mark));
    const room =
      width === undefined ? Number.POSITIVE_INFINITY : Math.max(16, width - margin.length - hang.length);
    // A tab has no width of its own.
    const text = width === undefined ? line.text : line.text.replaceAll('\t', '    ');
    return wrapColumns(text, room).map((piece, at) => {
      // Before the colours: spaces at the end of a coloured text are not at the end of the line.
      const shown = ((at === 0 ? line.mark : hang) + piece).trimEnd();
      return `${margin}${inked({ ...line, text: shown }, paint)}`.trimEnd();
    });
  });
  return [...wrapHead(head, margin, width), ...below].join('\n');
}

type Paint = NonNullable<RenderRowOptions['paint']>;

interface Head {
  readonly plain: string;
  readonly painted: string;
}

function headOf(row: Row, paint: Paint): Head {
  const { position, timestamp, agent, word, head, status, durationMs, isFailed, model, from } = row;
  const speaker = from === undefined ? '' : ['from', from.label, from.name].filter(Boolean).join(' ');
  const facts = [
    status === undefined || status === 'completed' ? '' : `${isFailed ? '✗ ' : ''}${status}`,
    durationMs === undefined ? '' : formatDuration(durationMs),
  ];
  const isMarked = isFailed && status === undefined;
  const used =
    model === undefined
      ? ''
      : [
          `${formatTokens(model.usage.outputTokens)} out`,
          model.costUsd === undefined ? '' : formatCost(model.costUsd),
        ]
          .filter(Boolean)
          .join(' ');
  const pieces: readonly (readonly [Ink, string])[] = [
    ['position', String(position).padStart(positionColumns)],
    ['dim', formatTime(timestamp).padEnd(timeColumns) + '  '.repeat(Math.min(agent.depth, deepest))],
    ['agent', agent.name],
    [isFailed ? 'bad' : 'word', isMarked ? `✗ ${word}` : word],
    ['strong', speaker === '' ? head : speaker],
    [isFailed ? 'bad' : 'dim', facts.filter(Boolean).join(' ')],
    ['dim', used],
  ];
  const shown = pieces.flatMap(([ink, text]): [Ink, string][] =>
    text === '' ? [] : [[ink, neutraliseControlsInLine(text)]],
  );
  return {
    plain: shown.map(([, text]) => text).join('  '),
    painted: shown.map(([ink, text]) => paint(ink, text)).join('  '),
  };
}

/** A head that does not fit is wrapped without colours. */
function wrapHead({ plain, painted }: Head, margin: string, width: number | undefined): string[] {
  if (width === undefined || columnsOf(plain) <= width) return [painted];
  const [first = '', ...rest] = wrapColumns(plain, width);
  const room = Math.max(16, width - margin.length);
  return [first, ...rest.flatMap((line) => wrapColumns(line, room)).map((line) => `${margin}${line}`)];
}

function linesOf(row: Row, { full = false, hint = '' }: RenderRowOptions): PartLine[] {
  const { content, heard = [], missing = [], notKnown = [], decisions = [], folded = [] } = row;
  const cut = (lines: readonly PartLine[], most: number) => {
    if (full || lines.length <= most) return lines;
    const rest = lines.length - most;
    const more = `… ${rest} more ${rest === 1 ? 'line' : 'lines'}${hint === '' ? '' : `; ${hint}`}`;
    const note: PartLine = { mark: '', text: more, ink: 'dim' };
    return [...lines.slice(0, most), note];
  };
  const isText = row.kind === 'said' || row.kind === 'message' || row.kind === 'aside';
  const ink: Ink | undefined = row.kind === 'thought' || (row.tone === 'dim' && !isText) ? 'dim' : undefined;
  const own = content
    .flatMap((part) => partLines(part))
    .map((line) => (line.ink === undefined && ink ? { ...line, ink } : line));
  return [
    ...cut(own, isText ? Number.POSITIVE_INFINITY : shownInput),
    ...decisions.map(decisionLine),
    ...cut(outcomeLines(row), shownOutcome),
    ...(heard.length === 0 || (row.kind === 'message' && heard.length === 1)
      ? []
      : [heardLine(heard, missing.length, notKnown.length)]),
    ...heard.flatMap(alteredLines),
    ...(folded.length === 0 ? [] : foldedLines(row, full)),
  ];
}

function outcomeLines({ call, isFailed }: Row): PartLine[] {
  const lines = (call?.outcome ?? []).flatMap((part) => partLines(part));
  return lines.map((line, at) => ({
    ...line,
    mark: at === 0 ? `→ ${line.mark}` : `  ${line.mark}`,
    ink: line.ink ?? (isFailed ? 'bad' : undefined),
  }));
}

function decisionLine({ hook, on, decision, reason }: RowDecision): PartLine {
  const words = { allow: 'allowed', deny: 'denied', alter: 'altered' } as const;
  const text = `hook ${hook} ${words[decision]} the ${on.replaceAll('_', ' ')}${reason === '' ? '' : `: ${reason}`}`;
  return { mark: '! ', text: neutraliseControlsInLine(text), ink: decision === 'deny' ? 'bad' : 'notice' };
}

function heardLine(heard: readonly RowHearing[], missing: number, notKnown: number): PartLine {
  const names = heard.map(({ agent, how }) => {
    const name = agent.name || 'dispatched agent';
    return how === 'same' ? name : `${name} (${how})`;
  });
  const unreached = missing === 0 ? '' : `; ${formatCount(missing, 'agent')} did not receive it`;
  const unknown = notKnown === 0 ? '' : `; not known of ${formatCount(notKnown, 'agent')}`;
  const others = unreached + unknown;
  return { mark: '⇢ ', text: neutraliseControlsInLine(`heard by ${names.join(', ')}${others}`), ink: 'dim' };
}

function alteredLines({ agent, how, text }: RowHearing): PartLine[] {
  if (how !== 'altered' || text === undefined) return [];
  const [first = '', ...rest] = neutraliseControls(text).split('\n');
  const name = neutraliseControlsInLine(agent.name || 'dispatched agent');
  return [
    { mark: '  ', text: `${name} received: ${first}`, ink: 'notice' },
    ...rest.map((line) => ({ mark: '  ', text: line, ink: 'notice' }) as const),
  ];
}

function foldedLines({ kind, folded = [] }: Row, full: boolean): PartLine[] {
  const counts = Object.entries(Object.groupBy(folded, ({ word }) => word)).map(
    ([word, some = []]) => `${some.length} ${word}`,
  );
  const what = kind === 'noise' ? 'harness' : 'engine';
  const summary = `${full ? '▾' : '▸'} ${formatCount(folded.length, `${what} record`)}: ${counts.join(', ')}`;
  const lines = full ? folded.map(({ position, word, text }) => `${position}  ${word}  ${text}`) : [];
  return [summary, ...lines].map((text, at) => ({
    mark: at === 0 ? '' : '  ',
    text: neutraliseControlsInLine(text),
    ink: 'dim',
  }));
}

function inked({ text, ink }: PartLine, paint: Paint): string {
  return ink === undefined || text === '' ? text : paint(ink, text);
}
