import type { LogIndex } from '../log/log-index.ts';
import type { Speaker } from '../log/saying.ts';
import { neutraliseControlsInLine } from '../text/neutralise-controls.ts';

/** The label of an agent for a line of text, with control characters made visible. */
export function agentLabel({ agents }: LogIndex, agentId: string): string {
  return neutraliseControlsInLine(agents.get(agentId)?.label ?? agentId);
}

/** The label of a speaker: that of an agent, otherwise `user` or `system`. */
export function speakerLabel(index: LogIndex, { kind, agentId }: Speaker): string {
  return kind === 'agent' && agentId !== undefined ? agentLabel(index, agentId) : kind;
}
