import { hash } from 'node:crypto';
import {
  eventProblem,
  type Fidelity,
  type FileChange,
  findNotJson,
  type JsonObject,
  messageOf,
  type NewEvent,
  preview,
  toNarrative,
  toTimestamp,
} from '@hansard/events';
import { asName, asObject, without } from '../lines/json-fields.ts';
import type { ClaudeActivity } from './event-writer.ts';
import type { OpenCallEvent } from './inferences.ts';
import { linksToUtterances, MappingState } from './mapping-state.ts';
import {
  ephemeralKind,
  MappingStep,
  newNotice,
  openCallsOf,
  type RecordPlace,
  writeNotice,
} from './mapping-step.ts';
import { mapperOf, noteTakenBack } from './message-kinds.ts';

/** Maps the messages of one Agent SDK stream to events and deltas. It keeps state between messages and does no I/O. */
export interface ClaudeMapping {
  /**
   * Maps one message, in order. Nothing is dropped: an unknown kind becomes `system:` and its name, and a value that is
   * not a message becomes `system:notice` with the place where it was read. Never throws.
   */
  map(message: unknown, at?: RecordPlace): ClaudeActivity[];
  /** Notes that a denial of that call is already recorded, so that the stream does not record it again. */
  noteDenied(toolCallId: string): void;
  /** Adds facts about the outcome of a call that the stream does not have (see `ToolOutcome` of `@hansard/provider`). */
  noteOutcome(toolCallId: string, outcome: ClaudeToolOutcome): void;
  /** The events that model messages which are not over become. */
  readonly openCalls: readonly OpenCallEvent[];
  /** Ends the stream: gives the usage of model messages that were still open. */
  finish(end?: StreamEnd): ClaudeActivity[];
}

interface StreamEnd {
  /** Whether the stream may continue: then messages that are not over stay open. Absent: false. */
  readonly mayContinue?: boolean;
}

interface ClaudeToolOutcome {
  readonly metadata?: JsonObject;
  /** The files that the call changed. */
  readonly changes?: readonly FileChange[];
  /** The utterances that the result was made from, by their ids. */
  readonly madeFrom?: readonly string[];
}

export function createClaudeMapping({
  fidelity,
  now = Date.now,
}: {
  /** Whether events include tool input and output (`full`) or not (`narrative`, D7). */
  readonly fidelity: Fidelity;
  /** The time of arrival in milliseconds since 1970, for messages without a time. Null: the messages are not live, and stay without a time. */
  readonly now?: () => number | null;
}): ClaudeMapping {
  const state = new MappingState(fidelity);
  const repeats = new RepeatedMessages();
  return {
    map(value, at = {}) {
      const problem = problemOf(value);
      if (problem !== undefined) {
        const raw = isMappable(value) ? (value as JsonObject) : printed(value);
        const notice = newNotice(problem, at, arrival(now()), raw);
        return [{ kind: 'event', event: fidelity === 'full' ? notice : toNarrative(notice) }];
      }
      const message = value as JsonObject;
      const step = MappingStep.of(state, message, now(), at);
      if (message.type !== ephemeralKind) {
        if (repeats.isRepeat(message)) return [];
        step.writeInferences();
      }
      const failure = mapMessage(step);
      const isEmpty = !step.events.hasEvent && !mayBeSilent(message);
      if (failure !== null || isEmpty) {
        step.events.details = {};
        writeNotice(step, failure ?? 'a message without content', message);
      }
      return step.events.activities.map((activity) => recordable(activity, at, message, fidelity));
    },
    noteDenied(toolCallId) {
      state.denied.add(toolCallId);
    },
    noteOutcome(toolCallId, { metadata = {}, changes, madeFrom = [] }) {
      const reported = changes === undefined ? {} : { changes: [...changes] };
      state.outcomes.set(toolCallId, { metadata, reported, links: linksToUtterances(madeFrom) });
    },
    get openCalls() {
      return openCallsOf(state);
    },
    finish({ mayContinue = false } = {}) {
      const step = MappingStep.of(state, {}, now(), {});
      if (!mayContinue) state.inferences.endAll();
      step.writeInferences();
      return step.events.activities.map((activity) => recordable(activity, {}, undefined, fidelity));
    },
  };
}

/** Maps a message. Returns why the mapping failed, or null. What it wrote before stays. */
function mapMessage(step: MappingStep): string | null {
  const { type, subtype } = step.message;
  try {
    noteTakenBack(step);
    mapperOf(String(type), subtype)(step);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Streamed pieces become deltas, and a `system/init` that repeats the one before says nothing new. */
function mayBeSilent({ type, subtype }: JsonObject): boolean {
  return type === ephemeralKind || (type === 'system' && subtype === 'init');
}

function arrival(time: number | null): string | null {
  return time === null ? null : toTimestamp(time);
}

const ownFields = { id: 'id', timestamp: '2000-01-01T00:00:00.000Z' };

/** The event, or a notice with its id and its message if no store can record the event. */
function recordable(
  activity: ClaudeActivity,
  place: RecordPlace,
  message: JsonObject | undefined,
  fidelity: Fidelity,
): ClaudeActivity {
  if (activity.kind !== 'event') return activity;
  const { event } = activity;
  const problem = eventProblem({ ...ownFields, ...event });
  if (problem === null) return activity;
  const { id, timestamp } = event;
  const notice = newNotice(problem, place, timestamp ?? null, message ?? (event.data as JsonObject));
  const named: NewEvent = id === undefined ? notice : { ...notice, id };
  return { kind: 'event', event: fidelity === 'full' ? named : toNarrative(named) };
}

/** The additional depth of a message inside `data.details` of an event. */
const roomForEvent = 10;

function isMappable(value: unknown): boolean {
  return findNotJson(value, '', roomForEvent) === null;
}

function problemOf(value: unknown): string | undefined {
  if (!isMappable(value))
    return 'not a message: it holds a value that JSON cannot represent, or nests too deep';
  const message = asObject(value as JsonObject);
  if (message === undefined) return 'not a message: not an object';
  return asName(message.type) === undefined ? 'not a message: it has no type' : undefined;
}

function printed(value: unknown): string {
  try {
    return JSON.stringify(value) ?? preview(value);
  } catch {
    return preview(value);
  }
}

/** Finds messages that occur twice in a stream, as after a resume: the same id and the same content. */
class RepeatedMessages {
  readonly #digests = new Set<string>();

  isRepeat(message: JsonObject): boolean {
    if (asName(message.uuid) === undefined) return false;
    const content = without(message, ['timestamp', 'isReplay']);
    const digest = hash('sha1', JSON.stringify(content), 'base64');
    if (this.#digests.has(digest)) return true;
    this.#digests.add(digest);
    return false;
  }
}
