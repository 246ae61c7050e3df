import type { DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { explainEstimates, formatDuration, formatSpending, formatTokens, shortIds } from '@hansard/facts';
import { alignColumns } from '../text/align-columns.ts';
import { branchesOf } from '../text/branches.ts';
import { columnsOf, fitColumns } from '../text/columns.ts';
import type { DispatchTreeNode } from './dispatch-tree.ts';

const unknown = '–';
/** The columns between two cells. */
const gap = 2;

export interface RenderTreeOptions {
  /** The status of a dispatch in words. Absent: that of its envelope. */
  readonly statusOf?: (envelope: DispatchEnvelope) => string;
  /** The largest width of a line in columns: models, ids and roles are cut to it. Absent: unlimited. */
  readonly width?: number | undefined;
}

interface Column {
  readonly title: string;
  readonly side: 'left' | 'right';
  readonly cell: (node: DispatchTreeNode, options: RenderTreeOptions) => string;
}

const columns: readonly Column[] = [
  {
    title: 'status',
    side: 'left',
    cell: ({ envelope }, { statusOf }) => statusOf?.(envelope) ?? envelope.status,
  },
  { title: 'model', side: 'left', cell: ({ envelope }) => envelope.model ?? unknown },
  { title: 'turns', side: 'right', cell: ({ own }) => known(own.turns, String) },
  { title: 'in', side: 'right', cell: ({ own }) => known(own.inputTokens, formatTokens) },
  { title: 'out', side: 'right', cell: ({ own }) => known(own.outputTokens, formatTokens) },
  { title: 'cost', side: 'right', cell: ({ own }) => formatSpending(own) ?? unknown },
  { title: 'subtree', side: 'right', cell: ({ subtree }) => formatSpending(subtree) ?? unknown },
  { title: 'duration', side: 'right', cell: ({ own }) => known(own.durationMs, formatDuration) },
];

/** Trees as aligned lines with branches: role, dispatch, status, model, turns, tokens, cost own and subtree, duration. */
export function renderDispatchTree(
  nodes: readonly DispatchTreeNode[],
  options: RenderTreeOptions = {},
): string {
  const branches = branchesOf(nodes);
  if (branches.length === 0) return '';
  const ids = shortIds(branches.map(({ node }) => node.envelope.dispatchId));
  const hasWorkers = branches.some(({ node }) => node.children.length > 0);
  // Without workers the sums of a subtree repeat the costs.
  const own = columns.filter(({ title }) => title !== 'subtree' || hasWorkers);
  const rows = [
    ['role', 'session', ...own.map(({ title }) => title)],
    ...branches.map(({ node, branch }, at) => [
      branch + roleOf(node),
      neutraliseControlsInLine(ids[at] ?? ''),
      ...own.map(({ cell }) => neutraliseControlsInLine(cell(node, options))),
    ]),
  ];
  const shown = options.width === undefined ? rows : fitted(rows, options.width);
  const sides = (shown[0] ?? []).map((title) => columns.find((one) => one.title === title)?.side ?? 'left');
  const table = alignColumns(shown, sides);
  const note = explainEstimates(branches.map(({ node }) => node.envelope));
  return note === null ? table : `${table}\n${neutraliseControlsInLine(note)}`;
}

/** What is cut to fit, in this order, and to how many columns at least. The last characters of an id are enough to name it. */
const cuts = [
  { title: 'model', least: 14, keep: 'start' },
  { title: 'session', least: 9, keep: 'end' },
  { title: 'role', least: 14, keep: 'start' },
] as const;

/** Columns that are removed, in this order, where cells that are cut still do not fit. */
const leftOut = ['turns', 'in', 'out', 'subtree'];

function fitted(rows: readonly (readonly string[])[], width: number): string[][] {
  const shown = rows.map((row) => [...row]);
  const head = shown[0] ?? [];
  const widthOf = (at: number) => Math.max(...shown.map((row) => columnsOf(row[at] ?? '')));
  const excess = () => head.map((_, at) => widthOf(at) + gap).reduce((sum, one) => sum + one, -gap) - width;
  for (const { title, least, keep } of cuts) {
    const [at, over] = [head.indexOf(title), excess()];
    if (over <= 0) break;
    const room = Math.max(least, widthOf(at) - over);
    for (const row of shown) row[at] = fitColumns(row[at] ?? '', room, keep);
  }
  for (const title of leftOut) {
    const at = head.indexOf(title);
    if (at >= 0 && excess() > 0) for (const row of shown) row.splice(at, 1);
  }
  return shown;
}

function roleOf({ envelope, orphan }: DispatchTreeNode): string {
  const note = orphan ? ` (parent ${envelope.parentDispatchId} not found)` : '';
  return neutraliseControlsInLine(envelope.role + note);
}

function known(figure: number | null, format: (figure: number) => string): string {
  return figure === null ? unknown : format(figure);
}
