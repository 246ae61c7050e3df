import { neutraliseControlsInLine } from '@hansard/events/plain';
import { formatDuration } from '@hansard/facts';
import { columnsOf, fitColumns } from '../text/columns.ts';
import { kindColumns } from './describe-event.ts';
import type { EventLine } from './event-line.ts';
import type { Ink } from './ink.ts';

const shortestTarget = 12;

export interface EventLineOptions {
  /** The largest width of the line in columns; absent: unlimited. */
  readonly width?: number | undefined;
  /** The role of the dispatch, for lines of several dispatches. */
  readonly role?: string | undefined;
}

/** A part of a line, for a user interface with colours. The joined parts are the line. */
export interface LineSegment {
  readonly part: 'time' | 'role' | 'agent' | 'kind' | 'target' | 'status' | 'text';
  readonly text: string;
}

/** The line as text. A line that does not fit the width ends in `…`. `paint` adds colours to its parts; absent: none. */
export function renderEventLine(
  line: EventLine,
  { paint = (_, text) => text, ...options }: EventLineOptions & { readonly paint?: Paint } = {},
): string {
  const segments = eventLineSegments(line, options);
  // Spaces at the end of a coloured text are not at the end of the line.
  const shown = segments.map(({ part, text }, at) => {
    const ends = segments.slice(at + 1).every((later) => later.text.trim() === '');
    return { part, text: ends ? text.trimEnd() : text };
  });
  return shown
    .map(({ part, text }) => {
      const ink = inkOf(part, line);
      return ink === null || text === '' ? text : paint(ink, text);
    })
    .join('');
}

type Paint = (ink: Ink, text: string) => string;

const inks: Readonly<Record<LineSegment['part'], Ink | null>> = {
  time: 'dim',
  role: 'strong',
  agent: 'agent',
  kind: 'word',
  target: 'strong',
  status: 'dim',
  text: null,
};

function inkOf(part: LineSegment['part'], { status, tone }: EventLine): Ink | null {
  if (part === 'status' && status === 'error') return 'bad';
  const isMarked = tone === 'dim' || tone === 'bad' || tone === 'notice';
  return part === 'kind' && isMarked ? tone : inks[part];
}

/** The line in parts, including spaces, fitted to the width. */
export function eventLineSegments(line: EventLine, options: EventLineOptions = {}): LineSegment[] {
  const { width, role = '' } = options;
  const duration = line.durationMs === undefined ? '' : formatDuration(line.durationMs);
  const parts: readonly LineSegment[] = [
    { part: 'time', text: line.time },
    { part: 'role', text: role },
    { part: 'agent', text: line.agent === '' ? '' : `(${line.agent})` },
    { part: 'kind', text: line.kind.padEnd(kindColumns) },
    { part: 'target', text: line.target },
    { part: 'status', text: [line.status ?? '', duration].filter(Boolean).join(' ') },
    { part: 'text', text: line.text },
  ];
  const segments = parts
    .filter(({ text }) => text !== '')
    .map(({ part, text }, index) => ({
      part,
      text: `${index === 0 ? '' : '  '}${neutraliseControlsInLine(text)}`,
    }));
  return width === undefined ? segments : fitSegments(fitTarget(segments, width), width);
}

/** Shortens a long target so that the status, and text of up to a quarter of the line, stay visible. */
function fitTarget(segments: readonly LineSegment[], width: number): LineSegment[] {
  const taken = segments.reduce((columns, { part, text }) => {
    if (part === 'target') return columns;
    return columns + (part === 'text' ? Math.min(text.length, Math.floor(width / 4)) : columnsOf(text));
  }, 0);
  const room = Math.max(shortestTarget, width - taken);
  return segments.map(({ part, text }) => ({
    part,
    text: part === 'target' ? fitColumns(text, room) : text,
  }));
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
