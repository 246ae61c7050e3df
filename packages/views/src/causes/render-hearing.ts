import { neutraliseControlsInLine } from '@hansard/events/plain';
import { agentLabel, speakerLabel } from '../agents/agent-label.ts';
import { basisNote } from '../knowledge/basis-note.ts';
import type { KnowledgeStep, KnownRow } from '../knowledge/known-by.ts';
import type { NeverHeardRow } from '../knowledge/never-heard.ts';
import type { LogIndex } from '../log/log-index.ts';
import { alignColumns } from '../text/align-columns.ts';
import { columnsOf, fitColumns } from '../text/columns.ts';
import { hangingLines } from '../text/hanging-lines.ts';
import {
  cellInWords,
  everybodyHeardIt,
  lostHearingLines,
  neverHeardWords,
  stepWords,
  takenBackLines,
  takenBackWords,
} from '../words/hearing-words.ts';
import type { HearingMatrix } from './hearing-matrix.ts';

const textColumns = 40;
const leastText = 12;
/** The columns between two cells. */
const gap = 2;

/**
 * A table: position, speaker and text of each saying, then how each agent heard it. A `·`: never, a `?`: not known. `width`: the largest width of a line in columns,
 * to which texts are cut.
 */
export function renderHearing(
  index: LogIndex,
  { agents, rows }: HearingMatrix,
  { width }: { readonly width?: number | undefined } = {},
): string {
  if (rows.length === 0) return '(nothing was said)';
  const head = ['at', 'said by', 'text', ...agents.map(({ label }) => neutraliseControlsInLine(label))];
  const lines = rows.map(({ saying, cells, notKnown }) => [
    String(saying.position),
    speakerLabel(index, saying.speaker),
    neutraliseControlsInLine(saying.text),
    ...agents.map(({ agentId }) => cellInWords(cells.get(agentId), notKnown.includes(agentId))),
  ]);
  const table = [head, ...lines];
  const others = head
    .map((_, at) => (at === textAt ? 0 : Math.max(...table.map((row) => columnsOf(row[at] ?? '')))))
    .reduce((sum, one) => sum + one + gap, -gap);
  const room = width === undefined ? textColumns : Math.max(leastText, width - others);
  const cut = table.map((row) => row.with(textAt, fitColumns(row[textAt] ?? '', room)));
  const sayings = rows.map(({ saying }) => saying);
  const lost = lostHearingLines(sayings, (agentId) => agentLabel(index, agentId));
  const notes = [...takenBackLines(sayings), ...lost].map(neutraliseControlsInLine);
  return [alignColumns(cut, ['right']), ...notes].join('\n');
}

const textAt = 2;

/** The messages that an agent knew, each followed by its paths. The positions of events name them. */
export function renderKnown(index: LogIndex, rows: readonly KnownRow[]): string {
  if (rows.length === 0) return '(nothing yet)';
  const places = rows.map(({ id }) => placeOf(index, id));
  const columns = Math.max(...places.map(columnsOf));
  const lines = rows.map(({ kind, text, state, saidFate, paths }, at) => {
    const ways = paths.map(
      (path) => `${' '.repeat(columns + 4)}${path.map((step) => stepInWords(index, step)).join(' → ')}`,
    );
    const later = saidFate === undefined ? '' : ` (${takenBackWords[saidFate]})`;
    const head = `${(places[at] ?? '').padStart(columns)}  ${kind}${stateWords[state]}${later}: `;
    return [hangingLines(head, text), ...ways].join('\n');
  });
  return [...basisNote(rows), ...lines].join('\n');
}

const stateWords = {
  shown: '',
  compacted: ' (replaced by a summary)',
  omitted: ' (not in the prompt)',
  superseded: ' (not in the prompt)',
} as const;

/** The agents that never heard something, or of which it is not known, one per line. */
export function renderNeverHeard(rows: readonly NeverHeardRow[]): string {
  if (rows.length === 0) return everybodyHeardIt;
  return rows.map((row) => neutraliseControlsInLine(`${row.agent.label}${neverHeardWords(row)}`)).join('\n');
}

function stepInWords(index: LogIndex, { id, kind, agentId, how }: KnowledgeStep): string {
  const who = agentId === null ? kind : agentLabel(index, agentId);
  return `${who} ${stepWords[how]} (${placeOf(index, id)})`;
}

/** The position of an event or a message; its id if the log does not have it. */
function placeOf(index: LogIndex, id: string): string {
  const position = index.find(id)?.position;
  return position === undefined ? neutraliseControlsInLine(id) : String(position);
}
