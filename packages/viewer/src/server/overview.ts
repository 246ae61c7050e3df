import { setImmediate } from 'node:timers/promises';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { type Row, RowQuery, rowWords, wordsLine } from '@hansard/views';
import type { Mark, SessionMap, SessionTime, Span, ToolFigures } from '../answers.ts';
import { timeOf } from './lenses/lens-page.ts';
import type { OpenDispatch } from './viewed-store.ts';

/** The most events that are read: the last ones. */
const mostEvents = 50_000;
/** The most marks, spans and model calls of an answer: the last ones. */
const mostMarks = 5_000;
const mostSpans = 20_000;
const mostCalls = 5_000;
/** Code points of a mark. */
const markText = 80;

const edits = /^(?:edit|multiedit|write|notebookedit|apply_patch|create_file|str_replace.*|replace)$/i;

/** Whether a row is a call that changes a file. */
export function isEdit({ call, content }: Row): boolean {
  return call !== undefined && (edits.test(call.tool) || content.some(({ kind }) => kind === 'diff'));
}

interface Overview {
  readonly map: SessionMap;
  readonly time: SessionTime;
}

/** What a session is made of: where its prompts, failures and edits are, and when its calls began and ended. */
export class Overviews {
  readonly #made = new WeakMap<
    OpenDispatch,
    { readonly end: number; readonly overview: Promise<Overview> }
  >();

  /** Made again when the log has grown. */
  async of(open: OpenDispatch): Promise<Overview> {
    const end = await open.log.count();
    const made = this.#made.get(open);
    if (made?.end === end) return made.overview;
    const overview = readOverview(open, end);
    this.#made.set(open, { end, overview });
    overview.catch(() => this.#made.delete(open));
    return overview;
  }
}

async function readOverview({ log, rows }: OpenDispatch, end: number): Promise<Overview> {
  const first = Math.max(0, end - mostEvents);
  const reader = await rows.reader(first, log.envelope.status !== 'running');
  const all = new RowQuery({});
  const seen = new SeenRows();
  for await (const { events } of log.pages({ after: first - 1 })) {
    for (const event of events) {
      reader.add(event);
      for (const row of reader.settled(all)) seen.add(row);
    }
    await setImmediate();
  }
  for (const row of reader.end(all)) seen.add(row);
  return { map: { first, end, ...seen.map }, time: { first, end, ...seen.time } };
}

class SeenRows {
  readonly #marks: Mark[] = [];
  readonly #spans: Span[] = [];
  readonly #calls: SessionTime['calls'][number][] = [];
  readonly #agents = new Map<string, string>();
  readonly #tools = new Map<string, { failed: number; count: number; durations: number[] }>();

  get map(): Pick<SessionMap, 'marks' | 'isCut'> {
    const marks = this.#marks.sort((one, other) => one.position - other.position);
    return { marks: marks.slice(-mostMarks), isCut: marks.length > mostMarks };
  }

  get time(): Omit<SessionTime, 'first' | 'end'> {
    const spans = this.#spans.sort((one, other) => one.start - other.start);
    return {
      agents: [...this.#agents].map(([id, name]) => ({ id, name })),
      spans: spans.slice(-mostSpans),
      calls: this.#calls.slice(-mostCalls),
      tools: [...this.#tools].map(toolFigures).sort((one, other) => other.count - one.count),
      isCut: spans.length > mostSpans || this.#calls.length > mostCalls,
    };
  }

  add(row: Row): void {
    const { position, call, agent, model, durationMs = null, isFailed } = row;
    this.#mark(row);
    const time = timeOf(row);
    if (!this.#agents.has(agent.agentId))
      this.#agents.set(agent.agentId, neutraliseControlsInLine(agent.name));
    const place = { position, agentId: agent.agentId, isFailed };
    if (call !== undefined) {
      const name = neutraliseControlsInLine(call.tool);
      const figures = this.#tools.get(name) ?? { failed: 0, count: 0, durations: [] };
      figures.count += 1;
      if (isFailed) figures.failed += 1;
      if (durationMs !== null) figures.durations.push(durationMs);
      this.#tools.set(name, figures);
      if (time !== null) {
        const text = neutraliseControlsInLine(`${call.tool} ${call.target}`.slice(0, markText));
        this.#spans.push({ ...place, kind: 'call', start: time, durationMs, text });
      }
    } else if (row.from !== undefined && row.from.kind === 'user' && time !== null) {
      this.#spans.push({ ...place, kind: 'prompt', start: time, durationMs: 0, text: textOf(row) });
    } else if (row.word === 'compact' && time !== null) {
      this.#spans.push({ ...place, kind: 'compaction', start: time, durationMs: 0, text: 'compaction' });
    }
    if (model === undefined) return;
    const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = model.usage;
    const { costUsd = null } = model;
    this.#calls.push({
      position,
      time,
      inputTokens: inputTokens + cacheWriteTokens,
      cachedTokens: cacheReadTokens,
      outputTokens,
      costUsd,
    });
    if (time !== null && model.durationMs !== undefined) {
      const start = Math.max(0, time - model.durationMs);
      const text = neutraliseControlsInLine(model.name);
      this.#spans.push({
        ...place,
        kind: 'model',
        start,
        durationMs: model.durationMs,
        text,
        isFailed: false,
      });
    }
  }

  #mark(row: Row): void {
    const kind =
      row.from !== undefined && row.from.kind === 'user'
        ? 'prompt'
        : row.isFailed
          ? 'failure'
          : isEdit(row)
            ? 'edit'
            : row.word === 'compact'
              ? 'compaction'
              : null;
    if (kind !== null) this.#marks.push({ position: row.position, kind, text: textOf(row) });
  }
}

function textOf(row: Row): string {
  const { head, text, word } = wordsLine(rowWords(row), markText);
  return (row.from === undefined ? [head, text] : [text]).find((one) => one !== '') ?? word;
}

function toolFigures([name, { failed, count, durations }]: [
  string,
  { readonly failed: number; readonly count: number; readonly durations: number[] },
]): ToolFigures {
  durations.sort((one, other) => one - other);
  const part = (of: number) =>
    durations[Math.min(durations.length - 1, Math.floor(durations.length * of))] ?? null;
  const totalMs = durations.reduce((sum, one) => sum + one, 0);
  return { name, failed, count, timed: durations.length, p50: part(0.5), p95: part(0.95), totalMs };
}
