import type { LogIndex } from '../log/log-index.ts';
import type { Speaker } from '../log/saying.ts';
import { neutraliseControlsInLine } from '../text/neutralise-controls.ts';

/** What to call an agent in a line of text. */
export function agentLabel({ agents }: LogIndex, agentId: string): string {
  return neutraliseControlsInLine(agents.get(agentId)?.label ?? agentId);
}

/** What to call who said something: an agent, `user` or `system`. */
export function speakerLabel(index: LogIndex, { kind, agentId }: Speaker): string {
  return kind === 'agent' && agentId !== undefined ? agentLabel(index, agentId) : kind;
}
