import {
  type CapturedEvent,
  type DispatchEnvelope,
  formatErrors,
  type HansardError,
  isEventOf,
  type JsonValue,
  type TaskSource,
} from '@hansard/events';
import { matchesEventType } from '@hansard/events/plain';
import type { TokenCounter } from '@hansard/prompt';
import { createTextSplitter } from '@hansard/views';
import { type GameMapping, type GameMappingInput, parseGameMapping } from '../game-streams/game-mapping.ts';
import { AgentCalls, type CallSetting, TrainedBranches } from './agent-calls.ts';
import { type CallRun, CallRuns, runOf } from './conversation.ts';
import { InferenceRecords } from './inference-records.ts';
import { type MeasureMessage, type ReasoningMode, RowFiles, type RowOptions } from './rows.ts';
import type { CallOrDropped, DroppedCall } from './training-call.ts';
import { type TrainingFormat, type TrainingFormatId, trainingFormats } from './training-formats.ts';

/** Without a mapping: events of a game that state a `player` and its `role`, or `roles` by player. */
const usual = { events: ['game:*'], player: 'player', role: 'role', players: 'roles' };

/** The content of rows: the calls that they train and the form in which they do. */
export interface TrainingContent {
  readonly format: TrainingFormatId;
  /** The agents that are trained, by name or id. Absent: all. */
  readonly agents?: readonly string[];
  /** One of the format's `thoughts`. Absent: `drop`, except that `sft` always has the thoughts (G5). */
  readonly reasoning?: ReasoningMode;
  /** Definitions of the tools, copied into each row. Absent: those that the log has for the calls of a row. */
  readonly tools?: readonly JsonValue[];
  /** Names the turns and roles of a game. */
  readonly mapping?: GameMappingInput;
  /** Creates the token counter for an id in records of `faded` prompts; undefined if it is unknown. */
  readonly tokens?: (counterId: string) => Promise<TokenCounter | undefined>;
}

/** Learns what a reading skips. */
export interface ReadingTally {
  addEvent(event: CapturedEvent): void;
  drop(dropped: DroppedCall): void;
}

/** The calls of a task's dispatches. Each reading gives the same calls: events that are recorded after the first one are not in it. */
export class TrainingSource {
  readonly format: TrainingFormat;
  readonly row: RowOptions;
  /** Dispatches with input and output of tools, and the others. */
  readonly full: readonly DispatchEnvelope[];
  readonly narrative: readonly DispatchEnvelope[];
  readonly #source: TaskSource;
  readonly #content: TrainingContent;
  readonly #agents: AgentFilter | undefined;
  readonly #mapping: GameMapping | undefined;
  /** The events of each dispatch at its first reading. */
  readonly #events = new Map<string, number>();

  /** @throws as `writeTrainingData` */
  constructor(source: TaskSource, content: TrainingContent) {
    this.#source = source;
    this.#content = content;
    this.format = trainingFormats[content.format];
    this.#agents = content.agents === undefined ? undefined : new AgentFilter(content.agents);
    this.#mapping = content.mapping === undefined ? undefined : parseGameMapping(content.mapping);
    this.row = rowOptions(this.format, content, this.#mapping?.parts);
    this.full = source.envelopes.filter(({ fidelity }) => fidelity === 'full');
    this.narrative = source.envelopes.filter(({ fidelity }) => fidelity !== 'full');
    if (this.full.length === 0 && this.narrative.length > 0) throw notFull(this.narrative);
  }

  /** Requested agents without an event in what was read. */
  get missingAgents(): readonly string[] {
    return this.#agents?.missing ?? [];
  }

  /** The calls of a dispatch in the runs that become its rows. With `measure`, prompts know their size. */
  async *runsOf(
    envelope: DispatchEnvelope,
    tally: ReadingTally,
    measure?: MeasureMessage,
  ): AsyncGenerator<CallRun> {
    const records = await this.#recordsOf(envelope);
    const counters = await countersFor(records, this.#content);
    const [mapping, agents] = [this.#mapping, this.#agents];
    const events = this.#source.readEvents(envelope.dispatchId);
    const branches = records.isBranched ? await TrainedBranches.read(events, records.events) : null;
    const copied = (await this.#source.copiedEvents?.(envelope.dispatchId)) ?? null;
    const calls = new DispatchCalls({
      envelope,
      records,
      counters,
      mapping,
      agents,
      measure,
      branches,
      copied,
      split: this.row.split,
    });
    const runs = new CallRuns({ showsThoughtsAsText: this.row.reasoning === 'think-tags' });
    const take = (found: readonly CallOrDropped[]): CallRun[] =>
      found.flatMap((entry) => {
        if (entry.kind === 'call')
          return this.format.rows === 'calls' ? [runOf(entry.call)] : runs.add(entry.call);
        tally.drop(entry.dropped);
        return [];
      });
    const { files } = this.row;
    files.begin({ keepsBytes: measure === undefined && this.format.hasImages });
    let read = 0;
    for await (const event of this.#source.readEvents(envelope.dispatchId)) {
      if (read === records.events) break;
      read += 1;
      tally.addEvent(event);
      files.add(event);
      yield* take(calls.add(event));
    }
    yield* take(calls.finish());
    yield* runs.finish();
  }

  async #recordsOf({ dispatchId }: DispatchEnvelope): Promise<InferenceRecords> {
    const count = this.#events.get(dispatchId);
    const records = new InferenceRecords();
    for await (const event of this.#source.readEvents(dispatchId)) {
      if (records.events === count) break;
      records.add(event);
    }
    this.#events.set(dispatchId, records.events);
    return records;
  }
}

function rowOptions(
  { id, thoughts }: TrainingFormat,
  { reasoning, tools }: TrainingContent,
  parts: GameMapping['parts'],
): RowOptions {
  if (reasoning !== undefined && !thoughts.includes(reasoning))
    throw new TypeError(
      thoughts.length === 0
        ? `The format ${id} always includes the thoughts, in its own form.`
        : `The format ${id} can't have thoughts as ${reasoning}; it can: ${thoughts.join(', ')}.`,
    );
  const split = thoughts.length === 0 || parts === undefined ? null : createTextSplitter(parts);
  return { reasoning: reasoning ?? 'drop', tools, files: new RowFiles(), split };
}

function notFull(envelopes: readonly DispatchEnvelope[]): HansardError {
  const ids = envelopes.map(({ dispatchId }) => dispatchId);
  return formatErrors.error(
    'FORMAT_NOT_FULL',
    `No training data can be written from ${ids.slice(0, 3).join(', ')}${ids.length > 3 ? ' …' : ''}: ` +
      'input and output of tools were not recorded (fidelity narrative), so the prompts of the model are unknown.',
    { details: { dispatchIds: ids } },
  );
}

async function countersFor(
  { counters }: InferenceRecords,
  { tokens }: TrainingContent,
): Promise<ReadonlyMap<string, TokenCounter>> {
  const found = new Map<string, TokenCounter>();
  for (const id of counters) {
    const counter = await tokens?.(id);
    if (counter !== undefined) found.set(id, counter);
  }
  return found;
}

interface DispatchCallsOptions {
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
  readonly branches: TrainedBranches | null;
  /** The events that are copied from another dispatch. */
  readonly copied: ReadonlyMap<string, string> | null;
  readonly split: RowOptions['split'];
}

/** Some agents, by name or id. */
class AgentFilter {
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
class DispatchCalls {
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
    return { agentName, agentRole, turn: this.#turn, outcome: this.#options.envelope.status };
  }

  #callsOf(agentId: string): AgentCalls {
    const known = this.#agents.get(agentId);
    if (known !== undefined) return known;
    const { envelope, agents: _agents, mapping: _mapping, ...options } = this.#options;
    const calls = new AgentCalls({ dispatchId: envelope.dispatchId, agentId, ...options });
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
