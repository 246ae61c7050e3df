import type { JsonValue } from '@hansard/events';
import { idText } from './id-text.ts';
import { createNamePool } from './name-pool.ts';
import type { RecordLine } from './parse-lines.ts';

/**
 * Maps the ids of a log to ids of events and agents: the same id if it is valid and free. Ids are given out in the order
 * of the log, so that a log that has grown gives the same ids.
 */
export interface RecordNames {
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
