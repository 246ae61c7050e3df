import { givenThrough } from '../context/given-through.ts';
import type { LogIndex } from '../log/log-index.ts';
import type { LogMessage, LogNode } from '../log/log-node.ts';

/**
 * The messages that the model of each answer was given: up to the last event that its `agent:inference` records, or, if
 * that records none, all messages of the agent before the answer.
 */
export interface GivenMessages {
  /** For each answer, the messages that its model was given and that no earlier answer was given. */
  readonly newTo: ReadonlyMap<LogMessage, readonly LogMessage[]>;
  /** The messages of an agent, each one that an answer was not given after that answer. */
  transcriptOf(agentId: string): readonly LogMessage[];
  /**
   * The position of the last event that the answer of this event was given, -1 for none. Undefined: the event is not part
   * of an answer, or nothing is recorded.
   */
  lastGivenTo(node: LogNode): number | undefined;
}

const computed = new WeakMap<LogIndex, GivenMessages>();

/** Computed at the first call for an index, then kept with it. */
export function givenMessages(index: LogIndex): GivenMessages {
  let given = computed.get(index);
  if (given === undefined) {
    given = readGiven(index);
    computed.set(index, given);
  }
  return given;
}

function readGiven(index: LogIndex): GivenMessages {
  const lastGiven = lastGivenByAnswer(index);
  const newTo = new Map<LogMessage, readonly LogMessage[]>();
  const transcripts = new Map<string, readonly LogMessage[]>();
  for (const [agentId, transcript] of index.transcripts) {
    const ofAgent = lastGiven.get(agentId);
    const inOrder: LogMessage[] = [];
    let waiting: LogMessage[] = [];
    for (const message of transcript) {
      if (message.entry.message.role !== 'assistant') {
        waiting.push(message);
        continue;
      }
      const last = ofAgent?.get(message.entry.messageId);
      const given = last === undefined ? waiting : waiting.filter(({ main }) => main.position <= last);
      waiting = last === undefined ? [] : waiting.filter(({ main }) => main.position > last);
      newTo.set(message, given);
      inOrder.push(...given, message);
    }
    transcripts.set(agentId, [...inOrder, ...waiting]);
  }
  return {
    newTo,
    transcriptOf: (agentId) => transcripts.get(agentId) ?? [],
    lastGivenTo: ({ event: { agentId = '', messageId = '' } }) => lastGiven.get(agentId)?.get(messageId),
  };
}

/** The position of the last event that each answer was given, by agent and message. */
function lastGivenByAnswer(index: LogIndex): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const lastGiven = new Map<string, Map<string, number>>();
  for (const event of index.events) {
    const through = givenThrough(event);
    const { agentId = '', messageId } = event;
    if (through === undefined || messageId === undefined) continue;
    const last = through === null ? -1 : index.eventWithId(through)?.position;
    if (last === undefined) continue;
    const ofAgent = lastGiven.get(agentId);
    if (ofAgent === undefined) lastGiven.set(agentId, new Map([[messageId, last]]));
    else ofAgent.set(messageId, last);
  }
  return lastGiven;
}
