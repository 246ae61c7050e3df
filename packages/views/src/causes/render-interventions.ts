import { neutraliseControlsInLine } from '@hansard/events/plain';
import { agentLabel } from '../agents/agent-label.ts';
import type { LogIndex } from '../log/log-index.ts';
import { hangingLines } from '../text/hanging-lines.ts';
import type { Intervention } from './interventions.ts';

const decisionWords = { allow: 'allowed', deny: 'denied', alter: 'altered' } as const;
const outcomeWords = { none: '', stopped: 'instead', withheld: 'instead', altered: 'became' } as const;

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
