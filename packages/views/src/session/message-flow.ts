import { neutraliseControlsInLine } from '@hansard/events/plain';
import { agentLabel, speakerLabel } from '../agents/agent-label.ts';
import type { LogIndex } from '../log/log-index.ts';
import { type Fate, type HowHeard, speakerIdOf } from '../log/saying.ts';
import { columnsOf, fitColumns, padColumns } from '../text/columns.ts';
import {
  dispatchedAgent,
  flowMarks,
  flowMeanings,
  notKnownWhoHeardIt,
  saidMark,
  takenBackLines,
  takenBackWords,
  unknownMark,
} from '../words/hearing-words.ts';
import { dialogOf } from './dialog.ts';

/** Room for each mark once: a lane that agents share can have them all. */
const leastLane = 5;

const mostLane = 16;

const leastText = 24;

const strengths: readonly HowHeard[] = ['withheld', 'altered', 'wrapped', 'same'];

/** The most characters of a diagram: what programs that draw Mermaid take unless they are set up otherwise. */
const mostCharacters = 45_000;

const mostOfText = 60;

/** A public saying that more agents heard is drawn as one line. */
const mostArrows = 3;

/** What was said in a log, as a diagram: a lane for each speaker and hearer, and an arrow for each delivery. */
export interface MessageFlow {
  readonly lanes: readonly FlowLane[];
  /** In the order of the log. */
  readonly steps: readonly FlowStep[];
}

interface FlowLane {
  readonly label: string;
  /** '' for the dispatched agent; null: no agent, such as a person or a hook. */
  readonly agentId: string | null;
}

/** One saying. `from` and `lane` are indexes of `lanes`. */
interface FlowStep {
  readonly id: string;
  readonly position: number;
  readonly text: string;
  readonly from: number;
  /** One for each agent and way of hearing. */
  readonly to: readonly { readonly lane: number; readonly how: HowHeard }[];
  /** The lanes of agents of which the log does not record whether they received it. */
  readonly notKnown: readonly number[];
  /** Whether every agent that was present received it, with a lane here or not. Null: not known. */
  readonly isPublic: boolean | null;
  /** Why later prompts of its author do not have it. Absent: they have it. */
  readonly fate?: Fate;
}

/**
 * The flow of messages among the agents, named by id or name; without `agentIds`, all that was said. It has the sayings of
 * `dialogOf`. Source: session-log-v1, 6 (message flow diagram).
 *
 * @throws TypeError for an agent that is not in the log, or a name that several have
 */
export function messageFlow(index: LogIndex, agentIds?: readonly string[]): MessageFlow {
  const lanes: FlowLane[] = [];
  const known = new Map<string, number>();
  const laneOf = (agentId: string | null, label: string) => {
    const key = agentId === null ? `speaker ${label}` : `agent ${agentId}`;
    const lane = known.get(key) ?? lanes.push({ label: label || dispatchedAgent, agentId }) - 1;
    known.set(key, lane);
    return lane;
  };
  const agentLane = (agentId: string) => laneOf(agentId, agentLabel(index, agentId));
  const rows = dialogOf(index, agentIds);
  const drawn = rows.map(({ id, position, text, speaker, audience, isPublic, fate }) => ({
    id,
    position,
    text,
    from:
      speaker.hook === undefined && speakerIdOf(speaker) !== null
        ? agentLane(speaker.agentId ?? '')
        : laneOf(null, speakerLabel(index, speaker)),
    to: audience.map(({ agentId, how }) => ({ lane: agentLane(agentId), how })),
    isPublic,
    ...(fate === undefined ? {} : { fate }),
  }));
  // An agent that never said or heard anything has no lane.
  const steps = drawn.map((step, at) => ({
    ...step,
    notKnown: (rows[at]?.notKnown ?? []).flatMap((agentId) => known.get(`agent ${agentId}`) ?? []),
  }));
  return { lanes, steps };
}

/**
 * A diagram in lines: a lane for each speaker and hearer, a line for each saying with its position, arrows from who said it to
 * those that heard it, and its text. `width`: the largest width of a line in columns,
 * to which texts are cut; lanes that do not fit share the last one.
 */
export function renderFlow(
  flow: MessageFlow,
  { width = Number.POSITIVE_INFINITY }: { readonly width?: number | undefined } = {},
): string {
  if (flow.steps.length === 0) return '(nothing was said)';
  const places = flow.steps.map(({ position }) => String(position));
  const margin = Math.max(...places.map((place) => place.length)) + 2;
  const room = Math.max(leastLane * 2, width - margin - leastText);
  const { lanes, laneOf, others } = fittingLanes(flow, Math.floor(room / leastLane));
  const labels = lanes.map(({ label }) => neutraliseControlsInLine(label));
  const widest = Math.max(...labels.map(columnsOf));
  const lane = Math.max(leastLane, Math.min(mostLane, widest + 2, Math.floor(room / lanes.length)));
  const isNumbered = widest > lane - 1 && lane < 8;
  const heads = labels.map((label, at) => (isNumbered ? letterOf(at) : label));
  const space = ' '.repeat(margin);
  const textRoom = Math.max(leastText, width - margin - lane * lanes.length - 1);
  const used = new Set<string>();
  const lines = flow.steps.map((step, at) => {
    const cells = arrowsOf(step, laneOf, lanes.length, lane);
    for (const cell of cells) used.add(cell);
    const text = fitColumns(neutraliseControlsInLine(step.text), textRoom);
    return `${(places[at] ?? '').padStart(margin - 2)}  ${cells.join('')} ${text}`.trimEnd();
  });
  return [
    ...(isNumbered ? labels.map((label, at) => `${space}${letterOf(at)}  ${label}`) : []),
    `${space}${heads.map((head) => centred(fitColumns(head, lane - 1), lane)).join('')}`.trimEnd(),
    ...lines,
    ...(others.length === 0 ? [] : [`${space}Others: ${others.map(neutraliseControlsInLine).join(', ')}`]),
    `${space}${flowMeanings
      .flatMap(([mark, meaning]) => {
        const drawn = [...mark].filter((one) => used.has(one)).join('');
        return drawn === '' ? [] : `${drawn} ${meaning}`;
      })
      .join('  ')}`,
    ...takenBackLines(flow.steps).map((line) => `${space}${line}`),
  ].join('\n');
}

/** The lanes if they fit; otherwise those that take part most often, in their order, and one for all others. */
function fittingLanes({ lanes, steps }: MessageFlow, most: number) {
  if (lanes.length <= most) return { lanes, laneOf: (at: number) => at, others: [] };
  const counts = lanes.map(() => 0);
  for (const { from, to } of steps) {
    for (const at of [from, ...to.map(({ lane }) => lane)]) counts[at] = (counts[at] ?? 0) + 1;
  }
  const order = [...counts.keys()].sort((one, other) => (counts[other] ?? 0) - (counts[one] ?? 0));
  const kept = order.slice(0, most - 1).sort((one, other) => one - other);
  const places = new Map(kept.map((at, place) => [at, place]));
  const others = lanes.flatMap(({ label }, at) => (places.has(at) ? [] : [label]));
  return {
    lanes: [
      ...kept.flatMap((at) => lanes[at] ?? ([] as FlowLane[])),
      { label: `+${others.length}`, agentId: null },
    ],
    laneOf: (at: number) => places.get(at) ?? kept.length,
    others,
  };
}

/**
 * The marks of one saying, a character for each column: lanes as `│`, arrows from who said it to each that heard it. A lane that several share,
 * or an agent that heard itself, has its marks side by side: `●◀`.
 */
function arrowsOf(
  { from, to, notKnown }: FlowStep,
  laneOf: (at: number) => number,
  count: number,
  width: number,
): string[] {
  const cells = Array.from({ length: count * width }, () => ' ');
  const middle = Math.floor(width / 2);
  const columnOf = (lane: number) => lane * width + middle;
  for (let lane = 0; lane < count; lane++) cells[columnOf(lane)] = '│';
  const said = laneOf(from);
  const start = columnOf(said);
  const ends = [...to.map(({ lane }) => columnOf(laneOf(lane))), start];
  for (let at = Math.min(...ends); at <= Math.max(...ends); at++) cells[at] = cells[at] === '│' ? '┼' : '─';
  for (const [lane, marks] of marksOf({ from, to, notKnown }, laneOf)) {
    const before = Math.max(0, Math.min(middle, marks.length - (width - middle)));
    for (const [at, mark] of marks.entries()) cells[columnOf(lane) - before + at] = mark;
  }
  return cells;
}

/** The marks of each lane. What an agent heard in any way covers what was withheld from it. */
function marksOf(
  { from, to, notKnown }: Pick<FlowStep, 'from' | 'to' | 'notKnown'>,
  laneOf: (at: number) => number,
): ReadonlyMap<number, readonly string[]> {
  const said = laneOf(from);
  const strongest = new Map<number, HowHeard>();
  for (const { lane, how } of to) {
    const known = strongest.get(lane);
    if (known === undefined || strengthOf(how) > strengthOf(known)) strongest.set(lane, how);
  }
  const marks = new Map<number, Set<string>>();
  const add = (lane: number, mark: string) => marks.set(lane, (marks.get(lane) ?? new Set()).add(mark));
  add(said, saidMark);
  const heard = [...strongest].sort(([, one], [, other]) => strengthOf(other) - strengthOf(one));
  for (const [at, how] of heard) {
    const lane = laneOf(at);
    const [right = ' ', left = right] = flowMarks[how];
    add(lane, lane > said ? right : left);
  }
  for (const at of notKnown) add(laneOf(at), unknownMark);
  return new Map([...marks].map(([lane, ofLane]) => [lane, [...ofLane]]));
}

function strengthOf(how: HowHeard): number {
  return strengths.indexOf(how);
}

function letterOf(at: number): string {
  return String.fromCodePoint(65 + (at % 26)) + (at < 26 ? '' : String(Math.floor(at / 26)));
}

/** The text so that its middle is where a lane is. */
function centred(text: string, width: number): string {
  const before = Math.max(0, Math.floor(width / 2) - Math.floor(columnsOf(text) / 2));
  return padColumns(' '.repeat(before) + text, width);
}

/**
 * The diagram as a sequence diagram of Mermaid, without its fence. Foreign text is never syntax. `left`: how many of the last
 * sayings it leaves out, because programs that draw Mermaid refuse longer ones.
 */
export function flowMermaid({ lanes, steps }: MessageFlow): { readonly text: string; readonly left: number } {
  const lines = [
    'sequenceDiagram',
    ...lanes.map(({ label, agentId }, at) => {
      const kind = agentId === null ? 'actor' : 'participant';
      return `  ${kind} p${at} as ${mermaidText(fitColumns(neutraliseControlsInLine(label), mostOfText))}`;
    }),
  ];
  let size = lines.join('\n').length;
  for (const [at, step] of steps.entries()) {
    const more = mermaidStep(step, lanes);
    size += more.join('\n').length + 1;
    if (size > mostCharacters) return { text: lines.join('\n'), left: steps.length - at };
    lines.push(...more);
  }
  return { text: lines.join('\n'), left: 0 };
}

/** A public saying that many heard is one line. Otherwise each hearing is an arrow, of which the first has the text. */
function mermaidStep(
  { position, from, to, notKnown, isPublic, text, fate }: FlowStep,
  lanes: MessageFlow['lanes'],
): string[] {
  const later = fate === undefined ? '' : `(${takenBackWords[fate]}) `;
  const shown = mermaidText(`${later}${fitColumns(neutraliseControlsInLine(text), mostOfText)}`);
  const open = to.filter(({ how }) => how === 'same' || how === 'wrapped');
  const isOneLine = isPublic === true && open.length > mostArrows;
  const lines: string[] = [];
  if (isOneLine) {
    const places = [from, ...open.map(({ lane }) => lane)];
    const speaker = mermaidText(fitColumns(neutraliseControlsInLine(lanes[from]?.label ?? ''), mostOfText));
    const wrapped = open.filter(({ how }) => how === 'wrapped').length;
    const note = wrapped === 0 ? '' : ` (wrapped for ${wrapped})`;
    lines.push(
      `  note over p${Math.min(...places)},p${Math.max(...places)}: ${position} ${speaker} to all${note}#58; ${shown}`,
    );
  }
  for (const { lane, how } of isOneLine ? to.filter((heard) => !open.includes(heard)) : to) {
    const arrow = how === 'withheld' ? '-x' : how === 'altered' ? '-->>' : '->>';
    const words = [...(how === 'same' ? [] : [`(${how})`]), ...(lines.length === 0 ? [shown] : [])];
    lines.push(`  p${from}${arrow}p${lane}: ${[position, ...words].join(' ')}`);
  }
  if (lines.length > 0) return lines;
  const note = notKnown.length === 0 ? '' : `(${notKnownWhoHeardIt}) `;
  return [`  note over p${from}: ${position} ${note}${shown}`];
}

/** Text in which no character has a meaning for Mermaid. */
function mermaidText(text: string): string {
  return text.replace(/[^\p{L}\p{N} .,!?'()/…-]/gu, (mark) => `#${mark.codePointAt(0)};`) || ' ';
}
