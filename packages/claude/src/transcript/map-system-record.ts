import type { EventType, JsonObject } from '@hansard/events';
import { unknownEventType } from '../values/event-type.ts';
import { asName } from '../values/json-fields.ts';
import type { TranscriptStep } from './transcript-step.ts';

/** A record without an event type of its own, with all its fields: `system:` and the type or subtype of the record. */
export function mapOther(step: TranscriptStep): void {
  const { type, subtype } = step.message;
  const words = type === 'system' ? [subtype] : [type, subtype];
  const word = words.map(asName).filter((name) => name !== undefined);
  writeAs(step, unknownEventType('system', word.join('_')), step.others());
}

/** A change of the session's state: `session:status`, with the type of the record as `kind`. */
export function mapStatus(step: TranscriptStep): void {
  const { type, subtype } = step.message;
  writeAs(step, 'session:status', { kind: asName(subtype) ?? type ?? null, ...step.others() });
}

/** The end of a turn, and so of its last message. */
export function mapTurnEnd(step: TranscriptStep): void {
  step.state.inferences.end(step.agent());
  step.writeInferences();
  if (step.message.subtype === 'turn_duration') mapStatus(step);
  else mapOther(step);
}

/** Writes an event of the agent that the record belongs to. */
export function writeAs(step: TranscriptStep, type: EventType, data: JsonObject): void {
  const agent = step.agent();
  step.announce(agent);
  step.events.other(type, data, { agentId: agent?.id });
}
