import { z } from 'zod';
import type { JsonObject } from '../json/json.ts';
import { agentEventData, requestEventData, userEventData } from './agent-events.ts';
import { contentEventData } from './content-part.ts';
import { idSchema, recordedTimeSchema } from './fields.ts';
import { harnessEventData, systemEventData } from './harness-events.ts';
import { sessionEventData } from './session-events.ts';

/** The data of every event type that Hansard knows. An event of any other type holds any JSON object. */
export const eventDataSchemas = {
  ...agentEventData,
  ...userEventData,
  ...contentEventData,
  ...requestEventData,
  ...sessionEventData,
  ...harnessEventData,
  ...systemEventData,
} as const;

/** `category:action` in lower snake case. The category `delta` is reserved for pieces that must never be recorded (D8). */
const eventTypePattern = /^(?!delta:)[a-z][a-z0-9_]*:[a-z][a-z0-9_]*$/;

const eventTypeSchema = z.string().regex(eventTypePattern, 'not a category:action in lower snake case');

/** Whether a value is a type that an event may have, known or not. */
export function isEventType(value: unknown): value is EventType {
  return (
    typeof value === 'string' && (Object.hasOwn(eventDataSchemas, value) || eventTypePattern.test(value))
  );
}

/** The fields of every event other than type and data. The order of the keys is the order on the line. */
export const eventFields = {
  id: idSchema,
  type: eventTypeSchema,
  v: z.number().int().positive().optional(),
  timestamp: recordedTimeSchema,
  agentId: idSchema.optional(),
  messageId: idSchema.optional(),
  substance: idSchema.optional(),
  cause: z.union([idSchema, z.array(idSchema).min(1)]).optional(),
  via: idSchema.optional(),
  follows: idSchema.optional(),
  retracts: z.array(idSchema).min(1).optional(),
} as const;

export const eventFieldsSchema = z.object(eventFields);

export type EventType = `${string}:${string}`;
export type KnownEventType = keyof typeof eventDataSchemas;
export type EventData<T extends KnownEventType> = z.infer<(typeof eventDataSchemas)[T]>;

/** The fields of an event other than id, type, timestamp and data. */
export interface EventLinks {
  /** The agent whose transcript or activity this is; absent for the dispatched agent itself. */
  readonly agentId?: string;
  /** Groups the blocks of one model message. */
  readonly messageId?: string;
  /** The event whose content this one carries. Never together with `cause`. */
  readonly substance?: string;
  /** The event or events that caused this new content. Never together with `substance`. */
  readonly cause?: string | readonly string[];
  /**
   * What a delivery passed through: the hook decision that altered or stopped it. In an import also any event that the log
   * names as its cause beside its substance, such as the answer of a translator.
   */
  readonly via?: string;
  /**
   * The entry of the agent's transcript that this one comes after. Absent: the last entry of the agent's current branch. Writers
   * set it on the first entry after a rewind, a load or a loss, and on a late record of a branch that is not the current one.
   */
  readonly follows?: string;
  /** Events of the agent that its engine took back: no later prompt has them. */
  readonly retracts?: readonly string[];
  /** Schema version of the type; 1 if absent. */
  readonly v?: number;
}

/** One thing that happened in a dispatch. Appended once, never changed. */
export interface CapturedEvent extends EventLinks {
  readonly id: string;
  readonly type: EventType;
  /** Null: the source does not record it. No view then gives the event a time, such as the time of another event or of the import. */
  readonly timestamp: string | null;
  readonly data: JsonObject;
}

export interface EventOf<T extends KnownEventType> extends CapturedEvent {
  readonly type: T;
  readonly data: EventData<T>;
}

/** An event before it is recorded. An absent id and timestamp are added; a timestamp that is null stays null. */
export type NewEvent = Omit<CapturedEvent, 'id' | 'timestamp'> & {
  readonly id?: string;
  readonly timestamp?: string | null;
};
