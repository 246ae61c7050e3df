import { neutraliseControls, neutraliseControlsInLine } from '@hansard/events/plain';
import { formatTime } from '@hansard/facts';
import { columnsOf, wrapColumns } from '../text/columns.ts';
import { type RowWordsOptions, rowWords } from '../words/row-words.ts';
import { type RowWords, spanText, type WordBlock, type WordSource } from '../words/words.ts';
import { isStoredRow } from './noise.ts';
import type { Ink } from './render-line.ts';
import type { Row } from './row.ts';

export interface RenderRowOptions extends RowWordsOptions {
  /** The largest width of a line in columns; absent: lines are not wrapped. */
  readonly width?: number | undefined;
  /** Whether texts of any length and the records in a run of noise are shown in full. */
  readonly full?: boolean;
  /** How to see what is cut, such as `--full shows all`. */
  readonly hint?: string;
  /** Adds colours to a harmless text. Absent: none. */
  readonly paint?: (ink: Ink, text: string) => string;
}

const most: Readonly<Partial<Record<WordSource, number>>> = { content: 40, outcome: 20 };
const timeColumns = 8;
const positionColumns = 4;
const deepest = 4;
/** On a narrower terminal, the lines below a first line are indented less. */
const narrow = 70;

/** A line of content, harmless. */
interface BlockLine {
  /** What is before the first of its lines when it is wrapped; the others are indented as much. */
  readonly mark: string;
  readonly text: string;
  readonly ink?: Ink | undefined;
}

/** A row as text: its position, time and words, with its blocks indented below. No control character of it is printed. */
export function renderRow(row: Row, options: RenderRowOptions = {}): string {
  const words = rowWords(row, options);
  const { width, paint = (_, text) => text } = options;
  const time = row.kind === 'noise' && isStoredRow(row) ? '' : formatTime(words.timestamp);
  const head = headOf(words, time, paint);
  const depth = ' '.repeat(2 * Math.min(words.depth, deepest));
  const margin =
    (width ?? narrow) < narrow ? '    ' : ' '.repeat(positionColumns + 2 + timeColumns + 2) + depth;
  const lines = linesOf(words, options);
  const [only] = lines;
  const fitsBeside =
    lines.length === 1 &&
    only?.mark === '' &&
    (width === undefined || columnsOf(`${head.plain}  ${only.text}`) <= width);
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

function headOf(words: RowWords, time: string, paint: Paint): Head {
  const { position, depth, isFailed } = words;
  const status = spanText(words, 'status');
  const word = spanText(words, 'word');
  const state = spanText(words, 'status', 'duration');
  const pieces: readonly (readonly [Ink, string])[] = [
    ['position', String(position).padStart(positionColumns)],
    ['dim', time.padEnd(timeColumns) + '  '.repeat(Math.min(depth, deepest))],
    ['agent', spanText(words, 'agent')],
    [isFailed ? 'bad' : 'word', isFailed && status === '' ? `✗ ${word}` : word],
    ['strong', spanText(words, 'head')],
    ['notice', spanText(words, 'mark')],
    [isFailed ? 'bad' : 'dim', isFailed && status !== '' ? `✗ ${state}` : state],
    ['dim', spanText(words, 'figure')],
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

/** The lines of the blocks. Those of one source are cut together. */
function linesOf({ kind, tone, isFailed, blocks }: RowWords, options: RenderRowOptions): BlockLine[] {
  const isText = kind === 'said' || kind === 'message' || kind === 'aside';
  const isDim = kind === 'thought' || (tone === 'dim' && !isText);
  const lines: BlockLine[] = [];
  for (const [source, own] of Map.groupBy(blocks, (block) => block.source)) {
    const ink = source === 'content' && isDim ? 'dim' : source === 'outcome' && isFailed ? 'bad' : undefined;
    const drawn = own
      .flatMap((block) => blockLines(block, options))
      .map((line) => ({ ...line, ink: line.ink ?? ink }));
    const marked = source === 'outcome' ? drawn.map(outcomeLine) : drawn;
    lines.push(...(source === 'content' && isText ? marked : cut(marked, source, options)));
  }
  return lines;
}

function outcomeLine(line: BlockLine, at: number): BlockLine {
  return { ...line, mark: `${at === 0 ? '→' : ' '} ${line.mark}` };
}

function cut(
  lines: readonly BlockLine[],
  source: WordSource,
  { full = false, hint = '' }: RenderRowOptions,
): readonly BlockLine[] {
  const shown = most[source] ?? Number.POSITIVE_INFINITY;
  if (full || lines.length <= shown) return lines;
  const rest = lines.length - shown;
  const more = `… ${rest} more ${rest === 1 ? 'line' : 'lines'}${hint === '' ? '' : `; ${hint}`}`;
  return [...lines.slice(0, shown), { mark: '', text: more, ink: 'dim' }];
}

const marks = { same: '  ', removed: '- ', added: '+ ' } as const;
const inks = { same: undefined, removed: 'removed', added: 'added' } as const;
const toneInks = { plain: undefined, good: undefined, dim: 'dim', bad: 'bad', notice: 'notice' } as const;

function blockLines(block: WordBlock, { full = false }: RenderRowOptions): BlockLine[] {
  const label: BlockLine[] = block.label === undefined ? [] : [inLine(`${block.label}:`, '', 'dim')];
  switch (block.kind) {
    case 'text':
      if (block.source === 'hook') return besideLabel(block);
      return [...label, ...textLines(block.text)];
    case 'code':
      return [...label, ...textLines(block.text)];
    case 'diff':
      return [...label, ...block.lines.map(({ kind, text }) => inLine(text, marks[kind], inks[kind]))];
    case 'table':
      return [...label, inLine(block.rows.map(([name, value]) => `${name} ${value}`).join(', '))];
    case 'media':
      return [...label, inLine(block.text)];
    case 'note': {
      const text = block.spans.map((span) => span.text).join(' ');
      return [inLine(text, block.source === 'hook' ? '! ' : '⇢ ', toneInks[block.tone])];
    }
    case 'changed':
      return besideLabel(block);
    case 'records': {
      const records = full ? block.records.map(({ position, text }) => `${position}  ${text}`) : [];
      return [
        inLine(`${full && records.length > 0 ? '▾' : '▸'} ${block.summary}`, '', 'dim'),
        ...records.map((text) => inLine(text, '  ', 'dim')),
      ];
    }
  }
}

/** What an agent received or decided, after whose it is. */
function besideLabel({
  label = '',
  text,
}: {
  readonly label?: string | undefined;
  readonly text: string;
}): BlockLine[] {
  const [first = '', ...rest] = neutraliseControls(text).split('\n');
  const start = neutraliseControlsInLine(`${label}: `);
  return [start + first, ...rest].map((line) => ({ mark: '  ', text: line, ink: 'notice' }));
}

function inLine(text: string, mark = '', ink?: Ink): BlockLine {
  return { mark, text: neutraliseControlsInLine(text), ink };
}

/** Models often begin or end with empty lines. */
function textLines(text: string): BlockLine[] {
  const trimmed = text.trimEnd().replace(/^(?:[ \t]*\n)+/, '');
  if (trimmed === '') return [];
  return neutraliseControls(trimmed)
    .split('\n')
    .map((line) => ({ mark: '', text: line }));
}

function inked({ text, ink }: BlockLine, paint: Paint): string {
  return ink === undefined || text === '' ? text : paint(ink, text);
}
