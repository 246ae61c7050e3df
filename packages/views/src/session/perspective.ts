import type { CapturedEvent } from '@hansard/events';
import type { Basis } from '@hansard/prompt';
import { knowledgeOf } from '../knowledge/knowledge-of.ts';
import { type KnownItem, textOfItem } from '../knowledge/known-item.ts';
import { agentNamed } from '../log/log-agents.ts';
import { type LogIndex, rootAgentOf } from '../log/log-index.ts';
import type { LogMessage, LogNode } from '../log/log-node.ts';
import type { Fate, HowHeard, Speaker } from '../log/saying.ts';
import { compactJson } from '../text/compact-json.ts';

/** One thing that an agent heard, thought, did, received or said. */
export interface PerspectiveRow {
  readonly id: string;
  readonly event: CapturedEvent;
  /**
   * `heard`: a message or a system prompt. `given`: a message of the transcript with which it began. `thought`: thinking, text beside a tool call, or an answer that a hook rejected, which nobody hears. `did`: a tool
   * call. `received`: the result of a tool call. `observed`: observed values. `summary`: of a compaction. `said`: an
   * utterance.
   */
  readonly kind: 'heard' | 'given' | 'thought' | 'did' | 'received' | 'observed' | 'summary' | 'said';
  readonly text: string;
  /** The speaker of what it heard or received; null: none. */
  readonly from: Speaker | null;
  /** How the delivery compares with what was said; null: not a delivery of something said. */
  readonly how: HowHeard | null;
  /** The name of the tool that it used; null: none, or not known. */
  readonly tool: string | null;
  /** How its place is known: the basis of the answer that it is part of or was given to first. Null: no answer was given it. */
  readonly basis: Basis | null;
  /** Why the agent's later prompts do not have it. Absent: they have it. */
  readonly fate?: Fate;
  /** Of what it heard: why its author's later prompts do not have it. */
  readonly saidFate?: Fate;
}

/**
 * All that an agent, named by id or name, heard, thought, did, received, observed and said, in the order in which its
 * model was given it: a message that arrived during a call comes after the answer to that call.
 *
 * @throws TypeError for an agent that is not in the log, or a name that several have
 */
export function perspectiveOf(index: LogIndex, agent: string): PerspectiveRow[] {
  const { agentId } = agentNamed(index, agent);
  const known = knowledgeOf(index).agents.get(agentId);
  if (known === undefined) return [];
  const bases = new Map<LogNode, Basis>();
  for (const { newItems, basis } of known.answers) for (const { node } of newItems) bases.set(node, basis);
  const rows = known.items.flatMap((item) => {
    const { kind, message } = item;
    if (kind === 'answer' && message !== null)
      return ownRows(blocksFor(index, agentId, message), message, known.answerOf(message)?.basis ?? null);
    return [receivedRow(index, item, bases.get(item.node) ?? null)];
  });
  return index.tree === null ? rows : rows.map((row) => withFates(index, agentId, row));
}

/** Of what an agent inherits, the fate in the transcript of the other agent says nothing about this one. */
function withFates(index: LogIndex, agentId: string, row: PerspectiveRow): PerspectiveRow {
  const node = index.eventWithId(row.id);
  if (node === null) return row;
  const isOwn = (node.event.agentId ?? rootAgentOf(index)) === agentId;
  const fate = isOwn ? index.fateOf(node) : null;
  const saidFate = isOwn && row.from !== null ? index.sayingOf(node)?.fate : undefined;
  return {
    ...row,
    ...(fate === null ? {} : { fate }),
    ...(saidFate === undefined ? {} : { saidFate }),
  };
}

const kinds = {
  system: 'heard',
  given: 'given',
  message: 'heard',
  result: 'received',
  output: 'observed',
  summary: 'summary',
  answer: 'said',
} as const;

function receivedRow(index: LogIndex, item: KnownItem, basis: Basis | null): PerspectiveRow {
  const { kind, node } = item;
  return {
    id: node.event.id,
    event: node.event,
    kind: kinds[kind],
    text: textOfItem(item),
    from: senderOf(index, item),
    how: index.hearingOf(node)?.how ?? null,
    tool: item.message?.entry.message.tool ?? null,
    basis,
  };
}

function senderOf(index: LogIndex, { kind, node, message }: KnownItem): Speaker | null {
  const speaker = index.sayingOf(node)?.speaker;
  if (speaker !== undefined) return speaker;
  if (kind === 'system') return { kind: 'system' };
  return kind === 'message' ? (message?.entry.message.source ?? { kind: 'user' }) : null;
}

/** The blocks of an answer. Of an answer that the agent inherits, those that it inherits. */
function blocksFor(
  { tree, fateOf }: LogIndex,
  agentId: string,
  { blocks, entry }: LogMessage,
): readonly LogNode[] {
  const head = tree === null || entry.agentId === agentId ? null : tree.headOf(agentId);
  if (head === null) return blocks;
  return blocks.filter(
    (block) => tree?.isOnPath(block.event.id, head.event.id) === true && fateOf(block) !== 'retracted',
  );
}

function ownRows(blocks: readonly LogNode[], { entry }: LogMessage, basis: Basis | null): PerspectiveRow[] {
  const isAloud = entry.message.toolCalls === undefined && blocks[0]?.event.type !== 'agent:rejected';
  return blocks.map(({ event }): PerspectiveRow => {
    const { id, type, data } = event;
    const row = { id, event, from: null, how: null, tool: null, basis };
    switch (type) {
      case 'agent:tool_call': {
        const input = data.input === undefined ? '' : compactJson(data.input);
        return { ...row, kind: 'did', text: input, tool: String(data.tool) };
      }
      case 'agent:thinking':
        return { ...row, kind: 'thought', text: String(data.text) };
      default:
        return { ...row, kind: isAloud ? 'said' : 'thought', text: String(data.text ?? '') };
    }
  });
}
