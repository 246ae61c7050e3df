import { type CapturedEvent, type EventLinks, type JsonObject, parseEvent } from '@hansard/events';
import { randomFrom } from './made-events.ts';

/** A word that occurs in one field of one event, and in the deliveries of that text. */
export interface PlantedWord {
  readonly word: string;
  /** The field, or the kind of speech. */
  readonly field: string;
  /** The agent of the event; '' is the dispatched agent. */
  readonly agentId: string;
  readonly heardBy: readonly string[];
}

export interface CanaryGame {
  readonly events: readonly CapturedEvent[];
  readonly planted: readonly PlantedWord[];
}

/** The names of the players by their ids. The dispatched agent, '', leads the game. */
export const canaryPlayers: Readonly<Record<string, string>> = {
  agent_001: 'Ann',
  agent_002: 'Ben',
  agent_003: 'Cyd',
  agent_004: 'Dov',
};

/** What the tools and events of the game mean, for streams and packets. */
export const canaryMapping = {
  turn: { events: ['game:night'] },
  gameEvents: { events: ['game:*'] },
  chat: { tools: { speak: 'message' }, utterances: true },
  whispers: { tools: { whisper: { message: 'message', to: 'to' } } },
  actions: {
    vote: { type: 'VOTE', payload: { voter: '$agent', target: 'target' } },
    accuse: { type: 'ACCUSE' },
  },
};

/** The planted words in a text. Escapes of Markdown do not hide a word. */
export function canariesIn(text: string): ReadonlySet<string> {
  return new Set(text.replaceAll('\\', '').match(/(?:CANARY|SECRET|KEPT)_\d+_\d+_/g));
}

/** A random game in which each private field and each kind of speech occurs at least twice. */
export function canaryGame(seed: number): CanaryGame {
  const game = new Game(seed);
  game.play();
  return game;
}

type Hide = (field: string) => string;

class Game implements CanaryGame {
  readonly events: CapturedEvent[] = [];
  readonly planted: PlantedWord[] = [];
  readonly #seed: number;
  readonly #random: () => number;
  readonly #players = Object.keys(canaryPlayers);

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = randomFrom(seed);
  }

  play(): void {
    const at = (field: string) => this.#hide('', `session:init.${field}`);
    this.#add('session:init', '', { model: at('model'), sessionId: at('sessionId'), cwd: at('cwd') });
    for (const agentId of this.#players) {
      const hide = this.#of(agentId);
      const name = canaryPlayers[agentId] ?? '';
      this.#add('agent:created', agentId, { name, languageModel: hide('agent:created.languageModel') });
      this.#add('agent:system_prompt', agentId, { text: hide('agent:system_prompt.text') });
    }
    for (let round = 1; round <= 2; round += 1) {
      this.#add('game:night', '', { turn: `Night ${round}`, wolf: this.#hide('', 'game:night.wolf') });
      for (const step of this.#shuffled(this.#steps())) step(this.#pick(this.#players));
    }
    const hide: Hide = (field) => this.#hide('', `session:complete.${field}`);
    this.#add('session:complete', '', {
      status: 'completed',
      result: hide('result'),
      reason: hide('reason'),
      structuredResult: { any: [hide('structuredResult')] },
      errors: [hide('errors')],
    });
  }

  #steps(): ((agentId: string) => void)[] {
    return [
      (agentId) => this.#speak(agentId, 'public utterance', this.#others(agentId)),
      (agentId) =>
        this.#speak(agentId, 'whispered utterance', this.#others(agentId).slice(0, 1 + this.#below(2))),
      (agentId) => this.#speak(agentId, 'unheard utterance', []),
      (agentId) =>
        this.#call(agentId, 'speak', (hide) => ({
          message: hide('speak message'),
          why: hide('speak field'),
        })),
      (agentId) =>
        this.#call(agentId, 'whisper', (hide) => ({
          message: hide('whisper'),
          to: this.#pick(Object.values(canaryPlayers)),
        })),
      (agentId) => this.#call(agentId, 'vote', (hide) => ({ target: 'Ben', reason: hide('vote field') })),
      (agentId) => this.#call(agentId, 'accuse', (hide) => ({ reason: hide('bare action') })),
      (agentId) => this.#call(agentId, 'read_notes', (hide) => ({ path: hide('tool input') })),
      ...Object.entries(alone).map(([type, make]) => (agentId: string) => {
        const hide = this.#of(agentId);
        this.#add(
          type,
          agentId,
          make((field) => hide(`${type}.${field}`)),
        );
      }),
    ];
  }

  /** An answer after a private message, delivered to some. */
  #speak(agentId: string, field: string, receivers: readonly string[]): void {
    const hide = this.#of(agentId);
    this.#add('user:message', agentId, { text: hide('user:message.text'), source: { kind: 'user' } });
    const message = { messageId: `m${this.events.length}` };
    this.#think(agentId, message);
    const text = this.#hide(agentId, field, receivers);
    const said = this.#add('agent:text', agentId, { text }, message);
    this.#infer(agentId, message);
    for (const other of this.#shuffled(receivers))
      this.#add('user:message', other, { text, source: { kind: 'agent', agentId } }, { substance: said });
  }

  /** A call with text beside it, and its result. */
  #call(agentId: string, tool: string, make: (hide: Hide) => JsonObject): void {
    const hide = this.#of(agentId);
    this.#add('user:message', agentId, { text: hide('user:message.text'), source: { kind: 'user' } });
    const message = { messageId: `m${this.events.length}` };
    const toolCallId = `c${this.events.length}`;
    this.#think(agentId, message);
    this.#add('agent:text', agentId, { text: hide('text beside a call') }, message);
    const about = (type: string) => ({
      toolCallId,
      tool,
      target: hide(`${type}.target`),
      metadata: { note: hide(`${type}.metadata`) },
    });
    this.#add('agent:tool_call', agentId, { ...about('agent:tool_call'), input: make(hide) }, message);
    this.#infer(agentId, message);
    const output = hide('agent:tool_result.output');
    this.#add('agent:tool_result', agentId, { ...about('agent:tool_result'), status: 'completed', output });
  }

  #think(agentId: string, message: EventLinks): void {
    const hide = this.#of(agentId);
    const data = { text: hide('agent:thinking.text'), signature: hide('agent:thinking.signature') };
    this.#add('agent:thinking', agentId, data, message);
  }

  #infer(agentId: string, message: EventLinks): void {
    const hide = this.#of(agentId);
    const usage = { inputTokens: 1, outputTokens: 1 };
    const [model, stopReason] = [hide('agent:inference.model'), hide('agent:inference.stopReason')];
    const replay = { any: hide('agent:inference.replay') };
    this.#add('agent:inference', agentId, { model, usage, stopReason, replay }, message);
  }

  #add(type: string, agentId: string, data: JsonObject, links: EventLinks = {}): string {
    const id = `e${this.events.length}`;
    const timestamp = new Date(Date.UTC(2026, 2, 1) + this.events.length).toISOString();
    const whose = agentId === '' ? {} : { agentId };
    this.events.push(parseEvent({ id, type, timestamp, ...whose, ...links, data }));
    return id;
  }

  #of(agentId: string): Hide {
    return (field) => this.#hide(agentId, field);
  }

  #hide(agentId: string, field: string, heardBy: readonly string[] = []): string {
    const word = `CANARY_${this.#seed}_${this.planted.length}_`;
    this.planted.push({ word, field, agentId, heardBy });
    return word;
  }

  #others(agentId: string): string[] {
    return this.#shuffled(this.#players.filter((other) => other !== agentId));
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }

  #shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, at: this.#random() }))
      .sort((one, other) => one.at - other.at)
      .map(({ item }) => item);
  }
}

/** Events that stand alone, with a word in each text. */
const alone: Readonly<Record<string, (hide: Hide) => JsonObject>> = {
  'agent:piece_of_text': (hide) => ({ text: hide('text') }),
  'agent:output': (hide) => ({ parts: [{ kind: 'text', text: hide('parts') }] }),
  'harness:hook_decision': (hide) => ({
    hook: hide('hook'),
    on: 'tool_result',
    decision: 'alter',
    reason: hide('reason'),
    input: { any: hide('input') },
    given: hide('given'),
    text: hide('text'),
  }),
  'harness:approval_requested': (hide) => ({
    toolCallId: 'c1',
    tool: hide('tool'),
    kind: 'approval',
    by: hide('by'),
    reason: hide('reason'),
    input: { any: hide('input') },
  }),
  'harness:approval_given': (hide) => ({
    toolCallId: 'c1',
    decision: 'approve',
    by: hide('by'),
    answer: hide('answer'),
    note: hide('note'),
    input: { any: hide('input') },
    scope: 'call',
  }),
  'harness:error': (hide) => ({ message: hide('message'), stack: hide('stack'), code: hide('code') }),
  'harness:abort': (hide) => ({ reason: hide('reason'), by: hide('by') }),
  'session:compaction': (hide) => ({ trigger: 'auto', summary: hide('summary') }),
  'session:status': (hide) => ({ content: hide('content'), unlisted: hide('unlisted') }),
  'system:notice': (hide) => ({ problem: hide('problem'), raw: hide('raw') }),
  'system:hook_response': (hide) => ({ hook_name: hide('hook_name'), stdout: hide('stdout') }),
  'system:task_notification': (hide) => ({ summary: hide('summary'), result: hide('result') }),
  'system:attachment': (hide) => ({ attachment: { content: hide('attachment') } }),
  'custom:thing': (hide) => ({ any: { deep: [hide('any')] } }),
};
