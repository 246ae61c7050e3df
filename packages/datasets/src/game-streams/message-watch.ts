import { addRedactions, type CapturedEvent, type EventOf, isEventOf } from '@hansard/events';
import { createTextSplitter, type TextPart } from '@hansard/views';
import type { Company, GameAudience } from './company.ts';
import { type GameMapping, textActionsOf } from './game-mapping.ts';
import type { Saying, Sayings } from './sayings.ts';
import { type Moment, originOf, type StreamLine, shaped } from './stream-lines.ts';

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
  /** What it says, if texts have parts. */
  readonly parts?: readonly TextPart[];
}

/** Collects the current message of each agent. The kind of its text is known only at its end. */
export class MessageWatch {
  readonly #mapping: GameMapping;
  readonly #runId: string;
  readonly #company: Company;
  readonly #sayings: Sayings;
  readonly #open = new Map<string, OpenMessage>();
  readonly #callText: NonNullable<ConstructorParameters<typeof MessageWatch>[4]>;
  readonly #split: ReturnType<typeof createTextSplitter> | null;
  readonly #actions: ReturnType<typeof textActionsOf>;
  readonly faults: Record<string, number> = {};
  /** Inferences mark the end of messages. In a log without inferences, the next event does. */
  #isEndTold = false;

  constructor(
    mapping: GameMapping,
    runId: string,
    company: Company,
    sayings: Sayings,
    callText: (call: EventOf<'agent:tool_call'>, agent: string) => string | null = wholeCall,
  ) {
    this.#callText = callText;
    this.#mapping = mapping;
    this.#runId = runId;
    this.#company = company;
    this.#sayings = sayings;
    this.#split = mapping.parts === undefined ? null : createTextSplitter(mapping.parts);
    this.#actions = textActionsOf(mapping);
  }

  add(moment: Moment): StreamLine[] {
    const { event } = moment;
    const { agentId = '', id, messageId = id } = event;
    const block = this.#blockOf(moment);
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

  #blockOf(moment: Moment): Block | null {
    const { event, agent } = moment;
    if (isEventOf(event, 'agent:thinking')) return { kind: 'thinking', text: event.data.text, moment };
    if (isEventOf(event, 'agent:text')) return { kind: 'text', text: event.data.text, moment };
    if (!isEventOf(event, 'agent:tool_call')) return null;
    return { kind: 'call', text: this.#callText(event, agent) ?? '', moment };
  }

  #end(agentId = ''): StreamLine[] {
    const message = this.#open.get(agentId);
    if (message === undefined) return [];
    this.#open.delete(agentId);
    const isUtterance = !message.blocks.some(({ kind }) => kind === 'call');
    const blocks = isUtterance && this.#split !== null ? this.#inParts(message.blocks) : message.blocks;
    const said = isUtterance
      ? this.#sayings.add(this.#sayingsOf({ ...message, blocks }, message.blocks))
      : [];
    return [
      ...said,
      ...blocks.flatMap((block) => this.#partLines(block)),
      ...this.#reasoningLines(blocks, isUtterance),
    ];
  }

  /** Splits the text of a message, which can begin in one block and end in another. */
  #inParts(blocks: readonly Block[]): Block[] {
    const texts = blocks.filter(({ kind }) => kind === 'text');
    const { parts, faults } = this.#split?.(texts.map(({ text }) => text).join('')) ?? {
      parts: [],
      faults: [],
    };
    for (const { kind, name } of faults) addRedactions(this.faults, { [`${kind} ${name}`]: 1 });
    let [end, taken] = [0, 0];
    return blocks.flatMap((block) => {
      if (block.kind !== 'text') return [block];
      end += block.text.length;
      const first = taken;
      const isLast = block === texts.at(-1);
      while (taken < parts.length && (isLast || (parts[taken]?.start ?? 0) < end)) taken += 1;
      const own = parts.slice(first, taken);
      return own.map((part): Block => {
        const kind = part.kind === 'thinking' ? 'thinking' : 'text';
        return { kind, text: part.text, moment: block.moment, parts: [part] };
      });
    });
  }

  /** The lines of whispers and actions in a text. */
  #partLines({ moment: { event, agent, turn }, parts = [] }: Block): StreamLine[] {
    const when = { timestamp: event.timestamp, turn };
    const origin = originOf(event, this.#runId);
    return parts.flatMap(({ kind, text: message, to, action }): StreamLine[] => {
      if (kind === 'whisper')
        return [{ stream: 'whispers', line: { ...when, speaker: agent, to: [...to], message, ...origin } }];
      if (action === null) return [];
      const { type: action_type, payload: all } = action;
      const shape = this.#actions.get(action_type) ?? null;
      const payload = shape === null ? all : shaped(shape, { ...all, $text: message }, agent);
      return [{ stream: 'agent_actions', line: { ...when, agent, action_type, payload, ...origin } }];
    });
  }

  #sayingsOf({ messageId, blocks, audience, heardAs }: OpenMessage, texts: readonly Block[]): Saying[] {
    if (!this.#mapping.chat.utterances && this.#split === null) return [];
    const said = blocks.filter(
      ({ kind, text, parts = [] }) =>
        kind === 'text' && text !== '' && parts.every((part) => part.kind === 'chat'),
    );
    // A text in parts can be named by any of its blocks.
    const named = this.#split === null ? said : texts;
    const ids = new Set([messageId, ...named.map(({ moment }) => moment.event.id), ...heardAs]);
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

function wholeCall({ data: { tool, input, target } }: EventOf<'agent:tool_call'>): string {
  return `${tool}(${JSON.stringify(input === undefined ? target : input) ?? ''})`;
}
