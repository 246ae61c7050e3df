import type { EventLinks, JsonObject, JsonValue } from '@hansard/events';
import type { FormatDiagnosticCode } from '../lines/format-diagnostic.ts';
import { createNamePool } from '../lines/name-pool.ts';
import { idText, type RecordLine, references } from '../lines/parse-lines.ts';
import type { SessionDialect } from './session-dialect.ts';
import type { RecordKind } from './smallchat-form.ts';

/**
 * Maps the ids of a log to ids of events and agents: the same id if it is valid and free. Ids are given out in the order
 * of the log, so that a log that has grown gives the same ids.
 */
interface RecordNames {
  /** The id of a record's first event. Call it once per record, in order. */
  idOf(line: RecordLine): string;
  /** The first record so far with this id in the log. */
  definitionOf(reference: string): RecordLine | undefined;
  /** The event id of a reference. An unknown reference gets an id that no event has. */
  refer(reference: string): string;
  /** Undefined if a record names no agent. */
  agentId(name: JsonValue | undefined): string | undefined;
  /** An id for an event without a record of its own. */
  newId(wanted: string): string;
}

export function createRecordNames(): RecordNames {
  const definitions = new Map<string, RecordLine>();
  const ids = createNames();
  const agents = createNames();
  return {
    idOf(line) {
      const text = idText(line.record.message_id);
      if (text === undefined) return ids.take(`line-${line.line}`);
      if (definitions.has(text)) return ids.take(text);
      definitions.set(text, line);
      return ids.nameOf(text);
    },
    definitionOf: (reference) => definitions.get(reference),
    refer: ids.nameOf,
    agentId(name) {
      const text = idText(name);
      return text === undefined ? undefined : agents.nameOf(text);
    },
    newId: ids.take,
  };
}

function createNames() {
  const pool = createNamePool(new Set());
  const names = new Map<string, string>();
  return {
    take: (wanted: string) => pool.take(wanted),
    /** The same text has the same name, whether it occurs first as a name or in a reference. */
    nameOf(text: string): string {
      const name = names.get(text) ?? pool.take(text);
      names.set(text, name);
      return name;
    },
  };
}

/** The state of one reading of a log, which visits the records once, in order. */
export interface SessionReading {
  readonly dialect: SessionDialect;
  readonly names: RecordNames;
  /** The latest call with an id of an agent, by `callKey`. */
  readonly calls: Map<string, SeenCall>;
  /** The calls of each message with several, by the event id of its record. */
  readonly severalCalls: Map<string, readonly SeenCall[]>;
  /** The agents with a name. */
  readonly agentsByName: Map<string, ReadonlySet<string>>;
  /** The utterances of each agent, in order. */
  readonly utterances: Map<string, SeenUtterance[]>;
  /** The last event of each entry on the current branch of an agent, in a dialect that can truncate transcripts. */
  readonly transcripts: Map<string, string[]>;
  /** Texts that calls delivered to agents, by call and text, in a dialect without pieces of text. */
  readonly pieces: Map<string, string>;
  report(line: number, code: FormatDiagnosticCode, message: string): void;
}

export interface SessionEntry {
  readonly line: RecordLine;
  readonly record: JsonObject;
  /** The record as the log has it. */
  readonly original: JsonObject;
  readonly kind: RecordKind | null;
  readonly id: string;
  readonly agentId: string | undefined;
}

export interface SeenCall {
  /** The event of the call. */
  readonly eventId: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly line: number;
}

interface SeenUtterance {
  readonly id: string;
  readonly line: number;
}

export function callKey(agentId: string | undefined, toolCallId: string): string {
  return `${agentId ?? ''} ${toolCallId}`;
}

type RecordLinks = Pick<EventLinks, 'substance' | 'cause' | 'via'>;

/**
 * The links of a record. An event has either substance or cause. If a record has both and they differ, its cause is the
 * `via`: the event that the content passed through, such as the answer of a translator.
 */
export function linksOf(reading: SessionReading, { record }: Pick<SessionEntry, 'record'>): RecordLinks {
  const { dialect, names } = reading;
  const [substance] = references(record[dialect.substanceKey]);
  const named = references(record[dialect.causeKey]);
  if (substance !== undefined) {
    const [passed] = named.filter((reference) => reference !== substance);
    const via =
      passed === undefined ? undefined : (exactCall(reading, record, passed) ?? names.refer(passed));
    return { substance: names.refer(substance), ...(via === undefined ? {} : { via }) };
  }
  const causes = [...new Set(named.flatMap((reference) => causesNamed(reading, record, reference)))];
  const [cause] = causes;
  if (cause === undefined) return {};
  return { cause: causes.length === 1 ? cause : causes };
}

/** The events that a reference means as a cause: of a message with several calls the one that the record means, or all if it does not say. */
function causesNamed(reading: SessionReading, record: JsonObject, reference: string): readonly string[] {
  const exact = exactCall(reading, record, reference);
  if (exact !== undefined) return [exact];
  const name = reading.names.refer(reference);
  return reading.severalCalls.get(name)?.map(({ eventId }) => eventId) ?? [name];
}

/** The event of the call that a record means, if the reference names a message with several calls. */
function exactCall({ names, severalCalls }: SessionReading, record: JsonObject, reference: string) {
  return meantCall(record, severalCalls.get(names.refer(reference)) ?? [])?.eventId;
}

/**
 * The key of the call that is meant, in a record whose cause is a message with several calls. The dialects do not have it,
 * so their readers keep it as an additional key. A result names its call itself.
 */
export const exactCallKey = 'cause_tool_call_id';

/** The key of an entry that an agent was given when it began, and did not hear or say. The dialects do not have it. */
export const givenKey = 'given';

/** The one of several calls that a record means; undefined if it does not say, or two of them have the id. */
export function meantCall<C extends { readonly toolCallId: string }>(
  record: JsonObject,
  calls: readonly C[],
): C | undefined {
  const { role, tool_call_id: answered, [exactCallKey]: named } = record;
  const meant = named ?? (role === 'tool' ? answered : undefined);
  const [call, ...others] = calls.filter(({ toolCallId }) => toolCallId === meant);
  return others.length === 0 ? call : undefined;
}
