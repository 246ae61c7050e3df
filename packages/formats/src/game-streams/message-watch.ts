import { isEventOf } from '@hansard/events';
import type { GameMapping } from './game-mapping.ts';
import { type Moment, originOf } from './moment.ts';
import type { StreamLine } from './stream-lines.ts';

/** Gathers the message that each agent is in the midst of, as only its end tells what its text was. */
interface MessageWatch {
  add(moment: Moment): StreamLine[];
  /** Ends what may be over, for the game goes on. */
  pass(): StreamLine[];
  finish(): StreamLine[];
}

interface OpenMessage {
  readonly messageId: string;
  readonly blocks: Block[];
}

interface Block {
  readonly kind: 'thinking' | 'text' | 'call';
  readonly text: string;
  readonly moment: Moment;
}

export function createMessageWatch(mapping: GameMapping, runId: string): MessageWatch {
  const open = new Map<string, OpenMessage>();
  /** Inferences tell when messages are over. In a log without any, what comes next must tell. */
  let isEndTold = false;

  return {
    add(moment) {
      const { event } = moment;
      const { agentId = '', id, messageId = id } = event;
      const block = blockOf(moment);
      if (block !== null) {
        const current = open.get(agentId);
        if (current?.messageId === messageId) {
          current.blocks.push(block);
          return [];
        }
        const lines = end(agentId);
        open.set(agentId, { messageId, blocks: [block] });
        return lines;
      }
      if (event.type === 'agent:inference') {
        isEndTold = true;
        return end(agentId);
      }
      // What others hear is over.
      if (isEventOf(event, 'user:message') && !isEndTold)
        return [...end(event.data.source.agentId), ...end(agentId)];
      return [];
    },

    pass: () => (isEndTold ? [] : finish()),

    finish,
  };

  function finish(): StreamLine[] {
    return [...open.keys()].flatMap(end);
  }

  function end(agentId = ''): StreamLine[] {
    const blocks = open.get(agentId)?.blocks ?? [];
    open.delete(agentId);
    const isUtterance = !blocks.some(({ kind }) => kind === 'call');
    return [...(isUtterance ? chatLines(blocks) : []), ...reasoningLines(blocks, isUtterance)];
  }

  function chatLines(blocks: readonly Block[]): StreamLine[] {
    if (!mapping.chat.utterances) return [];
    return blocks
      .filter(({ kind, text }) => kind === 'text' && text !== '')
      .map(({ text: message, moment: { event, agent: speaker, turn } }) => ({
        stream: 'chat',
        line: { timestamp: event.timestamp, turn, speaker, message, ...originOf(event, runId) },
      }));
  }

  function reasoningLines(blocks: readonly Block[], isUtterance: boolean): StreamLine[] {
    const { thinking, textBesideCalls, toolCalls } = mapping.reasoning;
    const counts = { thinking, text: textBesideCalls && !isUtterance, call: toolCalls };
    const counted = blocks.filter(({ kind, text }) => counts[kind] && text !== '');
    const first = counted.find(({ kind }) => kind !== 'call');
    if (first === undefined) return [];
    const { event, agent, turn } = first.moment;
    const thinking_process = counted.map(({ text }) => text).join('\n');
    const line = { timestamp: event.timestamp, turn, agent, thinking_process, ...originOf(event, runId) };
    return [{ stream: 'agent_reasoning', line }];
  }
}

function blockOf(moment: Moment): Block | null {
  const { event } = moment;
  if (isEventOf(event, 'agent:thinking')) return { kind: 'thinking', text: event.data.text, moment };
  if (isEventOf(event, 'agent:text')) return { kind: 'text', text: event.data.text, moment };
  if (!isEventOf(event, 'agent:tool_call')) return null;
  const { tool, input, target } = event.data;
  const text = `${tool}(${JSON.stringify(input === undefined ? target : input) ?? ''})`;
  return { kind: 'call', text, moment };
}
