import {
  type CapturedEvent,
  type DispatchStatus,
  type Fidelity,
  type JsonObject,
  type JsonValue,
  preview,
  toNarrative,
  toTimestamp,
} from '@hansard/events';
import type { ClaudeDiagnosticCode } from '../json-lines/claude-diagnostic.ts';
import type { LogPart } from '../json-lines/log-parts.ts';
import { isStorable } from '../json-lines/storable.ts';
import { MappingStep } from '../mapping/mapping-step.ts';
import { asBlocks } from '../messages/map-block.ts';
import { isToolResult } from '../messages/map-tool-result.ts';
import { asEventId, asId } from '../values/ids.ts';
import { asName, asObject } from '../values/json-fields.ts';
import { rawFields } from '../values/raw-value.ts';
import { longestStepBack, recordedTime } from '../values/recorded-time.ts';
import { mapRecord } from './map-record.ts';
import { ParentCheck } from './parent-check.ts';
import { TranscriptState } from './transcript-state.ts';
import { TranscriptStep } from './transcript-step.ts';
import { TurnStatus } from './turn-status.ts';

export interface TranscriptMappingOptions {
  readonly fidelity: Fidelity;
  readonly report: (code: ClaudeDiagnosticCode, line: number, message: string) => void;
  /** The id of a session whose file begins with records of another one. */
  readonly continuation?: string | undefined;
}

/** A file of a session. */
export interface TranscriptPart {
  /** Names records without an id; absent for the session itself. */
  readonly name?: string | undefined;
  /** Milliseconds since 1970, for records before the first one with a time. */
  readonly startsAt: number;
  /** The content of the metadata file beside a sub-agent's transcript. */
  readonly meta?: JsonObject | undefined;
}

/** The state of the mapping of one file, so that several files can be read by turns. */
export interface FileState {
  readonly prefix: string;
  readonly meta: JsonObject;
  readonly parents: ParentCheck;
  clock: number;
  latest: number;
  /** The uuid of the record before, which is the parent of most records. */
  latestUuid: string | undefined;
  /** The session that the latest record named. Undefined before the first record. */
  conversation: string | undefined;
}

/** Maps the files of one session to events. It does no I/O. */
export class TranscriptMapping {
  readonly #state: TranscriptState;
  readonly #report: TranscriptMappingOptions['report'];
  #file: FileState;
  readonly #turn = new TurnStatus();
  #latestOfAll = 0;

  constructor({ fidelity, report, continuation }: TranscriptMappingOptions) {
    this.#state = new TranscriptState(fidelity, report);
    this.#state.continuation = continuation;
    this.#report = report;
    this.#file = this.open({ startsAt: 0 });
  }

  /** Opens a file. Its records are mapped while it is entered. */
  open({ name, startsAt, meta = {} }: TranscriptPart): FileState {
    return {
      prefix: name === undefined ? '' : `${asId(name) ?? 'file'}:`,
      meta,
      parents: new ParentCheck(this.#state.records),
      clock: startsAt,
      latest: startsAt,
      latestUuid: undefined,
      conversation: undefined,
    };
  }

  /** The parts that are mapped next are from this file. */
  enter(file: FileState): void {
    this.#file.conversation = this.#state.conversation;
    this.#file = file;
    this.#state.agentMeta = file.meta;
    this.#state.conversation = file.conversation ?? this.#state.conversation;
  }

  /** The sub-agent that a record names as the author of a tool result, and the time of the record. */
  reportedAgent(part: LogPart): { readonly agentId: string; readonly time: number } | undefined {
    const record = part.kind === 'record' ? asObject(part.record) : undefined;
    const output = asObject(record?.toolUseResult);
    const agentId = asName(output?.agentId);
    if (record === undefined || agentId === undefined) return undefined;
    const results = asBlocks(asObject(record.message)?.content)?.filter(isToolResult) ?? [];
    const toolCallId = asName(results[0]?.tool_use_id);
    if (results.length !== 1 || toolCallId === undefined) return undefined;
    this.#state.agents.resolve(agentId, toolCallId);
    if (output?.status === 'async_launched') return undefined;
    return { agentId, time: recordedTime(record) ?? this.#file.clock };
  }

  /** The events of one part of a file. Each has an id and a time; no two have the same id. */
  map(part: LogPart): CapturedEvent[] {
    const place = `${this.#file.prefix}line-${part.line}${part.part === 1 ? '' : `:${part.part}`}`;
    if (part.kind === 'damaged') {
      const raw = part.raw === undefined ? {} : rawFields(part.raw);
      return [this.#notice(place, { problem: part.problem, line: part.line, ...raw })];
    }
    const record = asObject(part.record);
    const problem = this.#problemOf(part.record, record);
    if (record === undefined || problem !== undefined) {
      this.#report(problem?.code ?? 'not_an_object', part.line, `${problem?.text}; it is kept as a notice.`);
      return [this.#notice(place, { problem: problem?.text ?? '', line: part.line, ...problem?.raw })];
    }
    const id = this.#idOf(record, part, place);
    if (id === null) return [];
    const step = new TranscriptStep(this.#state, record, id, this.#timeOf(record, part.line), part.line);
    this.#checkReference('parent', record.parentUuid, part.line);
    this.#checkReference('logical parent', record.logicalParentUuid, part.line);
    this.#file.latestUuid = asName(record.uuid) ?? this.#file.latestUuid;
    mapRecord(step);
    if (record.isSidechain !== true) this.#turn.observe(record);
    return this.#finish(step, place);
  }

  /** Ends a file: parents that have not arrived are missing. Returns the events of messages that are over. */
  endFile(): CapturedEvent[] {
    this.#file.parents.end();
    this.#state.inferences.endOver();
    const step = MappingStep.of(this.#state, {}, this.#file.clock, {});
    step.writeInferences();
    return this.#finish(step, `${this.#file.prefix}end`);
  }

  /** The status of the session after the latest record. */
  get status(): DispatchStatus {
    return this.#turn.status;
  }

  /** The latest time of all records, in milliseconds since 1970; 0 if none has a time. */
  get latest(): number {
    return this.#latestOfAll;
  }

  #problemOf(
    value: JsonValue,
    record: JsonObject | undefined,
  ): { code: ClaudeDiagnosticCode; text: string; raw: JsonObject } | undefined {
    if (!isStorable(value)) {
      const text = 'A value that nests too deep, or holds a number that is too large';
      return { code: 'wrong_value', text, raw: rawFields(printed(value)) };
    }
    if (record === undefined)
      return { code: 'not_an_object', text: 'A value that is not an object', raw: { raw: value } };
    if (asName(record.type) === undefined)
      return { code: 'unknown_kind', text: 'A record without a type', raw: { raw: value } };
    return undefined;
  }

  /** The id of the record's first event; null if the record is a repetition. */
  #idOf(record: JsonObject, { line, checksum }: LogPart, place: string): string | null {
    const uuid = asName(record.uuid);
    if (uuid === undefined) return place;
    const sighting = this.#state.records.see(uuid, checksum);
    if (sighting.kind === 'repeated') {
      this.#report('id_repeated', line, `The record ${uuid} occurs again; it is kept once.`);
      return null;
    }
    this.#file.parents.arrived(uuid);
    const id = asEventId(uuid);
    if (id === undefined) this.#report('id_missing', line, `No event can have the id ${preview(uuid)}.`);
    if (sighting.kind === 'first') return id ?? place;
    const other = `${id ?? place}:${sighting.number}`;
    this.#report(
      'id_taken',
      line,
      `Another record has the id ${preview(uuid)}; this one is kept as ${other}.`,
    );
    return other;
  }

  #timeOf(record: JsonObject, line: number): number {
    const time = recordedTime(record);
    if (time === undefined) {
      if (asName(record.uuid) !== undefined)
        this.#report('time_missing', line, 'A record without a time; it gets the latest time before it.');
      return this.#file.clock;
    }
    if (time < this.#file.latest - longestStepBack)
      this.#report(
        'time_goes_back',
        line,
        `The time goes back by ${this.#file.latest - time} ms; it is kept unchanged.`,
      );
    this.#file.latest = time;
    this.#file.clock = Math.max(this.#file.clock, time);
    this.#latestOfAll = Math.max(this.#latestOfAll, time);
    return time;
  }

  #checkReference(role: string, value: JsonValue | undefined, line: number): void {
    const uuid = asName(value);
    if (uuid === undefined || uuid === this.#file.latestUuid || this.#state.records.has(uuid)) return;
    this.#file.parents.check(uuid, line, (isAhead) => {
      const where = isAhead ? 'comes after the record' : 'is not in the transcript';
      this.#report(
        isAhead ? 'reference_ahead' : 'reference_missing',
        line,
        `The ${role} ${preview(uuid)} ${where}.`,
      );
    });
  }

  #finish({ events }: MappingStep, place: string): CapturedEvent[] {
    const { ids } = this.#state;
    const captured: CapturedEvent[] = [];
    for (const [index, activity] of events.activities.entries()) {
      if (activity.kind !== 'event') continue;
      const { event } = activity;
      // If another event of the file has that id, the place names this one.
      const id = event.id ?? ids.claim(`${place}.${index}`) ?? `${place}..${index}`;
      captured.push(event.id === undefined ? ({ ...event, id } as CapturedEvent) : (event as CapturedEvent));
    }
    return captured;
  }

  #notice(place: string, data: JsonObject): CapturedEvent {
    const id = this.#state.ids.claim(place) ?? `${place}..0`;
    const notice: CapturedEvent = {
      id,
      type: 'system:notice',
      timestamp: toTimestamp(this.#file.clock),
      data,
    };
    return this.#state.fidelity === 'full' ? notice : toNarrative(notice);
  }
}

function printed(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch {
    return preview(value);
  }
}
