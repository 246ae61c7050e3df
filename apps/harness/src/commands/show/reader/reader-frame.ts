import { stripVTControlCharacters } from 'node:util';
import type { Scope } from '@hansard/compose';
import type { DispatchRef, DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope, DispatchStatus } from '@hansard/events';
import { neutraliseControls, neutraliseControlsInLine } from '@hansard/events/plain';
import { formatCost, formatUsage, timeNotRecorded } from '@hansard/facts';
import { cutTexts, type EventAround, treeOf } from '@hansard/viewer/rows';
import {
  columnsOf,
  type DispatchTreeNode,
  dispatchedAgent,
  dispatchTree,
  fitColumns,
  type Ink,
  renderRow,
  wrapColumns,
} from '@hansard/views';
import type { CliContext } from '../../../terminal/context.ts';
import { atShownTime } from '../../../terminal/shown-time.ts';
import type { ReadLog } from './read-log.ts';
import type { PlacedRow } from './row-window.ts';
import type { ScreenFrame, ScreenPart } from './terminal-screen.ts';

/** The most sessions of a task at the side. */
const mostSessions = 2_000;

type Paint = (ink: Ink, text: string) => string;

/** On a narrower screen, the side takes the place of the list. */
const narrow = 60;
/** On a lower one, the event in detail does. */
const low = 14;
/** Lines. */
const mostNotice = 4;
/** In columns. */
const [leastSide, mostSide] = [18, 34];

/** A part of the screen, in lines and columns from its top left corner. */
interface Pane {
  readonly line: number;
  readonly column: number;
  readonly height: number;
  readonly width: number;
}

export interface PaneSizes {
  readonly side: Pane;
  readonly list: Pane;
  readonly detail: Pane;
}

/** What is drawn. */
export interface ReaderPicture {
  readonly size: { readonly columns: number; readonly lines: number };
  readonly sizes: PaneSizes;
  /** The pane that the keys move. */
  readonly pane: keyof PaneSizes;
  readonly title: string;
  readonly rows: readonly PlacedRow[];
  /** The position of the current row. */
  readonly current: number | null;
  /** What stands in the place of rows, if there are none. */
  readonly empty: string;
  readonly sideTitle: string;
  readonly side: readonly SideEntry[];
  readonly entry: number;
  readonly shownSession: string;
  readonly shownAgent: string | null;
  readonly detail: { readonly lines: readonly string[]; readonly top: number } | null;
  readonly isHelp: boolean;
  readonly notice: string;
  readonly prompt: { readonly kind: string; readonly text: string } | null;
  readonly status: readonly string[];
}

/** The places of the panes. Line 0 is the title; the last two lines are the notice and the status. */
export function paneSizes(
  { columns, lines }: ReaderPicture['size'],
  pane: keyof PaneSizes,
  detail: { readonly isWhole: boolean } | null,
): PaneSizes {
  const body = Math.max(0, lines - 3);
  const none: Pane = { line: 1, column: 0, height: 0, width: Math.max(1, columns) };
  const whole: Pane = { ...none, height: body };
  if (columns < narrow && pane === 'side') return { side: whole, list: none, detail: none };
  const width = columns < narrow ? 0 : Math.max(leastSide, Math.min(mostSide, Math.floor(columns / 4)));
  const side: Pane = width === 0 ? none : { line: 1, column: 0, height: body, width };
  const beside = width === 0 ? 0 : width + 1;
  const main: Pane = { line: 1, column: beside, height: body, width: Math.max(1, columns - beside) };
  if (detail === null) return { side, list: main, detail: none };
  if (detail.isWhole) return { side: none, list: { ...none, width: main.width }, detail: whole };
  if (body < low) return { side, list: { ...none, width: main.width }, detail: main };
  const height = Math.max(4, Math.floor(body * 0.4));
  return {
    side,
    list: { ...main, height },
    detail: { ...main, line: main.line + height + 1, height: body - height - 1 },
  };
}

/** A picture as the lines of the screen. Each part fits its pane, whatever its text. */
export function readerFrame(picture: ReaderPicture, paint: Paint): ScreenFrame {
  const { size, sizes, title, notice, prompt, isHelp } = picture;
  const { columns } = size;
  const lines: ScreenPart[][] = Array.from({ length: Math.max(1, size.lines) }, () => []);
  const put = (line: number, column: number, text: string, width: number) => {
    if (width > 0 && text !== '') lines[line]?.push({ column, text: fitPainted(text, width) });
  };
  if (size.lines > 1) put(0, 0, paint('strong', neutraliseControlsInLine(title)), columns);
  if (isHelp) {
    for (const [at, line] of helpLines(columns).entries())
      if (at < size.lines - 3) put(at + 1, 0, line, columns);
  } else {
    drawSide(picture, put, paint);
    drawList(picture, put, paint);
    drawDetail(picture, put, paint);
    const { side, list, detail } = sizes;
    if (side.height > 0 && side.width < columns)
      for (let at = 0; at < side.height; at += 1) put(1 + at, side.width, paint('dim', '│'), 1);
    if (detail.height > 0 && list.height > 0)
      put(detail.line - 1, detail.column, paint('dim', '─'.repeat(detail.width)), detail.width);
  }
  // A longer notice covers the last lines of the panes.
  const said = notice === '' ? [] : wrapColumns(neutraliseControlsInLine(notice), columns);
  const kept = said.slice(0, Math.max(0, Math.min(mostNotice, size.lines - 2)));
  for (const [at, text] of kept.entries()) {
    const line = size.lines - 1 - kept.length + at;
    lines[line] = [];
    put(line, 0, paint('notice', text), columns);
  }
  const status = [...picture.status, isHelp ? 'any key goes back' : 'h help', 'q quit'].join(' · ');
  const typed = prompt === null ? null : neutraliseControlsInLine(prompt.kind + prompt.text);
  const shown = typed === null ? status : fitColumns(typed, columns - 1, 'end');
  put(size.lines - 1, 0, typed === null ? paint('dim', neutraliseControlsInLine(shown)) : shown, columns);
  for (const parts of lines) parts.sort((one, other) => one.column - other.column);
  return { lines, cursor: typed === null ? null : { line: size.lines - 1, column: columnsOf(shown) } };
}

type Put = (line: number, column: number, text: string, width: number) => void;

function drawSide(
  { sizes, sideTitle, side, entry, pane, shownSession, shownAgent }: ReaderPicture,
  put: Put,
  paint: Paint,
) {
  const { line, column, height, width } = sizes.side;
  if (height === 0) return;
  const isHere = pane === 'side';
  put(line, column, paint(isHere ? 'strong' : 'dim', `${isHere ? '▌' : ' '}${sideTitle}`), width);
  const room = height - 1;
  const top = Math.max(0, Math.min(entry - Math.floor(room / 2), side.length - room));
  for (const [at, one] of side.slice(top, top + room).entries()) {
    const isCurrent = isHere && top + at === entry;
    const isShown =
      one.kind === 'session'
        ? one.dispatchId === shownSession && shownAgent === null
        : one.agentId === shownAgent;
    const name = neutraliseControlsInLine(one.name);
    const state = one.kind === 'session' ? stateOf(one.status) : one.hasEnded ? 'ended' : '';
    const margin = ' '.repeat(Math.min(one.depth, 6));
    const mark = `${isCurrent ? '▌' : ' '}${isShown ? '●' : ' '}`;
    const text = one.kind === 'agent' ? paint('agent', name) : name;
    const end = state === '' ? '' : ` ${paint(state === 'running' ? 'notice' : 'dim', state)}`;
    const fitted = fitPainted(`${mark}${margin}${text}`, Math.max(4, width - columnsOf(end)));
    put(line + 1 + at, column, fitted + end, width);
  }
}

function stateOf(status: string): string {
  return status === 'completed' ? '' : status;
}

function drawList({ sizes, rows, current, pane, empty }: ReaderPicture, put: Put, paint: Paint) {
  const { line, column, height, width } = sizes.list;
  if (height === 0) return;
  if (rows.length === 0) put(line, column + 2, paint('dim', empty), width - 2);
  for (const { row, start, lines } of rows)
    for (const [at, text] of lines.entries()) {
      const own = start + at;
      if (own < 0 || own >= height) continue;
      const mark = row.position === current ? (pane === 'list' ? '▌ ' : '│ ') : '  ';
      put(line + own, column, mark + text, width);
    }
}

function drawDetail({ sizes, detail, pane }: ReaderPicture, put: Put, paint: Paint) {
  const { line, column, height, width } = sizes.detail;
  if (height === 0 || detail === null) return;
  const mark = pane === 'detail' ? paint('strong', '▌ ') : '  ';
  for (const [at, text] of detail.lines.slice(detail.top, detail.top + height).entries())
    put(line + at, column, mark + text, width);
}

/** A text with colours, cut to a width; a text that is cut loses its colours. */
function fitPainted(text: string, width: number): string {
  return columnsOf(text) <= width ? text : fitColumns(stripVTControlCharacters(text), width);
}

interface DetailOptions {
  readonly width: number;
  readonly context: CliContext;
  readonly paint: Paint;
}

/** An event in detail: its row in full, its model call, what it came from and what came from it, and itself as JSON. */
export function detailLines(
  around: EventAround | null | string,
  { width, context, paint }: DetailOptions,
): readonly string[] {
  const room = Math.max(8, width - 2);
  const wrapped = (text: string) =>
    neutraliseControls(text)
      .split('\n')
      .flatMap((line) => wrapColumns(line.replaceAll('\t', '    '), room));
  if (around === null) return ['(no such event)'];
  if (typeof around === 'string') return wrapped(around).map((line) => paint('bad', line));
  const { event, row, causes, effects } = around;
  const json = JSON.stringify(cutTexts(event), null, 2);
  const links = [
    ...causes.map(({ kind, position, text }) => `${kind}  ${position ?? ''}  ${text}`),
    ...effects.map(({ kind, position, text }) => `${kind} of  ${position ?? ''}  ${text}`),
  ];
  return [
    ...(row === null
      ? []
      : renderRow(atShownTime(context, cutTexts(row)), { width: room, full: true, paint }).split('\n')),
    ...(row?.model === undefined
      ? []
      : wrapped(
          `model  ${[
            row.model.name,
            formatUsage(row.model.usage),
            ...(row.model.costUsd === undefined ? [] : [formatCost(row.model.costUsd)]),
          ].join(', ')}`,
        )),
    ...links.flatMap(wrapped),
    '',
    ...wrapped(`time  ${event.timestamp ?? timeNotRecorded}`),
    ...wrapped(`id  ${event.id}`),
    ...wrapped(json).map((line) => paint('dim', line)),
  ];
}

const keys: readonly (readonly [string, string])[] = [
  ['j k, arrows', 'the next, the previous row'],
  ['space b, d u', 'a window, half a window on or back'],
  ['g G, 120g', 'the first, the last row; the row of event 120'],
  [':', 'the row of an event: a position, @15:04, latest, or a part of an id'],
  ['/ ?, n N', 'search a text or /expression/ forwards or backwards; the next, the previous'],
  ['&', 'show only rows that pass: a text, or options of show such as --tool Bash --failed; nothing: all'],
  ['F', 'follow: stay at the end'],
  ['Enter', 'the event in detail; again: on the whole screen'],
  ['o', 'open or close the rows of a branch that was left, or of the head of a fork (Enter opens them, too)'],
  ['Tab', 'the next pane: rows, event, sessions and agents'],
  ['Enter at the side', 'the conversation of that session or agent'],
  ['Esc', 'close what is open, stop a search'],
  ['r, Ctrl-Z', 'read again; stop until fg'],
  ['h, q', 'this list; quit'],
];

function helpLines(columns: number): string[] {
  const margin = 19;
  return keys.flatMap(([key, what]) =>
    wrapColumns(what, Math.max(10, columns - margin - 1)).map(
      (line, at) => `${(at === 0 ? ` ${key}` : '').padEnd(margin)}${line}`,
    ),
  );
}

/** A session at the side. */
export interface SideSession {
  readonly dispatchId: string;
  readonly depth: number;
  readonly name: string;
  readonly status: DispatchStatus | 'unreadable';
}

/** A line at the side: a session, or an agent of the session that is shown. */
export type SideEntry =
  | ({ readonly kind: 'session' } & SideSession)
  | {
      readonly kind: 'agent';
      /** '' for the dispatched agent. */
      readonly agentId: string;
      readonly depth: number;
      readonly name: string;
      readonly hasEnded: boolean;
    };

/** The sessions that a person switches between: those of a task, or one with those above and below it. */
export async function sideSessions(
  store: DispatchStore,
  { taskDir, dispatchId }: Pick<Scope, 'taskDir' | 'dispatchId'>,
  takes: (envelope: DispatchEnvelope) => boolean,
): Promise<SideSession[]> {
  if (dispatchId !== null) return treeOf(store, { taskDir, dispatchId });
  const envelopes: DispatchEnvelope[] = [];
  const unreadable: SideSession[] = [];
  for await (const entry of store.dispatches({ taskDir, limit: mostSessions })) {
    if (!('error' in entry)) envelopes.push(entry.envelope);
    else if (entry.dispatchId !== undefined)
      unreadable.push({
        dispatchId: entry.dispatchId,
        depth: 0,
        name: entry.dispatchId,
        status: 'unreadable',
      });
  }
  return [...dispatchTree(envelopes.filter(takes)).flatMap((node) => [...below(node, 0)]), ...unreadable];
}

function* below({ envelope, children }: DispatchTreeNode, depth: number): Generator<SideSession> {
  const { dispatchId, title, role, status } = envelope;
  yield { dispatchId, depth, name: title ?? role, status };
  for (const child of children) yield* below(child, depth + 1);
}

/** The lines of the side: the agents stand below their session. */
export async function sideEntries(sessions: readonly SideSession[], shown: ReadLog): Promise<SideEntry[]> {
  const agents = await shown.rows.agents();
  const { role } = shown.log.envelope;
  return withShown(sessions, shown.ref, shown.log.envelope).flatMap((session): SideEntry[] => {
    const entry: SideEntry = { kind: 'session', ...session };
    if (session.dispatchId !== shown.ref.dispatchId || agents.length === 0) return [entry];
    const depth = session.depth + 1;
    const own = shown.hasDispatchedAgent ? [{ id: '', name: role || dispatchedAgent, hasEnded: false }] : [];
    const all = [...own, ...agents.filter(({ id }) => id !== '')];
    return [
      entry,
      ...all.map(({ id, ...agent }): SideEntry => ({ kind: 'agent', agentId: id, depth, ...agent })),
    ];
  });
}

/** A session is at the side as soon as it is shown. */
function withShown(
  sessions: readonly SideSession[],
  { dispatchId }: DispatchRef,
  { title, role, status }: DispatchEnvelope,
): readonly SideSession[] {
  if (sessions.some((session) => session.dispatchId === dispatchId)) return sessions;
  return [{ dispatchId, depth: 0, name: title ?? role, status }, ...sessions];
}
