import { givenThrough } from '../context/given-through.ts';
import type { LogIndex } from '../log/log-index.ts';
import type { LogMessage, LogNode } from '../log/log-node.ts';

/** What the answers of a log were given, as their `agent:inference` says; where that says nothing, all that came before. */
export interface GivenMessages {
  /** For each answer, what its agent received that no earlier answer was given. */
  readonly newTo: ReadonlyMap<LogMessage, readonly LogMessage[]>;
  /** The transcript of an agent. A message that an answer was not given comes after that answer. */
  transcriptOf(agentId: string): readonly LogMessage[];
  /** The position of the last event that the answer of this event was given; undefined: it is of no answer, or the log does not say. */
  lastGivenTo(node: LogNode): number | undefined;
}

const known = new WeakMap<LogIndex, GivenMessages>();

/** Made when it is first asked for. */
export function givenMessages(index: LogIndex): GivenMessages {
  let given = known.get(index);
  if (given === undefined) {
    given = gather(index);
    known.set(index, given);
  }
  return given;
}

function gather(index: LogIndex): GivenMessages {
  const lastGiven = lastGivenByAnswer(index);
  const newTo = new Map<LogMessage, readonly LogMessage[]>();
  const transcripts = new Map<string, readonly LogMessage[]>();
  for (const [agentId, transcript] of index.transcripts) {
    const inOrder: LogMessage[] = [];
    let waiting: LogMessage[] = [];
    for (const message of transcript) {
      if (message.entry.message.role !== 'assistant') {
        waiting.push(message);
        continue;
      }
      const last = lastGiven.get(keyOf(agentId, message.entry.messageId)) ?? Number.POSITIVE_INFINITY;
      const given = waiting.filter(({ main }) => main.position <= last);
      waiting = waiting.filter(({ main }) => main.position > last);
      newTo.set(message, given);
      inOrder.push(...given, message);
    }
    transcripts.set(agentId, [...inOrder, ...waiting]);
  }
  return {
    newTo,
    transcriptOf: (agentId) => transcripts.get(agentId) ?? [],
    lastGivenTo: ({ event: { agentId = '', messageId = '' } }) => lastGiven.get(keyOf(agentId, messageId)),
  };
}

function lastGivenByAnswer(index: LogIndex): ReadonlyMap<string, number> {
  const lastGiven = new Map<string, number>();
  for (const event of index.events) {
    const through = givenThrough(event);
    const { agentId = '', messageId } = event;
    if (through === undefined || messageId === undefined) continue;
    const last = through === null ? -1 : index.eventWithId(through)?.position;
    if (last !== undefined) lastGiven.set(keyOf(agentId, messageId), last);
  }
  return lastGiven;
}

/** No id has a space in it. */
function keyOf(agentId: string, messageId: string): string {
  return `${agentId} ${messageId}`;
}
