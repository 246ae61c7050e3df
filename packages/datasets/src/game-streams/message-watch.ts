import { type CapturedEvent, isEventOf } from '@hansard/events';
import type { Company, GameAudience } from './company.ts';
import type { GameMapping } from './game-mapping.ts';
import type { Saying, Sayings } from './sayings.ts';
import { type Moment, originOf, type StreamLine } from './stream-lines.ts';

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

/** Collects the current message of each agent. The kind of its text is known only at its end. */
export class MessageWatch {
  readonly #mapping: GameMapping;
  readonly #runId: string;
  readonly #company: Company;
  readonly #sayings: Sayings;
  readonly #open = new Map<string, OpenMessage>();
  /** Inferences mark the end of messages. In a log without inferences, the next event does. */
  #isEndTold = false;

  constructor(mapping: GameMapping, runId: string, company: Company, sayings: Sayings) {
    this.#mapping = mapping;
    this.#runId = runId;
    this.#company = company;
    this.#sayings = sayings;
  }

  add(moment: Moment): StreamLine[] {
    const { event } = moment;
    const { agentId = '', id, messageId = id } = event;
    const block = blockOf(moment);
    if (block !== null) {
      const current = this.#open.get(agentId);
      if (current?.messageId === messageId) {
        current.blocks.push(block);
        return [];
      }
      const lines = [...this.#end(agentId), ...this.#settle(agentId)];
      this.#open.set(agentId, {
        messageId,
        blocks: [block],
        audience: this.#company.audience(agentId),
        heardAs: new Set(),
      });
      return lines;
    }
    if (event.type === 'agent:inference') {
      this.#isEndTold = true;
      return this.#end(agentId);
    }
    // A message that others receive is over.
    const isHeard = isEventOf(event, 'user:message') && !this.#isEndTold;
    return [
      ...(isHeard ? [...this.#end(event.data.source.agentId), ...this.#end(agentId)] : []),
      ...this.#deliver(event),
    ];
  }

  /** Ends messages that may be over, because the game continues. */
  pass(): StreamLine[] {
    return this.#isEndTold ? [] : this.finish();
  }

  finish(): StreamLine[] {
    return [...[...this.#open.keys()].flatMap((agentId) => this.#end(agentId)), ...this.#sayings.settle()];
  }

  /** When an agent speaks again, its earlier utterance has reached all its receivers. Without inferences this holds for all agents. */
  #settle(speakerId: string): StreamLine[] {
    return this.#sayings.settle(
      ({ moment, isWhisper }) => isWhisper || !this.#isEndTold || (moment.event.agentId ?? '') === speakerId,
    );
  }

  #deliver(event: CapturedEvent): StreamLine[] {
    const { id, substance, agentId = '' } = event;
    if (substance === undefined) return [];
    for (const { messageId, blocks, audience, heardAs } of this.#open.values()) {
      const isOfBlock = blocks.some(({ moment }) => moment.event.id === substance);
      if (messageId !== substance && !isOfBlock && !heardAs.has(substance)) continue;
      heardAs.add(id);
      audience.reached(agentId);
    }
    return this.#sayings.deliver(event);
  }

  #end(agentId = ''): StreamLine[] {
    const message = this.#open.get(agentId);
    if (message === undefined) return [];
    this.#open.delete(agentId);
    const isUtterance = !message.blocks.some(({ kind }) => kind === 'call');
    const said = isUtterance ? this.#sayings.add(this.#sayingsOf(message)) : [];
    return [...said, ...this.#reasoningLines(message.blocks, isUtterance)];
  }

  #sayingsOf({ messageId, blocks, audience, heardAs }: OpenMessage): Saying[] {
    if (!this.#mapping.chat.utterances) return [];
    const said = blocks.filter(({ kind, text }) => kind === 'text' && text !== '');
    const ids = new Set([messageId, ...said.map(({ moment }) => moment.event.id), ...heardAs]);
    return said.map(({ text: message, moment }) => ({ moment, message, ids, audience, isWhisper: false }));
  }

  #reasoningLines(blocks: readonly Block[], isUtterance: boolean): StreamLine[] {
    const { thinking, textBesideCalls, toolCalls } = this.#mapping.reasoning;
    const counts = { thinking, text: textBesideCalls && !isUtterance, call: toolCalls };
    const counted = blocks.filter(({ kind, text }) => counts[kind] && text !== '');
    const first = counted.find(({ kind }) => kind !== 'call');
    if (first === undefined) return [];
    const { event, agent, turn } = first.moment;
    const thinking_process = counted.map(({ text }) => text).join('\n');
    const line = {
      timestamp: event.timestamp,
      turn,
      agent,
      thinking_process,
      ...originOf(event, this.#runId),
    };
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
