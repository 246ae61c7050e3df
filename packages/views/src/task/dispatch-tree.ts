import type { DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import {
  addFigures,
  type DispatchFigures,
  explainEstimates,
  figuresOf,
  formatCount,
  formatDuration,
  formatSpending,
  formatTokens,
  nothingSpent,
  shortId,
  shortIds,
} from '@hansard/facts';
import { branchesOf, firstLines, groupSiblings, type Siblings } from '../text/branches.ts';
import { alignColumns, columnsOf, fitColumns } from '../text/columns.ts';

const unknown = '–';

/** The columns between two cells. */
const gap = 2;

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

/** The most notes about forks. */
const mostForks = 5;

/** What is cut to fit, in this order, and to how many columns at least. The last characters of an id are enough to name it. */
const cuts = [
  { title: 'model', least: 14, keep: 'start' },
  { title: 'session', least: 9, keep: 'end' },
  { title: 'role', least: 14, keep: 'start' },
] as const;

/** Columns that are removed, in this order, where cells that are cut still do not fit. */
const leftOut = ['turns', 'in', 'out', 'subtree'];

const nothing: DispatchFigures = {
  ...nothingSpent,
  inputTokens: null,
  outputTokens: null,
  turns: null,
  durationMs: null,
};

/** A dispatch and the dispatches that it started (D4). */
export interface DispatchTreeNode {
  readonly envelope: DispatchEnvelope;
  readonly own: DispatchFigures;
  /** The sums over the dispatch and all dispatches below it. */
  readonly subtree: DispatchFigures;
  readonly children: readonly DispatchTreeNode[];
  /** Its parent is not in the list, or (in bad data) is below it. */
  readonly orphan: boolean;
}

interface Node extends DispatchTreeNode {
  subtree: DispatchFigures;
  readonly children: Node[];
  orphan: boolean;
}

/** The dispatches of a task as trees. Roots and children are in the order of start (those without a recorded one first), then id; each envelope occurs exactly once. */
export function dispatchTree(envelopes: readonly DispatchEnvelope[]): DispatchTreeNode[] {
  const nodes = [...envelopes].sort(byStart).map((envelope): Node => {
    const own = figuresOf(envelope);
    return { envelope, own, subtree: own, children: [], orphan: false };
  });
  const byId = new Map(nodes.map((node) => [node.envelope.dispatchId, node]));
  const parents = new Map<Node, Node>();
  for (const node of nodes) {
    const { parentDispatchId } = node.envelope;
    if (parentDispatchId === null) continue;
    const parent = byId.get(parentDispatchId);
    if (parent === undefined || isBelow(parent, node, parents)) node.orphan = true;
    else parents.set(node, parent);
  }
  for (const [node, parent] of parents) parent.children.push(node);

  const roots = nodes.filter((node) => !parents.has(node));
  for (const node of inOrder(roots).reverse()) {
    const parent = parents.get(node);
    if (parent !== undefined) parent.subtree = addFigures(parent.subtree, node.subtree);
  }
  return roots;
}

/** Whether a node is the other one or below it. The chain is finite, because a link that would close a cycle is never added. */
function isBelow(node: Node, other: Node, parents: ReadonlyMap<Node, Node>): boolean {
  for (let current: Node | undefined = node; current !== undefined; current = parents.get(current)) {
    if (current === other) return true;
  }
  return false;
}

/** Every node, parents before their children. */
function inOrder(roots: readonly Node[]): Node[] {
  const ordered: Node[] = [];
  const waiting = [...roots];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    ordered.push(node);
    for (const child of node.children) waiting.push(child);
  }
  return ordered;
}

function byStart(one: DispatchEnvelope, other: DispatchEnvelope): number {
  return compare(one.startedAt ?? '', other.startedAt ?? '') || compare(one.dispatchId, other.dispatchId);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The dispatches of one bot among these dispatches of a task. */
export function botView(
  dispatches: readonly DispatchEnvelope[],
  botId: string,
): {
  readonly botId: string;
  /** Its dispatches, in the order of the argument. */
  readonly envelopes: readonly DispatchEnvelope[];
  /** The sums over its dispatches. */
  readonly figures: DispatchFigures;
} {
  const envelopes = dispatches.filter((envelope) => envelope.botId === botId);
  return { botId, envelopes, figures: envelopes.map(figuresOf).reduce(addFigures, nothing) };
}

interface RenderTreeOptions {
  /** The status of a dispatch in words. Absent: that of its envelope. */
  readonly statusOf?: (envelope: DispatchEnvelope) => string;
  /** The largest width of a line in columns: models, ids and roles are cut to it. Absent: unlimited. */
  readonly width?: number | undefined;
  /** The most lines of dispatches, without those of open roles: equal workers share a line. Absent: unlimited. */
  readonly most?: number | undefined;
  /** The roles of workers that have lines of their own. */
  readonly open?: readonly string[];
}

interface Column {
  readonly title: string;
  readonly side: 'left' | 'right';
  readonly cell: (node: DispatchTreeNode, options: RenderTreeOptions) => string;
}

/** Trees as aligned lines with branches: role, dispatch, status, model, turns, tokens, cost own and subtree, duration. */
export function renderDispatchTree(
  nodes: readonly DispatchTreeNode[],
  options: RenderTreeOptions = {},
): string {
  const { width, most = Number.POSITIVE_INFINITY, open = [] } = options;
  const all = branchesOf(nodes).map(({ node }) => node);
  if (all.length === 0) return '';
  const room = most + all.filter(({ envelope }) => open.includes(envelope.role)).length;
  const keyOf = ({ envelope }: DispatchTreeNode, key: string) =>
    envelope.parentDispatchId === null || open.includes(envelope.role) ? null : key;
  const grouped = groupSiblings(nodes, room, [
    (node) => keyOf(node, `${node.envelope.role} ${node.envelope.model} ${node.envelope.status}`),
    (node) => keyOf(node, node.envelope.role),
    (node) => keyOf(node, ''),
  ]);
  const branches = branchesOf(grouped);
  const ids = shortIds(branches.map(({ node }) => node.nodes[0].envelope.dispatchId));
  const hasWorkers = all.some(({ children }) => children.length > 0);
  // Without workers the sums of a subtree repeat the costs.
  const own = columns.filter(({ title }) => title !== 'subtree' || hasWorkers);
  const rows = [
    ['role', 'session', ...own.map(({ title }) => title)],
    ...branches.map(({ node, branch }, at) => {
      const isOne = node.nodes.length === 1;
      const shown = isOne ? node.nodes[0] : sharedNode(node, options);
      const cells = own.map(({ cell }) => cell(shown, isOne ? options : {}));
      return [branch + roleOf(shown), isOne ? (ids[at] ?? '') : '', ...cells].map(neutraliseControlsInLine);
    }),
  ];
  const fitting = width === undefined ? rows : fitted(rows, width);
  const sides = (fitting[0] ?? []).map((title) => columns.find((one) => one.title === title)?.side ?? 'left');
  const table = firstLines(alignColumns(fitting, sides).split('\n'), room + 1, 'sessions').join('\n');
  const envelopes = all.map(({ envelope }) => envelope);
  const note = explainEstimates(envelopes);
  return [table, ...forkNotes(envelopes), ...(note === null ? [] : [neutraliseControlsInLine(note)])].join(
    '\n',
  );
}

/** Workers that share a line, as one. What differs is not shown. */
function sharedNode(
  { nodes }: Siblings<DispatchTreeNode>,
  { statusOf }: RenderTreeOptions,
): DispatchTreeNode {
  const [first, ...others] = nodes;
  const same = <T>(value: (envelope: DispatchEnvelope) => T): T | null =>
    others.every(({ envelope }) => value(envelope) === value(first.envelope)) ? value(first.envelope) : null;
  const role = same((envelope) => envelope.role);
  const status = same((envelope) => statusOf?.(envelope) ?? envelope.status);
  return {
    ...first,
    envelope: {
      ...first.envelope,
      role: role === null ? `${nodes.length} workers` : `${nodes.length} × ${role}`,
      model: same((envelope) => envelope.model),
      status: (status ?? unknown) as DispatchEnvelope['status'],
    },
    own: others.reduce((sum, node) => addFigures(sum, node.own), first.own),
    subtree: others.reduce((sum, node) => addFigures(sum, node.subtree), first.subtree),
  };
}

/** What is counted once although several dispatches have it, and what looks like it. */
export function copiesInWords(copiedCalls: number, differing: number): string[] {
  const calls = formatCount(copiedCalls, 'model call');
  const have = differing === 1 ? 'has' : 'have';
  return [
    ...(copiedCalls === 0 ? [] : [`Forks and continuations repeat ${calls}; each call is counted once.`]),
    ...(differing === 0
      ? []
      : [
          `${formatCount(differing, 'answer')} of unrelated sessions, or edited, ${have} the message id of another answer; all are counted.`,
        ]),
  ];
}

/** Which dispatches were forked from others or continue them. They are not workers of these. */
export function forkNotes(envelopes: readonly DispatchEnvelope[]): string[] {
  const forks = envelopes.flatMap((envelope) => {
    const words = forkInWords(envelope);
    return words === null ? [] : [neutraliseControlsInLine(`${shortId(envelope.dispatchId)} ${words}`)];
  });
  const left = forks.length - mostForks;
  return [...forks.slice(0, mostForks), ...(left > 0 ? [`… and ${left} more forks`] : [])];
}

/** Where a dispatch was forked or continued from, in words. Null: nowhere. */
export function forkInWords({
  forkedFrom,
  source,
}: Pick<DispatchEnvelope, 'forkedFrom'> & Partial<Pick<DispatchEnvelope, 'source'>>): string | null {
  const { of = [], calls = 0 } = source?.copies ?? {};
  if (forkedFrom === undefined)
    return of.length === 0
      ? null
      : `repeats ${formatCount(calls, 'call')} of ${of.map(shortId).join(', ')} (derived: no log names the origin)`;
  const { from, kind = 'fork' } = forkedFrom;
  const origin =
    from.dispatchId === undefined ? `${from.product} ${from.sessionId}` : shortId(from.dispatchId);
  return /resum|continu/i.test(kind) ? `continues ${origin}` : `was forked from ${origin}`;
}

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
