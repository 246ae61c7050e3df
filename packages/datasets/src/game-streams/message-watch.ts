import { type CapturedEvent, isEventOf } from '@hansard/events';
import type { Company } from './company.ts';
import type { GameAudience } from './game-audience.ts';
import type { GameMapping } from './game-mapping.ts';
import { type Moment, originOf } from './moment.ts';
import type { Saying, Sayings } from './sayings.ts';
import type { StreamLine } from './stream-lines.ts';

/** Collects the current message of each agent. The kind of its text is known only at its end. */
interface MessageWatch {
  add(moment: Moment): StreamLine[];
  /** Ends messages that may be over, because the game continues. */
  pass(): StreamLine[];
  finish(): StreamLine[];
}

interface OpenMessage {
  readonly messageId: string;
  readonly blocks: Block[];
  readonly audience: GameAudience;
  /** The ids of its deliveries so far, by which later ones may name it. */
  readonly heardAs: Set<string>;
}

interface Block {
  readonly kind: 'thinking' | 'text' | 'call';
  readonly text: string;
  readonly moment: Moment;
}

export function createMessageWatch(
  mapping: GameMapping,
  runId: string,
  company: Company,
  sayings: Sayings,
): MessageWatch {
  const open = new Map<string, OpenMessage>();
  /** Inferences mark the end of messages. In a log without inferences, the next event does. */
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
        const lines = [...end(agentId), ...settle(agentId)];
        open.set(agentId, {
          messageId,
          blocks: [block],
          audience: company.audience(agentId),
          heardAs: new Set(),
        });
        return lines;
      }
      if (event.type === 'agent:inference') {
        isEndTold = true;
        return end(agentId);
      }
      // A message that others receive is over.
      const isHeard = isEventOf(event, 'user:message') && !isEndTold;
      return [...(isHeard ? [...end(event.data.source.agentId), ...end(agentId)] : []), ...deliver(event)];
    },

    pass: () => (isEndTold ? [] : finish()),

    finish,
  };

  function finish(): StreamLine[] {
    return [...[...open.keys()].flatMap(end), ...sayings.settle()];
  }

  /** When an agent speaks again, its earlier utterance has reached all its receivers. Without inferences this holds for all agents. */
  function settle(speakerId: string): StreamLine[] {
    return sayings.settle(
      ({ moment, isWhisper }) => isWhisper || !isEndTold || (moment.event.agentId ?? '') === speakerId,
    );
  }

  function deliver(event: CapturedEvent): StreamLine[] {
    const { id, substance, agentId = '' } = event;
    if (substance === undefined) return [];
    for (const { messageId, blocks, audience, heardAs } of open.values()) {
      const isOfBlock = blocks.some(({ moment }) => moment.event.id === substance);
      if (messageId !== substance && !isOfBlock && !heardAs.has(substance)) continue;
      heardAs.add(id);
      audience.reached(agentId);
    }
    return sayings.deliver(event);
  }

  function end(agentId = ''): StreamLine[] {
    const message = open.get(agentId);
    if (message === undefined) return [];
    open.delete(agentId);
    const isUtterance = !message.blocks.some(({ kind }) => kind === 'call');
    const said = isUtterance ? sayings.add(sayingsOf(message)) : [];
    return [...said, ...reasoningLines(message.blocks, isUtterance)];
  }

  function sayingsOf({ messageId, blocks, audience, heardAs }: OpenMessage): Saying[] {
    if (!mapping.chat.utterances) return [];
    const said = blocks.filter(({ kind, text }) => kind === 'text' && text !== '');
    const ids = new Set([messageId, ...said.map(({ moment }) => moment.event.id), ...heardAs]);
    return said.map(({ text: message, moment }) => ({ moment, message, ids, audience, isWhisper: false }));
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
