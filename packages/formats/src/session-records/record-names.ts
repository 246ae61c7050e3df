import type { JsonObject, JsonValue } from '@hansard/events';
import { createNamePool, isName } from './name-pool.ts';
import type { RecordLine } from './parse-lines.ts';
import type { SessionDialect } from './session-dialect.ts';

/** The ids of events and agents, for the ids of a log: the same ones wherever they fit and are unique. */
export interface RecordNames {
  /** The id of a record's first event. */
  idOf(line: RecordLine): string;
  /** The first record that has this id in the log. */
  definitionOf(reference: string): RecordLine | undefined;
  /** The id of the event that a reference means; of none, where it leads nowhere. */
  refer(reference: string): string;
  /** Undefined where a record names no agent. */
  agentId(name: JsonValue | undefined): string | undefined;
  /** An id for an event that stands for no record of its own. */
  newId(wanted: string): string;
}

export function nameRecords(dialect: SessionDialect, lines: readonly RecordLine[]): RecordNames {
  const ids = createIds(dialect, lines);
  const agentIds = new Map<string, string>();
  const agents = createNamePool(
    new Set(lines.flatMap(({ record }) => agentTexts(dialect, record)).filter(isName)),
  );
  return {
    ...ids,
    agentId(name) {
      const text = idText(name);
      if (text === undefined || isName(text)) return text;
      const agentId = agentIds.get(text) ?? agents.take(text);
      agentIds.set(text, agentId);
      return agentId;
    },
  };
}

/** What a log means by an id: text, or a number. Nothing stands for no id. */
export function idText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** What a log refers to: an id, or a list of them. */
export function references(value: JsonValue | undefined): string[] {
  return [value ?? null].flat().flatMap((item) => idText(item) ?? []);
}

function createIds(dialect: SessionDialect, lines: readonly RecordLine[]): Omit<RecordNames, 'agentId'> {
  const definitions = new Map<string, RecordLine>();
  for (const line of lines) {
    const text = idText(line.record.message_id);
    if (text !== undefined && !definitions.has(text)) definitions.set(text, line);
  }
  const named = [
    ...definitions.keys(),
    ...lines.flatMap(({ record }) => [
      ...references(record[dialect.substanceKey]),
      ...references(record[dialect.causeKey]),
    ]),
  ];
  const pool = createNamePool(new Set(named.filter(isName)));
  const ids = new Map(lines.map((line) => [line, idFor(line)]));
  const nowhere = new Map<string, string>();

  function idFor(line: RecordLine): string {
    const text = idText(line.record.message_id);
    if (text === undefined) return pool.take(`line-${line.line}`);
    return definitions.get(text) === line && isName(text) ? text : pool.take(text);
  }

  return {
    idOf: (line) => ids.get(line) ?? idFor(line),
    definitionOf: (reference) => definitions.get(reference),
    refer(reference) {
      const definition = definitions.get(reference);
      const id = (definition === undefined ? undefined : ids.get(definition)) ?? nowhere.get(reference);
      if (id !== undefined) return id;
      const name = isName(reference) ? reference : pool.take(reference);
      nowhere.set(reference, name);
      return name;
    },
    newId: (wanted) => pool.take(wanted),
  };
}

function agentTexts({ sourceKey }: SessionDialect, record: JsonObject): string[] {
  const source = sourceKey === null ? undefined : record[sourceKey];
  return [record.agent_id, source].flatMap((name) => idText(name) ?? []);
}
