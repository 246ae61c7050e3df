import {
  type CapturedEvent,
  type EventData,
  type EventLinks,
  type EventOf,
  type JsonObject,
  type JsonValue,
  type NewEvent,
  newEvent,
} from '@hansard/events';
import {
  asList,
  asName,
  asText,
  hasFields,
  rawFields,
  recordedTime,
  timestampOf,
  without,
  withoutNull,
  withoutUndefined,
} from '../lines/json-fields.ts';
import { EventWriter } from './event-writer.ts';
import { asEventId } from './ids.ts';
import type { Inference, OpenCallEvent } from './inferences.ts';
import { type AnswerLinks, linksToAnswer, type MappingState } from './mapping-state.ts';
import type { SubAgent } from './sub-agents.ts';
import { otherUsage, usageOf } from './usage.ts';

/** Fields of every message that an event holds in another form: type, id, time and session (in `session:init`). */
export const identityFields = ['type', 'subtype', 'uuid', 'timestamp', 'session_id'] as const;

/**
 * Streamed pieces of messages (`stream_event`) become deltas, which are never recorded (D8). Only their fields about the
 * whole message (usage, stop reason, `ttft_ms`) are kept, in `agent:inference`.
 */
export const ephemeralKind = 'stream_event';

/** Where a message was read. */
export interface RecordPlace {
  readonly file?: string | undefined;
  /** Counted from 1. */
  readonly line?: number | undefined;
}

/** Facts about a message that are needed before it is mapped. */
interface StepFacts {
  /** The id of its first event. */
  readonly id: string | undefined;
  /** Whether the id is already reserved. */
  readonly isTaken?: boolean;
  /** See `EventWriter`. */
  readonly time: number;
  readonly timestamp: string | null;
  /** Fields that its first event holds in another form. */
  readonly held: ReadonlySet<string>;
  readonly place: RecordPlace;
}

/** Maps one message: the message, the state of the mapping, and the events written so far. */
export class MappingStep {
  readonly message: JsonObject;
  readonly state: MappingState;
  readonly place: RecordPlace;
  /** Names the message: its id, or else its place. Undefined: it has neither. */
  readonly recordId: string | undefined;
  readonly events: EventWriter;
  /** Fields whose values are in the event's id, time and type, or in an earlier message of the same session. */
  readonly #held: ReadonlySet<string>;

  /** The step for a message of a stream. `now`: the time for a message without a time. Null: such a message stays without a time. */
  static of(state: MappingState, message: JsonObject, now: number | null, place: RecordPlace): MappingStep {
    const uuid = asEventId(message.uuid);
    const id = uuid === undefined || state.ids.has(uuid) ? undefined : uuid;
    const time = recordedTime(message);
    const held = identityFields.filter(
      (field) =>
        (field !== 'uuid' || id !== undefined) &&
        (field !== 'timestamp' || time !== undefined) &&
        (field !== 'session_id' || message.session_id === state.sessionId),
    );
    const known = time ?? now;
    const timestamp = known === null ? null : timestampOf(known);
    return new MappingStep(state, message, { id, time: known ?? 0, timestamp, held: new Set(held), place });
  }

  constructor(
    state: MappingState,
    message: JsonObject,
    { id, isTaken = false, held, place, ...when }: StepFacts,
  ) {
    this.state = state;
    this.message = message;
    this.place = place;
    this.recordId = id ?? (place.line === undefined ? undefined : `line-${place.line}`);
    this.events = new EventWriter(state.ids, id, when, isTaken, state.fidelity);
    this.#held = held;
    state.sessionId = asText(message.session_id) ?? state.sessionId;
  }

  /** The fields of the message that its event does not hold in another form, without the named ones. */
  others(named: readonly string[] = []): JsonObject {
    return without(this.message, this.#held, named);
  }

  /** Puts those fields into the `details` of the first event. Null values are left out. */
  keepOthers(named: readonly string[]): void {
    this.events.details = withoutNull(this.message, this.#held, named);
  }

  /** Notes the uuids of the messages that this one retracts. The engine deletes such messages from its file, so some are unknown. */
  takeBack(uuids: JsonValue | undefined): void {
    const { ids, horizon } = this.state;
    const known = (asList(uuids) ?? []).flatMap((value) => {
      const uuid = asEventId(value);
      if (uuid === undefined) return [];
      if (!ids.has(uuid)) horizon.missed();
      const events: string[] = [];
      for (let id = uuid; ids.has(id); id = `${uuid}.${events.length}`) events.push(id);
      return events;
    });
    this.events.retracts = [...this.events.retracts, ...known];
  }

  /** The sub-agent that the message belongs to; undefined for the dispatched agent. */
  agent(): SubAgent | undefined {
    const { agent_id, parent_tool_use_id } = this.message;
    return this.state.agents.resolve(asName(agent_id), asName(parent_tool_use_id));
  }

  /**
   * Writes the `agent:created` of a sub-agent once. `about` is a message that describes the agent. One that waits for its call
   * is written once the call is known.
   */
  announce(agent: SubAgent | undefined, languageModel?: string, about = this.message): void {
    if (agent === undefined || agent.announced) return;
    if (agent.waiting === undefined) this.writeCreated(agent, about, this.events.timestamp, languageModel);
    else if (agent.toolCallId !== undefined)
      this.writeCreated(agent, agent.waiting.about, agent.waiting.timestamp);
  }

  /** Writes the `agent:created` of a sub-agent, with the call that started it if that is known. */
  writeCreated(agent: SubAgent, about: JsonObject, timestamp: string | null, languageModel?: string): void {
    agent.announced = true;
    const call = this.state.calls.get(agent.toolCallId);
    const { subagent_type, task_description } = about;
    const name = asText(subagent_type) ?? asText(call?.metadata.subagentType);
    // It begins with the transcript of its caller.
    const inherits =
      agent.inherits === undefined
        ? undefined
        : { ...(call?.agentId !== undefined && { agentId: call.agentId }), through: agent.inherits };
    const details = { tool_use_id: agent.toolCallId, description: asText(task_description) };
    this.events.derived(
      `${agent.id}:created`,
      'agent:created',
      withoutUndefined({ name, languageModel, inherits, details: withoutUndefined(details) }),
      { agentId: agent.id, cause: call?.reference },
      timestamp,
    );
  }

  /** The links of a message that carries the report of a sub-agent. `output`: the result as the tool returned it. */
  linksToReport(agent: SubAgent, output: JsonObject | undefined, text: string): AnswerLinks {
    return linksToAnswer(this.state.answers.get(agent.id), output, text);
  }

  /** Writes one `agent:inference` for each model message that is over. */
  writeInferences(): void {
    for (const inference of this.state.inferences.takeOver()) this.#writeInference(inference);
  }

  #writeInference(inference: Inference): void {
    const { agent, messageId, id, model, timestamp } = inference;
    const data = inferenceData(inference);
    if (data === null || (id !== undefined && this.state.ids.has(id))) return;
    this.announce(agent, model, {});
    this.events.derived(id, 'agent:inference', data, { agentId: agent?.id, messageId }, timestamp);
  }
}

/** The data of an `agent:inference`; null if its usage is not known. */
function inferenceData({
  model = 'unknown',
  usage,
  stopReason,
  details,
}: Inference): EventData<'agent:inference'> | null {
  const counted = usageOf(usage);
  if (counted === undefined) return null;
  const more = withoutUndefined({ ...details, usage: nonEmpty(otherUsage(usage)) });
  return withoutUndefined({ model, usage: counted, stopReason, details: nonEmpty(more) });
}

/** The events that the messages which are not over become, as far as the source has them: one for each id, by time. */
export function openCallsOf({ inferences, ids }: MappingState): OpenCallEvent[] {
  const events = new Map<string, OpenCallEvent>();
  for (const inference of inferences.open) {
    const { id, agent, messageId, timestamp } = inference;
    const data = inferenceData(inference);
    if (data === null || id === undefined || ids.has(id)) continue;
    const links = withoutUndefined({ agentId: agent?.id, messageId }) as EventLinks;
    const event = { id, type: 'agent:inference' as const, timestamp, ...links, data };
    const other = events.get(id);
    // Two agents can have one message, because one began with the other's.
    if (other === undefined || isLess(other, event)) events.set(id, event);
  }
  for (const late of inferences.lateUsage((id) => ids.has(id))) {
    const { id, agentId, messageId, model = 'unknown', usage, timestamp, isMore } = late;
    const counted = usageOf(usage);
    if (counted === undefined) continue;
    const links = withoutUndefined({ agentId, messageId, isMore }) as EventLinks &
      Pick<OpenCallEvent, 'isMore'>;
    events.set(id, { id, type: 'agent:inference', timestamp, ...links, data: { model, usage: counted } });
  }
  const placeOf = ({ timestamp, id }: CapturedEvent) => `${timestamp ?? ''} ${id}`;
  return [...events.values()].sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
}

function isLess(one: EventOf<'agent:inference'>, other: EventOf<'agent:inference'>): boolean {
  const order = one.data.usage.outputTokens - other.data.usage.outputTokens;
  return order < 0 || (order === 0 && (one.agentId ?? '') > (other.agentId ?? ''));
}

function nonEmpty(fields: JsonObject): JsonObject | undefined {
  return hasFields(fields) ? fields : undefined;
}

/** Keeps a message that could not be mapped, with its place. */
export function writeNotice(step: MappingStep, problem: string, raw: JsonValue): void {
  step.events.event('system:notice', noticeData(problem, step.place, raw));
}

/** A notice of a value that is not a message. */
export function newNotice(
  problem: string,
  place: RecordPlace,
  timestamp: string | null,
  raw?: JsonValue,
): NewEvent {
  return newEvent('system:notice', noticeData(problem, place, raw), { timestamp });
}

function noticeData(problem: string, { file, line }: RecordPlace, raw: JsonValue | undefined): JsonObject {
  return withoutUndefined({ problem, file, line, ...(raw === undefined ? {} : rawFields(raw)) });
}
