import type { CapturedEvent, EventOf, KnownEventType } from '@hansard/events';
import { isEventError } from '@hansard/events/plain';
import { createTranscriptGatherer } from '../transcript/gather-transcripts.ts';
import { isReadableAs } from '../transcript/is-readable-as.ts';
import type { TranscriptEntry } from '../transcript/transcript-message.ts';
import type { LogDiagnostic } from './diagnostic.ts';
import { createAgentGatherer, type LogAgent } from './log-agents.ts';
import type { LogMessage, LogNode } from './log-node.ts';

/** What one pass over a log finds, before references are followed. */
export interface GatheredLog {
  /** Every event, in the order of the log. */
  readonly nodes: readonly LogNode[];
  readonly byId: ReadonlyMap<string, LogNode>;
  /** By id, in the order in which they appear. */
  readonly agents: ReadonlyMap<string, LogAgent>;
  /** The messages of all agents, in the order of their first blocks. */
  readonly messages: readonly LogMessage[];
  /** The messages whose id is not that of their first event. */
  readonly byMessageId: ReadonlyMap<string, LogMessage>;
  readonly transcripts: ReadonlyMap<string, readonly LogMessage[]>;
  readonly pieces: readonly LogNode[];
  readonly decisions: readonly LogNode[];
}

export function gatherLog(
  events: readonly CapturedEvent[],
  report: (diagnostic: LogDiagnostic) => void,
): GatheredLog {
  const nodes: LogNode[] = [];
  const byId = new Map<string, LogNode>();
  const messages: LogMessage[] = [];
  const byMessageId = new Map<string, LogMessage>();
  const answers = new Map<TranscriptEntry, LogMessage & { readonly blocks: LogNode[] }>();
  const latestCalls = new Map<string, LogNode>();
  const pieces: LogNode[] = [];
  const decisions: LogNode[] = [];
  const transcripts = createTranscriptGatherer();
  const agents = createAgentGatherer(report);

  for (const event of events) {
    const { id } = event;
    const node: LogNode = {
      event,
      position: nodes.length,
      message: null,
      call: null,
      substance: null,
      saying: null,
      hearing: null,
    };
    nodes.push(node);
    if (byId.has(id)) {
      report({ code: 'id_repeated', eventId: id, message: `${id} is the id of more than one event.` });
    } else byId.set(id, node);
    agents.add(event);
    const entry = readEntry(event);
    if (entry !== null) {
      addBlock(entry, node);
      if (event.type === 'agent:tool_call') latestCalls.set(callKey(event), node);
      if (event.type === 'agent:tool_result') linkToCall(node);
    } else if (isReadable(event, 'agent:piece_of_text')) pieces.push(node);
    else if (isReadable(event, 'harness:hook_decision')) {
      decisions.push(node);
      linkToCall(node);
    } else isReadable(event, 'agent:created');
  }

  function readEntry(event: CapturedEvent): TranscriptEntry | null {
    try {
      return transcripts.add(event);
    } catch (error) {
      if (!isEventError(error, 'EVENT_INVALID')) throw error;
      report({ code: 'event_unreadable', eventId: event.id, message: error.message });
      return null;
    }
  }

  function isReadable<T extends KnownEventType>(event: CapturedEvent, type: T): event is EventOf<T> {
    if (event.type !== type) return false;
    if (isReadableAs(event, type)) return true;
    const message = `The data of ${type} ${event.id} has a shape that this version does not know.`;
    report({ code: 'event_unreadable', eventId: event.id, message });
    return false;
  }

  function addBlock(entry: TranscriptEntry, node: LogNode): void {
    const known = entry.events.length > 1 ? answers.get(entry) : undefined;
    if (known !== undefined) {
      known.blocks.push(node);
      const { type } = node.event;
      const isMain = type === 'agent:tool_call' || type === 'agent:text';
      if (isMain && known.main.event.type !== 'agent:tool_call' && known.main.event.type !== type)
        known.main = node;
      node.message = known;
      return;
    }
    const message = { entry, blocks: [node], main: node };
    if (entry.message.role === 'assistant') answers.set(entry, message);
    messages.push(message);
    node.message = message;
    const { messageId } = entry;
    if (messageId !== node.event.id && !byMessageId.has(messageId)) byMessageId.set(messageId, message);
  }

  function linkToCall(node: LogNode): void {
    if (node.event.data.toolCallId !== undefined) node.call = latestCalls.get(callKey(node.event)) ?? null;
  }

  return {
    nodes,
    byId,
    agents: agents.agents(),
    messages,
    byMessageId,
    transcripts: Map.groupBy(messages, ({ entry }) => entry.agentId),
    pieces,
    decisions,
  };
}

/** No agent id has a space in it. */
function callKey({ agentId = '', data }: CapturedEvent): string {
  return `${agentId} ${data.toolCallId}`;
}
