import {
  type CapturedEvent,
  type EventLinks,
  type JsonObject,
  type JsonValue,
  parseEvent,
} from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import type { GameMappingInput } from '../../src/index.ts';

export const randomGameMapping: GameMappingInput = {
  turn: { events: ['game:day', 'game:night'] },
  gameEvents: {
    events: ['game:*'],
    names: { 'game:start': 'GAME_START', 'game:end': 'GAME_END', 'game:vote': 'Vote 1' },
  },
  chat: { tools: { speak: 'text' }, utterances: true },
  actions: {
    vote: { type: 'VOTE', payload: { voter: '$agent', target: 'target' } },
    use_ability: { type: 'ABILITY_USE' },
  },
  reasoning: { toolCalls: true },
};

/** What happened in a random game, as rows of text: what must be found in its streams, and in the events read from them. */
export interface GameTruth {
  readonly chat: string[];
  /** Actions that were carried out, each by a call. */
  readonly actions: string[];
  readonly calls: string[];
  readonly results: string[];
  readonly heard: string[];
  readonly inferences: string[];
  readonly game: string[];
  readonly thoughts: string[];
}

export interface RandomGame {
  readonly events: readonly CapturedEvent[];
  readonly truth: GameTruth;
}

const names = ['Ann', 'Bo', 'Player 5', 'Öz', '__proto__', 'A"b\\', 'agent:1', '李', 'x'.repeat(130), 'Cy'];
const texts = ['Hi.', 'Hi.', 'I saw Bo.', '', 'line\nbreak', '🂡 "quoted"', '{"a":1}', ' ', '<b>no</b>'];

/** A random game with parallel calls, failed ones, whispers, equal texts, equal times and times that go back. */
export function randomGame(seed: number): RandomGame {
  const game = new Play(seed);
  game.play();
  return game;
}

interface OpenCall {
  readonly agentId: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonValue | undefined;
  readonly time: string;
  readonly turn: string;
}

/** A game in which nothing has happened. */
export function emptyTruth(): GameTruth {
  return {
    chat: [],
    actions: [],
    calls: [],
    results: [],
    heard: [],
    inferences: [],
    game: [],
    thoughts: [],
  };
}

class Play implements RandomGame {
  readonly events: CapturedEvent[] = [];
  readonly truth = emptyTruth();
  readonly #random: () => number;
  readonly #players = new Map<string, string>();
  #open: OpenCall[] = [];
  #time = Date.UTC(2026, 2, 1, 9);
  #earliest = 0;
  #turn = 'Game Start';
  #messages = 0;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    const count = 2 + this.#below(4);
    for (const name of this.#shuffled(names).slice(0, count))
      this.#players.set(`agent_${this.#players.size}`, name);
  }

  play(): void {
    for (const [agentId, name] of this.#players) this.#add('agent:created', agentId, { name });
    if (this.#random() < 0.8) this.#happen('start', { players: [...this.#players.values()] });
    const steps = 5 + this.#below(40);
    for (let step = 0; step < steps; step += 1) this.#step();
    if (this.#random() < 0.5) this.#happen('end', { winning_faction: 'Town' });
  }

  #step(): void {
    const agentId = this.#pick([...this.#players.keys()]);
    const others = this.#shuffled([...this.#players.keys()].filter((other) => other !== agentId));
    const roll = this.#random();
    if (roll < 0.1) {
      this.#turn = `Day ${this.#below(9)}`;
      this.#happen('day', { turn: this.#turn, left: this.#below(5) });
    } else if (roll < 0.15) this.#happen('vote', { on: this.#pick(names), n: [1, { deep: null }] });
    else if (roll < 0.35) this.#say(agentId, others);
    else if (roll < 0.45) this.#say(agentId, others.slice(0, this.#below(others.length)));
    else if (roll < 0.7) this.#callTools(agentId);
    else if (roll < 0.9) this.#finishCall();
    else {
      const kind = this.#pick(['user', 'system', 'external']);
      const text = this.#pick(texts);
      this.#add('user:message', agentId, { text, source: { kind } });
      this.truth.heard.push(row(kind, this.#name(agentId), text));
    }
  }

  #happen(action: string, { turn, ...payload }: JsonObject): void {
    const { timestamp } = this.#add(`game:${action}`, '', {
      ...payload,
      ...(turn === undefined ? {} : { turn }),
    });
    this.truth.game.push(row(timestamp, this.#turn, payload));
  }

  /** An utterance. Public if all others receive it. */
  #say(agentId: string, receivers: readonly string[]): void {
    const message = this.#message();
    this.#think(agentId, message);
    const text = this.#pick(texts);
    const said = this.#add('agent:text', agentId, { text }, message);
    this.#infer(agentId, message);
    for (const other of receivers) {
      this.#add('user:message', other, { text, source: { kind: 'agent', agentId } }, { substance: said.id });
      this.truth.heard.push(row(this.#name(agentId), this.#name(other), text));
    }
    if (text !== '' && receivers.length === this.#players.size - 1)
      this.truth.chat.push(row(said.timestamp, this.#turn, this.#name(agentId), text));
  }

  #callTools(agentId: string): void {
    const message = this.#message();
    this.#think(agentId, message);
    for (let count = 1 + this.#below(3); count > 0; count -= 1) {
      const tool = this.#pick(['speak', 'vote', 'use_ability', 'check_will']);
      const target = this.#pick([...this.#players.values()]);
      const input: JsonValue | undefined = {
        speak: { text: this.#pick(texts) },
        vote: this.#pick<JsonObject>([{ target }, { target, why: this.#pick(texts) }, {}]),
        use_ability: this.#pick<JsonValue>([{ ability: 'investigate', target }, target, [1, target]]),
        check_will: this.#pick<JsonValue | undefined>([target, undefined, null]),
      }[tool];
      const toolCallId = `c${this.events.length}`;
      const data = { toolCallId, tool, metadata: {}, ...(input === undefined ? {} : { input }) };
      const { timestamp } = this.#add('agent:tool_call', agentId, data, message);
      this.#open.push({ agentId, toolCallId, tool, input, time: timestamp ?? '', turn: this.#turn });
      this.truth.calls.push(row(this.#name(agentId), tool, input ?? null));
    }
    this.#infer(agentId, message);
  }

  #finishCall(): void {
    const call = this.#pick(this.#open);
    if (call === undefined) return;
    this.#open = this.#open.filter((one) => one !== call);
    const { agentId, toolCallId, tool, input, time, turn } = call;
    const name = this.#name(agentId);
    const status = this.#random() < 0.2 ? 'error' : 'completed';
    const output = this.#pick<JsonValue>(['ok', null, { role: 'Doctor' }, 3]);
    this.#add('agent:tool_result', agentId, { toolCallId, tool, metadata: {}, status, output });
    this.truth.results.push(row(name, tool, status, output));
    if (status === 'error') return;
    const fields = (typeof input === 'object' && input !== null ? input : {}) as JsonObject;
    if (tool === 'speak') this.truth.chat.push(row(time, turn, name, fields.text ?? null));
    if (tool === 'vote')
      this.truth.actions.push(row(time, turn, name, 'VOTE', { voter: name, target: fields.target ?? null }));
    if (tool === 'use_ability') {
      const payload = typeof input === 'object' && !Array.isArray(input) ? fields : { input: input ?? null };
      this.truth.actions.push(row(time, turn, name, 'ABILITY_USE', payload));
    }
  }

  #think(agentId: string, message: EventLinks): void {
    if (this.#random() < 0.5) return;
    const text = `I think ${this.#messages}: ${this.#pick(texts)}`;
    this.#add('agent:thinking', agentId, { text }, message);
    this.truth.thoughts.push(row(this.#name(agentId), text));
  }

  #infer(agentId: string, message: EventLinks): void {
    const usage = {
      inputTokens: this.#below(2_000),
      outputTokens: this.#below(90),
      cacheReadTokens: this.#below(5),
    };
    const durationMs = this.#random() < 0.5 ? {} : { durationMs: this.#below(5_000) / 4 };
    this.#add(
      'agent:inference',
      agentId,
      { model: this.#pick(['m-1', 'unknown']), usage, ...durationMs },
      message,
    );
    const tokens = [usage.inputTokens + usage.cacheReadTokens, usage.outputTokens];
    this.truth.inferences.push(row(this.#name(agentId), tokens, durationMs.durationMs ?? null));
  }

  #message(): EventLinks {
    this.#messages += 1;
    return { messageId: `m${this.#messages}` };
  }

  #add(type: string, agentId: string, data: JsonObject, links: EventLinks = {}): CapturedEvent {
    const passed = this.#pick([0, 0, 1, 1, 7, 1_000, this.#random() < 0.1 ? -5 : 2]);
    // A line from before the start of a game would be in another game.
    this.#time = Math.max(this.#earliest, this.#time + passed);
    if (type === 'game:start') this.#earliest = this.#time;
    const event = parseEvent({
      id: `e${this.events.length}`,
      type,
      timestamp: new Date(this.#time).toISOString(),
      ...(agentId === '' ? {} : { agentId }),
      ...links,
      data,
    });
    this.events.push(event);
    return event;
  }

  #name(agentId: string): string {
    return this.#players.get(agentId) ?? '';
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

export function row(...values: readonly JsonValue[]): string {
  return JSON.stringify(values);
}
