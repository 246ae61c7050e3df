import type { JsonObject, JsonValue } from '@hansard/events';
import type { ClaudeDiagnosticCode } from '../lines/claude-diagnostic.ts';
import { asName, asText, isUtcTime, recordedTime, timestampOf } from '../lines/json-fields.ts';
import { unknownEventType } from './event-writer.ts';
import { asEventId } from './ids.ts';
import type { AnswerLinks } from './mapping-state.ts';
import { MappingStep } from './mapping-step.ts';
import type { SubAgent } from './sub-agents.ts';
import type { TranscriptState } from './transcript-state.ts';

/** Maps one record of a transcript. */
export class TranscriptStep extends MappingStep {
  readonly transcript: TranscriptState;
  readonly line: number;
  /** Whether the record is from the progress of an agent. */
  readonly isFromProgress: boolean;

  /** `time`: see `EventWriter`. */
  constructor(
    state: TranscriptState,
    record: JsonObject,
    id: string,
    time: number,
    line: number,
    isFromProgress = false,
  ) {
    super(state, record, {
      id,
      isTaken: id === record.uuid,
      time,
      timestamp: recordedTime(record) === undefined ? null : timestampOf(time),
      held: isFromProgress ? heldOfProgress : heldElsewhere(state, record, id),
      place: nowhere,
    });
    this.transcript = state;
    this.line = line;
    this.isFromProgress = isFromProgress;
    const conversation = asName(record.sessionId) ?? state.conversation;
    const isOwn = state.continues !== undefined && conversation === state.session;
    const isExpected = conversation === state.conversation || isOwn;
    if (state.conversation !== undefined && !isExpected)
      this.report('session_changed', `The records of the session ${conversation} begin here.`);
    state.conversation = conversation;
  }

  report(code: ClaudeDiagnosticCode, message: string): void {
    this.transcript.report(code, this.line, message);
  }

  /** The sub-agent that the record belongs to, by name or, for records without a name, by their thread. */
  override agent(): SubAgent | undefined {
    return this.transcript.sidechains.agentOf(this.message);
  }

  /** An agent that is named before the call that started it waits for the call. */
  override announce(agent: SubAgent | undefined): void {
    if (agent === undefined || agent.announced) return;
    if (this.message.isSidechain === true) {
      const { agentType, description, name, taskKind } = this.transcript.agentMeta;
      const about = { subagent_type: name ?? agentType ?? null, task_description: description ?? null };
      // The result of its call names a teammate, if there is one, and comes before its records.
      const isNamed = agent.toolCallId !== undefined || this.state.calls.isOpenSince(this.events.time);
      const isAlone = taskKind === 'in_process_teammate' && !isNamed;
      if (isAlone) this.state.horizon.missed();
      if (isAlone || asName(this.message.agentId) === undefined) super.announce(agent, undefined, about);
      else agent.waiting ??= { time: this.events.time, timestamp: this.events.timestamp, about };
    }
    // The file beside the records may be written before the call.
    const isCalled = agent.isLinked !== true || this.state.calls.has(agent.toolCallId);
    if (agent.waiting !== undefined && isCalled) super.announce(agent);
  }

  /**
   * A file of a sub-agent can appear after the record that carries its report, and events never change. So the record names the report
   * by an id of its own, and `system:agent_report` says which answer that is.
   */
  override linksToReport(agent: SubAgent, output: JsonObject | undefined, text: string): AnswerLinks {
    const links = super.linksToReport(agent, output, text);
    const id = asEventId(`${this.recordId}:report`);
    if (id === undefined) return links;
    const isKnown = links.substance !== undefined || links.cause !== undefined;
    if (isKnown && !this.state.ids.has(id))
      this.events.derived(id, reportType, {}, { agentId: agent.id, ...links });
    return { substance: id };
  }

  /** Keeps a whole record that could be read but not mapped. */
  notice(problem: string, raw: JsonValue): void {
    this.events.event('system:notice', { problem, line: this.line, raw });
  }
}

const nowhere = {};
const reportType = unknownEventType('system', 'agent_report');

/** Fields whose values are in the event's id, time and type, or in an earlier record of the same session. */
function heldElsewhere(
  { conversation }: TranscriptState,
  record: JsonObject,
  id: string,
): ReadonlySet<string> {
  const { uuid, sessionId, session_id } = record;
  const hasId = uuid === id;
  const hasTime = recordedTime(record) !== undefined && isUtcTime(record);
  const hasSession = asText(sessionId) === conversation;
  if (hasId && hasTime && hasSession && session_id === undefined) return usuallyHeld;
  const held = new Set(['type', 'subtype']);
  if (hasId) held.add('uuid');
  if (hasTime) held.add('timestamp');
  if (hasSession) held.add('sessionId');
  if (session_id === sessionId) held.add('session_id');
  return held;
}

const usuallyHeld: ReadonlySet<string> = new Set(['type', 'subtype', 'uuid', 'timestamp', 'sessionId']);

/** The time of such a record is that of its event, or the event has none. */
const heldOfProgress: ReadonlySet<string> = new Set(['type', 'uuid', 'timestamp', 'isSidechain']);
