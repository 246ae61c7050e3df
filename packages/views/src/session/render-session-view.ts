import { neutraliseControls, neutraliseControlsInLine } from '@hansard/events/plain';
import { formatDuration, formatTime, withOpenCalls } from '@hansard/facts';
import { kindColumns } from '../rows/describe-event.ts';
import { renderEnvelope } from '../task/render-envelope.ts';
import { columnsOf, padColumns } from '../text/columns.ts';
import { newDays } from '../text/new-days.ts';
import type { SessionRow, SessionView } from './session-view.ts';

const longestOutcome = 20;

/** A session as plain text: the header, the rows, the result. */
export function renderSessionView(view: SessionView, { status }: { status?: string } = {}): string {
  const { envelope, model, costUsd: cost, usage, durationMs } = view;
  return [
    renderEnvelope({ ...withOpenCalls(envelope), model, cost, usage }, { status, durationMs }),
    body(view),
    ...footer(view),
  ].join('\n\n');
}

function body({ rows }: SessionView): string {
  if (rows.length === 0) return '(no events)';
  const lastComplete = rows.findLast(({ event }) => event.type === 'session:complete');
  const days = newDays(rows.map(({ event }) => event.timestamp));
  return rows
    .flatMap((row, index) => {
      const day = days[index] ?? '';
      const isSameMessage =
        day === '' &&
        row.event.messageId !== undefined &&
        row.event.messageId === rows[index - 1]?.event.messageId;
      // The last result is below, in full.
      const lines = renderRow(row === lastComplete ? { ...row, text: '' } : row, isSameMessage);
      return day === '' ? [lines] : [day, lines];
    })
    .join('\n');
}

/** A row, with its further lines indented below the first. Only the first block of a message shows the time. */
function renderRow(row: SessionRow, isSameMessage: boolean): string {
  const time = isSameMessage ? '' : formatTime(row.event.timestamp);
  const indent = '  '.repeat(row.agent.depth);
  const agent = row.agent.agentId === '' ? '' : `${neutraliseControlsInLine(row.agent.name)}  `;
  const start = `${time.padEnd(8)}  ${indent}${agent}${padColumns(neutraliseControlsInLine(row.kind), kindColumns)}  `;
  const margin = ' '.repeat(columnsOf(start));
  return contentOf(row)
    .map((line, index) => ((index === 0 ? start : margin) + line).trimEnd())
    .join('\n');
}

function contentOf(row: SessionRow): string[] {
  const [target = '', ...moreTarget] = linesOf(row.target);
  const duration = row.durationMs === undefined ? '' : formatDuration(row.durationMs);
  const status = [row.status ?? '', duration].filter(Boolean).join(' ');
  const head = [target, status].filter(Boolean).join('  ');
  // Models often begin or end with empty lines.
  const said = row.text.trimEnd().replace(/^(?:[ \t]*\n)+/, '');
  const text = said === '' ? [] : linesOf(said);
  const outcome = outcomeLines(row.outcome);
  const lines = [...moreTarget, ...text, ...outcome];
  if (head === '') return lines.length === 0 ? [''] : lines;
  const fitsBeside = lines.length === 1 && text.length === 1;
  return fitsBeside ? [`${head}  ${text[0]}`] : [head, ...lines];
}

function outcomeLines(outcome: string): string[] {
  if (outcome === '') return [];
  const lines = linesOf(outcome);
  const shown = lines.slice(0, longestOutcome);
  if (lines.length > shown.length) shown.push(`… ${lines.length - shown.length} more lines`);
  return shown.map((line, index) => (index === 0 ? `→ ${line}` : `  ${line}`));
}

function footer({ result, structuredResult }: SessionView): string[] {
  const sections: string[] = [];
  if (result !== null) sections.push(`result\n${indented(result)}`);
  if (structuredResult !== null) {
    sections.push(`structured result\n${indented(JSON.stringify(structuredResult, null, 2))}`);
  }
  return sections;
}

function indented(text: string): string {
  return linesOf(text)
    .map((line) => `  ${line}`.trimEnd())
    .join('\n');
}

function linesOf(text: string): string[] {
  return neutraliseControls(text).split('\n');
}
