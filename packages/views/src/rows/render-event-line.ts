import { columnsOf, fitColumns } from '../text/columns.ts';
import { formatDuration } from '../text/format.ts';
import { neutraliseControlsInLine } from '../text/neutralise-controls.ts';
import { kindColumns } from './describe-event.ts';
import type { EventLine } from './event-line.ts';

const shortestTarget = 12;

export interface EventLineOptions {
  /** The most columns that the line may take; absent: as many as it needs. */
  readonly width?: number | undefined;
  /** Whose line it is, where the lines of several dispatches are mixed. */
  readonly role?: string | undefined;
}

/** A piece of a line, for a surface that gives each part its colour. Joined, the pieces are the line. */
export interface LineSegment {
  readonly part: 'time' | 'role' | 'agent' | 'kind' | 'target' | 'status' | 'text';
  readonly text: string;
}

/** A line without colours. A text that does not fit the width ends in `…`. */
export function renderEventLine(line: EventLine, options: EventLineOptions = {}): string {
  return eventLineSegments(line, options)
    .map(({ text }) => text)
    .join('')
    .trimEnd();
}

/** The line in pieces, spaces included, fitted to the width. */
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

/** Shortens a long target so that the reader sees how it came out, and a quarter of the line of what was said. */
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
    // What was fitted is a beginning of the whole, then perhaps `…`, so the pieces lie where they lay.
    const end = start + text.length;
    const last = end >= fitted.length;
    fits.push({ part, text: last ? fitted.slice(start) : text });
    if (last) break;
    start = end;
  }
  return fits;
}
