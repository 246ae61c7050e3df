import { crc32 } from 'node:zlib';
import { type Fidelity, type JsonObject, type JsonValue, preview } from '@hansard/events';
import type { ClaudeDiagnosticCode } from '../lines/claude-diagnostic.ts';
import { asName, asObject, rawFields } from '../lines/json-fields.ts';
import { isStorable, type LogPart } from '../lines/log-parts.ts';
import { asBlocks } from './blocks.ts';
import { RecentMap } from './horizon.ts';
import { asEventId, type EventIds, IdTable } from './ids.ts';
import { MappingState } from './mapping-state.ts';
import type { SubAgent, SubAgents } from './sub-agents.ts';

/** Whether the `uuid` of a record was seen before. */
type Sighting =
  | { readonly kind: 'first' }
  /** The same record again, or the same message in a record with other fields. */
  | { readonly kind: 'repeated' }
  /** Another record with a known uuid. The numbers begin at 2. */
  | { readonly kind: 'other'; readonly number: number };

const first: Sighting = { kind: 'first' };

/** The uuids of all records, which are the ids of their events, and checksums of the records' content. */
class SeenRecords {
  readonly #ids: EventIds;

  constructor(ids: EventIds) {
    this.#ids = ids;
  }

  has(uuid: string): boolean {
    return this.#ids.has(uuid);
  }

  /** Reserves the uuid for the record's event, if it is new. `line`: computes the checksum of the text of the record, which few records need. */
  see(uuid: string, record: JsonObject, line: Pick<LogPart, 'checksum'>): Sighting {
    const checksum = messageChecksum(record) ?? noteChecksum(record) ?? line.checksum;
    for (let number = 1; ; number += 1) {
      const key = number === 1 ? uuid : `${uuid}\n${number}`;
      if (this.#ids.take(key, checksum)) return number === 1 ? first : { kind: 'other', number };
      if (this.#ids.checksumOf(key) === checksum) return { kind: 'repeated' };
    }
  }
}

/**
 * The checksum of a message and its place in the conversation. When another version of Claude Code, or one in another folder, resumes
 * a session, it writes records again with another `version` and `cwd` and in another order of keys: they hold the same message.
 */
function messageChecksum({ type, parentUuid, timestamp, message }: JsonObject): number | undefined {
  const { id, content } = asObject(message) ?? {};
  if (content === undefined) return undefined;
  return crc32(JSON.stringify([type, parentUuid, timestamp, id]), contentChecksum(content));
}

/** The last content, which can be of two checksums, and its checksum. */
let latestContent: JsonValue | undefined;
let latestChecksum = 0;

function contentChecksum(content: JsonValue | undefined): number {
  if (content !== undefined && content === latestContent) return latestChecksum;
  latestChecksum = crc32(JSON.stringify(content ?? null));
  latestContent = content;
  return latestChecksum;
}

/** What differs in a record that another file, program or agent writes again. */
const placeFields: ReadonlySet<string> = new Set([
  'isSidechain',
  'agentId',
  'sessionId',
  'version',
  'cwd',
  'gitBranch',
  'sessionKind',
  'slug',
]);

/** The same of an attachment or a record of the engine, which the head of a forked agent repeats, too. */
function noteChecksum(record: JsonObject): number | undefined {
  if (record.type !== 'attachment' && record.type !== 'system') return undefined;
  const names = Object.keys(record).sort();
  return crc32(JSON.stringify(names.flatMap((name) => (placeFields.has(name) ? [] : [name, record[name]]))));
}

const mostWaiting = 1_000;

/** How many lines before its parent or its call a record may be: Claude Code writes records out of order. */
const usualDistance = 20;

type ParentProblem = 'ahead' | 'missing' | 'cycle';

interface Waiting {
  readonly line: number;
  /** The uuid of the record. */
  readonly child: string | undefined;
  readonly report: (problem: ParentProblem) => void;
}

/**
 * Finds records whose parent comes much later, is missing, or names the record as its own parent. Keeps at most a thousand records without a
 * parent.
 */
export class ParentCheck {
  readonly #records: SeenRecords;
  readonly #waiting = new Map<string, Waiting>();

  constructor(records: SeenRecords) {
    this.#records = records;
  }

  /** Calls `report` once if the parent is unknown: when it arrives, or when the record is dropped or the file ends. */
  check(parentUuid: string, { line, child, report }: Waiting): void {
    if (this.#records.has(parentUuid)) return;
    const before = this.#waiting.get(parentUuid);
    if (before !== undefined) {
      report('missing');
      return;
    }
    this.#waiting.set(parentUuid, { line, child, report });
    if (this.#waiting.size <= mostWaiting) return;
    const [oldest] = this.#waiting;
    if (oldest === undefined) return;
    this.#waiting.delete(oldest[0]);
    oldest[1].report('missing');
  }

  arrived(uuid: string, parent: string | undefined, line: number): void {
    const waiting = this.#waiting.size === 0 ? undefined : this.#waiting.get(uuid);
    if (waiting === undefined) return;
    this.#waiting.delete(uuid);
    if (parent !== undefined && parent === waiting.child) waiting.report('cycle');
    else if (line - waiting.line > usualDistance) waiting.report('ahead');
  }

  end(): void {
    for (const { report } of this.#waiting.values()) report('missing');
    this.#waiting.clear();
  }
}

const mostRemembered = 10_000;

/** The record that holds a call or a result. */
interface CheckedRecord {
  readonly line: number;
  readonly state: Pick<MappingState, 'calls'>;
  report(code: ClaudeDiagnosticCode, message: string): void;
}

/**
 * Finds results of a file without a call, and second results of a call, among at least the latest ten thousand results. A call
 * may come a few lines after its result, because Claude Code writes records out of order.
 */
export class CallCheck {
  /** The results that came before their call, by tool call. */
  readonly #awaited = new Map<string, CheckedRecord>();
  readonly #answered = new RecentMap<true>(mostRemembered);

  called(step: CheckedRecord, toolCallId: string): void {
    const result = this.#awaited.get(toolCallId);
    if (result === undefined) return;
    this.#awaited.delete(toolCallId);
    const distance = step.line - result.line;
    if (distance > usualDistance)
      step.report(
        'reference_ahead',
        `The result of the tool call ${toolCallId} comes ${distance} lines before the call.`,
      );
  }

  answered(step: CheckedRecord, toolCallId: string): void {
    if (this.#answered.has(toolCallId)) {
      step.report('call_answered_twice', `Another result of the tool call ${toolCallId}; both are kept.`);
      return;
    }
    this.#answered.set(toolCallId, true);
    if (step.state.calls.get(toolCallId) !== undefined) return;
    if (this.#awaited.size < mostRemembered) this.#awaited.set(toolCallId, step);
    else reportMissing(step, toolCallId);
  }

  /** Reports the results whose calls have not come. */
  end(): void {
    for (const [toolCallId, step] of this.#awaited) reportMissing(step, toolCallId);
    this.#awaited.clear();
  }
}

function reportMissing(step: CheckedRecord, toolCallId: string): void {
  step.report('call_missing', `A result of the tool call ${toolCallId}, which is not in the transcript.`);
}

/**
 * Finds the agent of a sidechain record. Newer records name their agent. Older ones are threads among the records of the
 * session; each thread starts with a prompt without a parent and is an agent of its own, named by its first record. No record
 * names the call that started it.
 */
class Sidechains {
  readonly #agents: SubAgents;
  readonly #byRecord = new RecentMap<SubAgent>(mostRemembered);

  constructor(agents: SubAgents) {
    this.#agents = agents;
  }

  agentOf(record: JsonObject): SubAgent | undefined {
    if (record.isSidechain !== true) return undefined;
    const uuid = asName(record.uuid);
    const known = uuid === undefined ? undefined : this.#byRecord.get(uuid);
    if (known !== undefined) return known;
    const named = asName(record.agentId);
    const agent = named === undefined ? this.#ofThread(record) : this.#named(named);
    if (named === undefined && uuid !== undefined && agent !== undefined) this.#byRecord.set(uuid, agent);
    return agent;
  }

  #named(name: string): SubAgent | undefined {
    return this.#agents.find(name) ?? this.#agents.resolve(name, undefined);
  }

  #ofThread(record: JsonObject): SubAgent | undefined {
    const parent = asName(record.parentUuid);
    const thread = parent === undefined ? undefined : this.#byRecord.get(parent);
    const name = `sidechain-${asName(record.uuid) ?? 'unknown'}`;
    return thread ?? this.#agents.resolve(name, undefined);
  }
}

/** The messages of sub-agents that the progress of their callers holds, by their uuids. Their own files can hold them, too. */
class ProgressMessages {
  /** By uuid, a checksum of what is said. */
  readonly #said = new IdTable();
  readonly #differing = new Set<string>();
  readonly #begun = new Set<string>();

  /** Adds a message. */
  add(uuid: string, record: JsonObject): void {
    this.#said.add(uuid, saidChecksum(record));
  }

  /** Whether a record of a file is such a message. One with other words is a message of its own. */
  isSame(uuid: string, record: JsonObject): boolean {
    const said = this.#said.get(uuid);
    if (said === undefined) return false;
    const isSame = said === saidChecksum(record);
    if (!isSame) this.#differing.add(uuid);
    return isSame;
  }

  /** Whether this event is of a message that a file of its agent can hold, too. */
  has(eventId: string): boolean {
    const uuid = eventId.replace(/\.\d+$/, '');
    return this.#said.get(uuid) !== undefined && !this.#differing.has(uuid);
  }

  /** Whether a message is the first one of an agent. */
  begins(agentId: string): boolean {
    const isFirst = !this.#begun.has(agentId);
    this.#begun.add(agentId);
    return isFirst;
  }
}

/** Progress has a text as a block where the file of the agent has a string. */
function saidChecksum({ type, message }: JsonObject): number {
  const { id, content } = asObject(message) ?? {};
  return crc32(JSON.stringify([type, id]), contentChecksum(asBlocks(content)));
}

/** The state that a mapping of transcripts keeps between records, over all files of a session. */
export class TranscriptState extends MappingState {
  readonly records = new SeenRecords(this.ids);
  readonly sidechains = new Sidechains(this.agents);
  /** That of the file that is read. */
  callCheck = new CallCheck();
  /** Agents that have a file of their own. */
  readonly agentsWithFile = new Set<string>();
  readonly progress = new ProgressMessages();
  /** Sessions with a `session:init`. */
  readonly begun = new Set<string>();
  /** The content of the metadata file beside a sub-agent's transcript. */
  agentMeta: JsonObject = {};
  /** The session of the file. */
  session: string | undefined;
  /** The session whose records are copied at the start of the file. */
  continues: string | undefined;
  /** The session that the latest record named. */
  conversation: string | undefined;
  /** The metadata of compactions whose summary comes next, by the uuid of their boundary. */
  readonly boundaries = new RecentMap<JsonObject>(100);
  readonly #report: (code: ClaudeDiagnosticCode, line: number, message: string) => void;

  constructor(
    fidelity: Fidelity,
    report: (code: ClaudeDiagnosticCode, line: number, message: string) => void,
  ) {
    super(fidelity);
    this.#report = report;
  }

  /** The last event of a record, if the record has come; otherwise its first one. */
  lastEventOf(uuid: string): string | undefined {
    const first = asEventId(uuid);
    if (first === undefined) return undefined;
    if (!this.ids.has(first)) this.horizon.missed();
    let last = first;
    for (let number = 1; this.ids.has(`${first}.${number}`); number += 1) last = `${first}.${number}`;
    return last;
  }

  report(code: ClaudeDiagnosticCode, line: number, message: string): void {
    this.#report(code, line, message);
  }
}

/** A file of a session. */
export interface TranscriptPart {
  /** Names records without an id; absent for the session itself. */
  readonly name?: string | undefined;
  /** The sub-agent whose file it is. */
  readonly agentId?: string | undefined;
  /** Milliseconds since 1970: the place of records before the first one with a time. */
  readonly startsAt: number;
  /** The content of the metadata file beside a sub-agent's transcript. */
  readonly meta?: JsonObject | undefined;
}

/** The state of the mapping of one file, so that several files can be read by turns. */
export interface FileState {
  readonly prefix: string;
  readonly agentId: string | undefined;
  readonly meta: JsonObject;
  readonly parents: ParentCheck;
  calls: CallCheck;
  /** Of a continued file: the latest time of the records that were not mapped again. */
  horizon: number;
  clock: number;
  latest: number;
  /** The uuid of the record before, which is the parent of most records. */
  latestUuid: string | undefined;
  /** The session that the latest record named. Undefined before the first record. */
  conversation: string | undefined;
}

interface RecordProblem {
  readonly code: ClaudeDiagnosticCode;
  readonly text: string;
  readonly raw: JsonObject;
}

/** Why a value cannot be mapped; undefined if it can. `record` is the value, if it is an object. */
export function problemOf(value: JsonValue, record: JsonObject | undefined): RecordProblem | undefined {
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

function printed(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch {
    return preview(value);
  }
}
