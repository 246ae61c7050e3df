import { neutraliseControlsInLine } from '@hansard/events/plain';
import { formatTime } from '@hansard/facts';
import { columnsOf, fitColumns } from '../text/columns.ts';
import type { Words } from '../words/words.ts';
import { kindColumns } from './describe-event.ts';
import { wordsLine } from './row-line.ts';

const shortestHead = 12;

export interface RenderLineOptions {
  /** The largest width of the line in columns; absent: unlimited. */
  readonly width?: number | undefined;
  /** The role of the dispatch, for lines of several dispatches. */
  readonly role?: string | undefined;
}

/** A part of a line, for a user interface with colours. The joined parts are the line. */
export interface LineSegment {
  readonly part: 'time' | 'role' | 'agent' | 'word' | 'head' | 'status' | 'text';
  readonly text: string;
}

/** Words on one line. A line that does not fit the width ends in `…`. `paint` adds colours to its parts; absent: none. */
export function renderLine(
  words: Words,
  { paint = (_, text) => text, ...options }: RenderLineOptions & { readonly paint?: Paint } = {},
): string {
  const segments = lineSegments(words, options);
  // Spaces at the end of a coloured text are not at the end of the line.
  const shown = segments.map(({ part, text }, at) => {
    const ends = segments.slice(at + 1).every((later) => later.text.trim() === '');
    return { part, text: ends ? text.trimEnd() : text };
  });
  return shown
    .map(({ part, text }) => {
      const ink = inkOf(part, words);
      return ink === null || text === '' ? text : paint(ink, text);
    })
    .join('');
}

type Paint = (ink: Ink, text: string) => string;

const inks: Readonly<Record<LineSegment['part'], Ink | null>> = {
  time: 'dim',
  role: 'strong',
  agent: 'agent',
  word: 'word',
  head: 'strong',
  status: 'dim',
  text: null,
};

function inkOf(part: LineSegment['part'], { tone, isFailed }: Words): Ink | null {
  if (part === 'status' && isFailed) return 'bad';
  const isMarked = tone === 'dim' || tone === 'bad' || tone === 'notice';
  return part === 'word' && isMarked ? tone : inks[part];
}

/** The line in parts, including spaces, fitted to the width. */
export function lineSegments(words: Words, { width, role = '' }: RenderLineOptions = {}): LineSegment[] {
  const { agent, word, head, status, text, outcome, notes } = wordsLine(words);
  const parts: readonly LineSegment[] = [
    { part: 'time', text: formatTime(words.timestamp) },
    { part: 'role', text: neutraliseControlsInLine(role) },
    { part: 'agent', text: agent === '' ? '' : `(${agent})` },
    { part: 'word', text: word.padEnd(kindColumns) },
    { part: 'head', text: head },
    { part: 'status', text: status },
    { part: 'text', text: text },
    { part: 'text', text: outcome === '' ? '' : `→ ${outcome}` },
    { part: 'text', text: notes },
  ];
  const segments = parts
    .filter(({ text }) => text !== '')
    .map(({ part, text }, index) => ({ part, text: `${index === 0 ? '' : '  '}${text}` }));
  return width === undefined ? segments : fitSegments(fitHead(segments, width), width);
}

/** Shortens a long head so that the status, and text of up to a quarter of the line, stay visible. */
function fitHead(segments: readonly LineSegment[], width: number): LineSegment[] {
  const taken = segments.reduce((columns, { part, text }) => {
    if (part === 'head') return columns;
    return columns + (part === 'text' ? Math.min(text.length, Math.floor(width / 4)) : columnsOf(text));
  }, 0);
  const room = Math.max(shortestHead, width - taken);
  return segments.map(({ part, text }) => ({ part, text: part === 'head' ? fitColumns(text, room) : text }));
}

function fitSegments(segments: readonly LineSegment[], width: number): LineSegment[] {
  const whole = segments.map(({ text }) => text).join('');
  const fitted = fitColumns(whole, width);
  const fits: LineSegment[] = [];
  let start = 0;
  for (const { part, text } of segments) {
    // The fitted line is a beginning of the whole line, possibly followed by `…`, so offsets in it are the same.
    const end = start + text.length;
    const last = end >= fitted.length;
    fits.push({ part, text: last ? fitted.slice(start) : text });
    if (last) break;
    start = end;
  }
  return fits;
}

/** What a piece of a line means, for a user interface with colours. */
export type Ink = 'position' | 'agent' | 'word' | 'strong' | 'dim' | 'bad' | 'notice' | 'added' | 'removed';
