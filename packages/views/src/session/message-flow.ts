import { agentLabel, speakerLabel } from '../agents/agent-label.ts';
import type { LogIndex } from '../log/log-index.ts';
import { type Fate, type HowHeard, speakerIdOf } from '../log/saying.ts';
import { dispatchedAgent } from '../words/hearing-words.ts';
import { dialogOf } from './dialog.ts';

/** What was said in a log, as a diagram: a lane for each speaker and hearer, and an arrow for each delivery. */
export interface MessageFlow {
  readonly lanes: readonly FlowLane[];
  /** In the order of the log. */
  readonly steps: readonly FlowStep[];
}

export interface FlowLane {
  readonly label: string;
  /** '' for the dispatched agent; null: no agent, such as a person or a hook. */
  readonly agentId: string | null;
}

/** One saying. `from` and `lane` are indexes of `lanes`. */
export interface FlowStep {
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
