import type { SessionTime, Span } from '../../answers.ts';

/** The most rows of overlapping calls of an agent, and of all. */
const mostRows = 8;
const mostLanes = 64;

/** Milliseconds. A longer time in which nothing ran is a gap. */
const leastGap = 60_000;

/** Spans of one row: none overlaps another, so their ends are in order, too. */
export interface Lane {
  readonly agent: string;
  readonly kind: 'model' | 'call';
  readonly spans: readonly Span[];
}

export function endOf({ start, durationMs }: Span): number {
  return start + (durationMs ?? 0);
}

/** The model calls of each agent on one row, and its calls on as many as overlap. `left`: how many spans have no row. */
export function lanesOf({ agents, spans }: SessionTime): { readonly lanes: Lane[]; readonly left: number } {
  const lanes: Lane[] = [];
  let left = 0;
  const byAgent = Map.groupBy(spans, ({ agentId }) => agentId);
  for (const { id, name } of agents) {
    const own = byAgent.get(id) ?? [];
    for (const kind of ['model', 'call'] as const) {
      const rows: { spans: Span[]; end: number }[] = [];
      for (const span of own) {
        if (span.kind !== kind) continue;
        const free = rows.find(({ end }) => end <= span.start);
        const row = free ?? (rows.length < mostRows ? { spans: [], end: 0 } : null);
        if (row === null) {
          left += 1;
          continue;
        }
        if (free === undefined) rows.push(row);
        row.spans.push(span);
        row.end = endOf(span);
      }
      lanes.push(...rows.map((row) => ({ agent: name, kind, spans: row.spans })));
    }
  }
  const cut = lanes.slice(mostLanes).reduce((sum, lane) => sum + lane.spans.length, 0);
  return { lanes: lanes.slice(0, mostLanes), left: left + cut };
}

interface Piece {
  readonly start: number;
  readonly end: number;
  /** Where it begins in the time that is shown. */
  readonly at: number;
}

export interface Gap {
  /** Where it is in the time that is shown. */
  readonly at: number;
  readonly width: number;
  readonly durationMs: number;
}

/** The time of a session, all of it or with its gaps shortened. */
export class ShownTime {
  readonly total: number;
  readonly gaps: readonly Gap[];
  /** Milliseconds of all gaps. */
  readonly idleMs: number;
  readonly #pieces: readonly Piece[];

  constructor(spans: readonly Span[], isShortened: boolean) {
    const busy: { start: number; end: number }[] = [];
    for (const span of spans) {
      const last = busy.at(-1);
      const end = endOf(span);
      if (last !== undefined && span.start <= last.end + leastGap) last.end = Math.max(last.end, end);
      else busy.push({ start: span.start, end });
    }
    const busyMs = busy.reduce((sum, { start, end }) => sum + end - start, 0);
    const most = Math.max(leastGap / 4, busyMs / 50);
    const pieces: Piece[] = [];
    const gaps: Gap[] = [];
    let at = 0;
    let idleMs = 0;
    for (const [index, { start, end }] of busy.entries()) {
      const before = busy[index - 1];
      if (before !== undefined) {
        const durationMs = start - before.end;
        const width = isShortened ? Math.min(durationMs, most) : durationMs;
        gaps.push({ at, width, durationMs });
        idleMs += durationMs;
        at += width;
      }
      pieces.push({ start, end, at });
      at += end - start;
    }
    this.#pieces = pieces;
    this.gaps = gaps;
    this.idleMs = idleMs;
    this.total = Math.max(at, 1);
  }

  /** Where a time is in the time that is shown. Within a gap: at its part of it. */
  of(time: number): number {
    const index = this.#lastBefore(({ start }) => start <= time);
    const piece = this.#pieces[index];
    if (piece === undefined) return 0;
    const gap = this.gaps[index];
    if (time <= piece.end || gap === undefined) return piece.at + Math.min(time, piece.end) - piece.start;
    return gap.at + ((time - piece.end) / gap.durationMs) * gap.width;
  }

  /** The time that is shown at a place. */
  at(place: number): number {
    const index = this.#lastBefore(({ at }) => at <= place);
    const piece = this.#pieces[index];
    if (piece === undefined) return 0;
    return piece.start + Math.min(place - piece.at, piece.end - piece.start);
  }

  #lastBefore(isBefore: (piece: Piece) => boolean): number {
    let [low, high] = [0, this.#pieces.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const piece = this.#pieces[middle];
      if (piece !== undefined && isBefore(piece)) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** The first span of a row that ends at a time or later. */
export function firstFrom(spans: readonly Span[], time: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const span = spans[middle];
    if (span !== undefined && endOf(span) >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}
