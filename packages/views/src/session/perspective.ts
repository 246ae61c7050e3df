import type { CapturedEvent } from '@hansard/events';
import { givenMessages } from '../causes/given-messages.ts';
import { agentNamed } from '../log/log-agents.ts';
import type { LogIndex } from '../log/log-index.ts';
import type { LogMessage } from '../log/log-node.ts';
import type { HowHeard, Speaker } from '../log/saying.ts';
import { compactJson } from '../text/compact-json.ts';

/** One thing that an agent heard, thought, did, received or said. */
export interface PerspectiveRow {
  readonly id: string;
  readonly event: CapturedEvent;
  /**
   * `heard`: a message or a system prompt. `thought`: thinking, or text beside a tool call, which nobody hears. `did`: a tool
   * call. `received`: the result of a tool call. `said`: an utterance.
   */
  readonly kind: 'heard' | 'thought' | 'did' | 'received' | 'said';
  readonly text: string;
  /** The speaker of what it heard or received; null: none. */
  readonly from: Speaker | null;
  /** How the delivery compares with what was said; null: not a delivery of something said. */
  readonly how: HowHeard | null;
  /** The name of the tool that it used; null: none, or not known. */
  readonly tool: string | null;
}

/**
 * All that an agent, named by id or name, heard, thought, did, received and said, in the order in which its model was
 * given it: a message that arrived during a call comes after the answer to that call.
 *
 * @throws TypeError for an agent that is not in the log, or a name that several have
 */
export function perspectiveOf(index: LogIndex, agent: string): PerspectiveRow[] {
  const { agentId } = agentNamed(index, agent);
  return givenMessages(index)
    .transcriptOf(agentId)
    .flatMap((message) =>
      message.entry.message.role === 'assistant' ? ownRows(message) : [heardRow(index, message)],
    );
}

function heardRow(index: LogIndex, { main, entry }: LogMessage): PerspectiveRow {
  const { event } = main;
  const { role, source, content, tool = null } = entry.message;
  const sender = role === 'system' ? { kind: 'system' as const } : (source ?? { kind: 'user' as const });
  return {
    id: event.id,
    event,
    kind: role === 'tool' ? 'received' : 'heard',
    text: content ?? '',
    from: index.sayingOf(main)?.speaker ?? (role === 'tool' ? null : sender),
    how: index.hearingOf(main)?.how ?? null,
    tool,
  };
}

function ownRows({ blocks, entry }: LogMessage): PerspectiveRow[] {
  const isAloud = entry.message.toolCalls === undefined;
  return blocks.map(({ event }): PerspectiveRow => {
    const { id, type, data } = event;
    const row = { id, event, from: null, how: null, tool: null };
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
