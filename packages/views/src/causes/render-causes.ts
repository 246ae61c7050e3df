import { neutraliseControlsInLine } from '@hansard/events/plain';
import { agentLabel } from '../agents/agent-label.ts';
import { AgentNames } from '../agents/agent-names.ts';
import type { LogIndex } from '../log/log-index.ts';
import { senderOf } from '../log/references.ts';
import { wordsLine } from '../rows/row-line.ts';
import { alignColumns } from '../text/align-columns.ts';
import { hangingLines } from '../text/hanging-lines.ts';
import { eventFateWords } from '../words/hearing-words.ts';
import { eventWords } from '../words/row-words.ts';
import type { LinkKind } from './causal-graph.ts';
import type { CausalRow } from './causality.ts';
import type { Intervention } from './interventions.ts';

const decisionWords = { allow: 'allowed', deny: 'denied', alter: 'altered' } as const;

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
