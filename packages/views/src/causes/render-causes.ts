import { neutraliseControlsInLine } from '@hansard/events/plain';
import { agentLabel, speakerLabel } from '../agents/agent-label.ts';
import { AgentNames } from '../agents/agent-names.ts';
import { basisNote } from '../knowledge/agent-knowledge.ts';
import type { KnowledgeStep, KnownRow, NeverHeardRow } from '../knowledge/known-by.ts';
import type { LogIndex } from '../log/log-index.ts';
import { senderOf } from '../log/references.ts';
import { wordsLine } from '../rows/row-line.ts';
import { alignColumns, columnsOf, fitColumns, hangingLines } from '../text/columns.ts';
import {
  cellInWords,
  eventFateWords,
  everybodyHeardIt,
  lostHearingLines,
  neverHeardWords,
  sentElsewhereLines,
  stepWords,
  takenBackLines,
  takenBackWords,
} from '../words/hearing-words.ts';
import { eventWords } from '../words/row-words.ts';
import type { LinkKind } from './causal-graph.ts';
import type { CausalRow } from './causality.ts';
import type { HearingMatrix } from './hearing-matrix.ts';
import type { Intervention } from './interventions.ts';

const textColumns = 40;

const leastText = 12;

/** The columns between two cells. */
const gap = 2;

const textAt = 2;

const stateWords = {
  shown: '',
  compacted: ' (replaced by a summary)',
  omitted: ' (not in the prompt)',
  superseded: ' (not in the prompt)',
} as const;

const decisionWords = { allow: 'allowed', deny: 'denied', alter: 'altered', retry: 'rejected' } as const;

const outcomeWords = { none: '', stopped: 'instead', withheld: 'instead', altered: 'became' } as const;

/** Causes or effects: a line with position, agent, kind and text, and below it the positions of its causes. */
export function renderCauses(index: LogIndex, rows: readonly CausalRow[]): string {
  const names = new AgentNames();
  for (const { created } of index.agents.values()) if (created !== null) names.learn(created);
  const lines = alignColumns(
    rows.map(({ position, event }) => {
      const { word, head, text } = wordsLine(eventWords(event, names));
      const what = [head, text].filter(Boolean).join(' ');
      return [String(position), agentLabel(index, event.agentId ?? ''), word, what];
    }),
    ['right'],
  ).split('\n');
  return rows.flatMap((row, at) => [lines[at] ?? '', ...reasonLine(index, row)]).join('\n');
}

const given: ReadonlySet<LinkKind> = new Set(['heard', 'observed', 'summary']);

function reasonLine(index: LogIndex, row: CausalRow): string[] {
  const reasons = row.because.map(({ kind, id, isLost, dispatchId }) => {
    if (dispatchId !== undefined) return `${kind} ${id} (in the session ${dispatchId})`;
    const note = row.basis === 'reconstructed' && given.has(kind) ? ' (reconstructed)' : '';
    return `${kind} ${isLost ? `${id} (not in this log)` : `${index.find(id)?.position ?? id}${note}`}`;
  });
  const { dispatchId: sender } = senderOf(row.event.type, row.event.data);
  if (sender !== undefined && !row.because.some(({ dispatchId }) => dispatchId === sender))
    reasons.push(`from the session ${sender}, whose event is not recorded`);
  if (isUnasked(index, row)) reasons.push('asked by: not recorded');
  const because = reasons.length === 0 ? [] : [neutraliseControlsInLine(`    ← ${reasons.join(', ')}`)];
  return row.fate === undefined ? because : [...because, `    ${eventFateWords(row.event, row.fate)}`];
}

/** Whether it is worth a note that nothing is recorded: only tool calls let an agent speak that a tool call created. A hook asks its own agent. */
function isUnasked({ agents }: LogIndex, { event: { agentId = '' }, asked, because }: CausalRow): boolean {
  if (asked !== 'not recorded' || because.length === 0) return false;
  const { cause, data } = agents.get(agentId)?.created ?? {};
  return cause !== undefined && data?.hook === undefined;
}

/** Each intervention as a few lines: decision, subject, reason, verdict and outcome. */
export function renderInterventions(index: LogIndex, rows: readonly Intervention[]): string {
  if (rows.length === 0) return '(no interventions)';
  return rows
    .map((row) => {
      const { id, hook, on, decision, agentId, reason, subject, given, made, effect, outcome, verdict } = row;
      const whose = on === 'tool_call' ? 'of' : 'to';
      const denial = decision === 'deny' ? `: ${effect}` : '';
      const head = `${id}  ${hook} ${decisionWords[decision]} a ${on} ${whose} ${agentLabel(index, agentId)}${denial}`;
      const parts: readonly (readonly [string, string | undefined])[] = [
        ['on', subject === null ? undefined : `${subject.text} (${subject.id})`],
        ['given', given ?? undefined],
        ['because', reason ?? undefined],
        ['verdict', verdict === null ? undefined : `${verdict.text} (${verdict.id})`],
        ['made', made === null || made === outcome?.text ? undefined : made],
        [outcomeWords[effect], outcome === null ? undefined : `${outcome.text} (${outcome.id})`],
      ];
      const lines = parts.flatMap(([name, text]) =>
        text === undefined ? [] : [hangingLines(`    ${name.padEnd(7)}  `, text)],
      );
      return [neutraliseControlsInLine(head), ...lines].join('\n');
    })
    .join('\n');
}

/**
 * A table: position, speaker and text of each saying, then how each agent heard it. A `·`: never, a `?`: not known, `sent`: sent to it. `width`: the largest width of a line in columns,
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
  const elsewhere = sentElsewhereLines(sayings, (agentId) => index.agents.has(agentId));
  const notes = [...elsewhere, ...takenBackLines(sayings), ...lost].map(neutraliseControlsInLine);
  return [alignColumns(cut, ['right']), ...notes].join('\n');
}

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
