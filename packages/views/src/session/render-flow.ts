import { neutraliseControlsInLine } from '@hansard/events/plain';
import type { HowHeard } from '../log/saying.ts';
import { columnsOf, fitColumns, padColumns } from '../text/columns.ts';
import {
  flowMarks,
  flowMeanings,
  notKnownWhoHeardIt,
  saidMark,
  unknownMark,
} from '../words/hearing-words.ts';
import type { FlowLane, FlowStep, MessageFlow } from './message-flow.ts';

const leastLane = 4;
const mostLane = 16;
const leastText = 24;

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

/** The marks of one saying, a character for each column: lanes as `│`, arrows from who said it to each that heard it. */
function arrowsOf(
  { from, to, notKnown }: FlowStep,
  laneOf: (at: number) => number,
  count: number,
  width: number,
): string[] {
  const cells = Array.from({ length: count * width }, () => ' ');
  const columnOf = (at: number) => laneOf(at) * width + Math.floor(width / 2);
  for (let at = 0; at < count; at++) cells[at * width + Math.floor(width / 2)] = '│';
  const start = columnOf(from);
  const ends = [...to.map(({ lane }) => columnOf(lane)), start];
  for (let at = Math.min(...ends); at <= Math.max(...ends); at++) cells[at] = cells[at] === '│' ? '┼' : '─';
  for (const lane of notKnown) cells[columnOf(lane)] = unknownMark;
  // What an agent heard in any way covers what was withheld from it.
  const strength = (how: HowHeard) => ['withheld', 'altered', 'wrapped', 'same'].indexOf(how);
  for (const { lane, how } of [...to].sort((one, other) => strength(one.how) - strength(other.how))) {
    const at = columnOf(lane);
    const [right, left = right] = flowMarks[how];
    cells[at] = (at < start ? left : right) ?? ' ';
  }
  cells[start] = saidMark;
  return cells;
}

function letterOf(at: number): string {
  return String.fromCodePoint(65 + (at % 26)) + (at < 26 ? '' : String(Math.floor(at / 26)));
}

/** The text so that its middle is where a lane is. */
function centred(text: string, width: number): string {
  const before = Math.max(0, Math.floor(width / 2) - Math.floor(columnsOf(text) / 2));
  return padColumns(' '.repeat(before) + text, width);
}

/** The most characters of a diagram: what programs that draw Mermaid take unless they are set up otherwise. */
const mostCharacters = 45_000;
const mostOfText = 60;

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
    const more = mermaidStep(step);
    size += more.join('\n').length + 1;
    if (size > mostCharacters) return { text: lines.join('\n'), left: steps.length - at };
    lines.push(...more);
  }
  return { text: lines.join('\n'), left: 0 };
}

function mermaidStep({ position, from, to, notKnown, text }: FlowStep): string[] {
  const shown = mermaidText(fitColumns(neutraliseControlsInLine(text), mostOfText));
  const arrows = to.map(({ lane, how }) => {
    const note = how === 'same' ? '' : `(${how}) `;
    return `  p${from}${how === 'withheld' ? '-x' : how === 'altered' ? '-->>' : '->>'}p${lane}: ${position} ${note}${shown}`;
  });
  if (arrows.length > 0) return arrows;
  const note = notKnown.length === 0 ? '' : `(${notKnownWhoHeardIt}) `;
  return [`  note over p${from}: ${position} ${note}${shown}`];
}

/** Text in which no character has a meaning for Mermaid. */
function mermaidText(text: string): string {
  return text.replace(/[^\p{L}\p{N} .,!?'()/…-]/gu, (mark) => `#${mark.codePointAt(0)};`) || ' ';
}
