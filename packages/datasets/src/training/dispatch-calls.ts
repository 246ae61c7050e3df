import { type CapturedEvent, type DispatchEnvelope, isEventOf } from '@hansard/events';
import { matchesEventType } from '@hansard/events/plain';
import type { TokenCounter } from '@hansard/prompt';
import type { GameMapping } from '../game-streams/game-mapping.ts';
import { AgentCalls, type CallSetting } from './agent-calls.ts';
import type { InferenceRecords } from './inference-records.ts';
import type { MeasureMessage } from './rows/row-size.ts';
import type { CallOrDropped } from './training-call.ts';

/** Without a mapping: events of a game that state a `player` and its `role`, or `roles` by player. */
const usual = { events: ['game:*'], player: 'player', role: 'role', players: 'roles' };

export interface DispatchCallsOptions {
  readonly envelope: DispatchEnvelope;
  /** The inferences of all its events. */
  readonly records: InferenceRecords;
  /** The counters that the records name, by id. */
  readonly counters: ReadonlyMap<string, TokenCounter>;
  /** Names turns and the events of roles. If absent, there is no turn. */
  readonly mapping?: GameMapping | undefined;
  /** The agents that are trained, by name or id. Absent: all. */
  readonly agents?: AgentFilter | undefined;
  /** Measures the messages of prompts. */
  readonly measure?: MeasureMessage | undefined;
}

/** Some agents, by name or id. */
export class AgentFilter {
  readonly #wanted: ReadonlySet<string>;
  readonly #missing: Set<string>;

  constructor(agents: Iterable<string>) {
    this.#wanted = new Set(agents);
    this.#missing = new Set(this.#wanted);
  }

  /** The agents without an event so far. */
  get missing(): readonly string[] {
    return [...this.#missing];
  }

  has(agentId: string, name: string): boolean {
    for (const word of [agentId, name]) this.#missing.delete(word);
    return this.#wanted.has(agentId) || this.#wanted.has(name);
  }
}

/** Finds the model calls of a dispatch while its events arrive, in order for each agent. */
export class DispatchCalls {
  readonly #options: DispatchCallsOptions;
  readonly #agents = new Map<string, AgentCalls>();
  readonly #names = new Map<string, string>();
  readonly #roles: RecordedRoles;
  #turn: string;

  constructor(options: DispatchCallsOptions) {
    this.#options = options;
    this.#roles = new RecordedRoles(options.mapping);
    this.#turn = options.mapping?.turn.first ?? '';
  }

  add(event: CapturedEvent): CallOrDropped[] {
    const { agentId = '' } = event;
    this.#learn(event, agentId);
    const { agents } = this.#options;
    if (agents?.has(agentId, this.#nameOf(agentId)) === false) return [];
    return this.#callsOf(agentId).add(event, () => this.#setting(agentId));
  }

  finish(): CallOrDropped[] {
    return [...this.#agents.values()].flatMap((calls) => calls.finish());
  }

  #learn(event: CapturedEvent, agentId: string): void {
    const { mapping } = this.#options;
    if (isEventOf(event, 'agent:created') && event.data.name !== undefined)
      this.#names.set(agentId, event.data.name);
    this.#roles.add(event);
    if (mapping === undefined) return;
    const { turn } = mapping;
    const named = event.data[turn.field];
    if (typeof named === 'string' && turn.events.some((pattern) => matchesEventType(pattern, event.type)))
      this.#turn = named;
  }

  /** The dispatched agent without an id has the role of the dispatch as its name. */
  #nameOf(agentId: string): string {
    return this.#names.get(agentId) ?? (agentId === '' ? this.#options.envelope.role : agentId);
  }

  #setting(agentId: string): CallSetting {
    const agentName = this.#nameOf(agentId);
    const known = this.#roles.of(agentName, agentId);
    // The dispatch has the role of the dispatched agent only.
    const agentRole = known ?? (agentId === '' ? this.#options.envelope.role : '');
    return { agentName, agentRole, turn: this.#turn };
  }

  #callsOf(agentId: string): AgentCalls {
    const known = this.#agents.get(agentId);
    if (known !== undefined) return known;
    const { envelope, records, counters, measure } = this.#options;
    const calls = new AgentCalls({ dispatchId: envelope.dispatchId, agentId, records, counters, measure });
    this.#agents.set(agentId, calls);
    return calls;
  }
}

/** The roles of players as far as the events of the game have stated them. Nothing is assumed about a player before that. */
class RecordedRoles {
  readonly #rule: NonNullable<GameMapping['roles']>;
  readonly #roles = new Map<string, string>();

  constructor(mapping: GameMapping | undefined) {
    this.#rule = mapping?.roles ?? usual;
  }

  add({ type, data }: CapturedEvent): void {
    const { events, player, role, players } = this.#rule;
    if (!events.some((pattern) => matchesEventType(pattern, type))) return;
    this.#learn(data[player], data[role]);
    const byPlayer = players === undefined ? undefined : data[players];
    if (typeof byPlayer !== 'object' || byPlayer === null || Array.isArray(byPlayer)) return;
    for (const [name, given] of Object.entries(byPlayer)) this.#learn(name, given);
  }

  /** By the name or else the id of an agent. */
  of(name: string, agentId: string): string | undefined {
    return this.#roles.get(name) ?? this.#roles.get(agentId);
  }

  #learn(player: unknown, role: unknown): void {
    if (typeof player === 'string' && typeof role === 'string') this.#roles.set(player, role);
  }
}
