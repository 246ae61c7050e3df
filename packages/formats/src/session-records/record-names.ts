import type { JsonValue } from '@hansard/events';
import { idText } from './id-text.ts';
import { createNamePool } from './name-pool.ts';
import type { RecordLine } from './parse-lines.ts';

/**
 * The ids of events and agents, for the ids of a log: the same ones wherever they fit and are free. They are given out
 * in the order in which the log is read, so that a log that has grown gives what it gave before.
 */
export interface RecordNames {
  /** The id of a record's first event. To be asked once for each record, in their order. */
  idOf(line: RecordLine): string;
  /** The first record so far that has this id in the log. */
  definitionOf(reference: string): RecordLine | undefined;
  /** The id of the event that a reference means; of none, where it leads nowhere. */
  refer(reference: string): string;
  /** Undefined where a record names no agent. */
  agentId(name: JsonValue | undefined): string | undefined;
  /** An id for an event that stands for no record of its own. */
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
    /** The same name for the same text, whether it is first met as a name or in a reference. */
    nameOf(text: string): string {
      const name = names.get(text) ?? pool.take(text);
      names.set(text, name);
      return name;
    },
  };
}
