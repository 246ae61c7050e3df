import type { JsonObject } from '@hansard/events';
import type { FormatDiagnosticCode } from '../format-diagnostic.ts';
import type { RecordLine } from './parse-lines.ts';
import type { RecordNames } from './record-names.ts';
import type { RecordKind, SessionDialect } from './session-dialect.ts';

/** The state of one reading of a log, which visits the records once, in order. */
export interface SessionReading {
  readonly dialect: SessionDialect;
  readonly timestamp: string;
  readonly names: RecordNames;
  /** The latest call with an id of an agent, by `callKey`. */
  readonly calls: Map<string, SeenCall>;
  /** The calls of each message with several, by the event id of its record. */
  readonly severalCalls: Map<string, readonly SeenCall[]>;
  /** The agents with a name. */
  readonly agentsByName: Map<string, ReadonlySet<string>>;
  /** The utterances of each agent, in order. */
  readonly utterances: Map<string, SeenUtterance[]>;
  /** Texts that calls delivered to agents, by call and text, in a dialect without pieces of text. */
  readonly pieces: Map<string, string>;
  report(line: number, code: FormatDiagnosticCode, message: string): void;
}

export interface SessionEntry {
  readonly line: RecordLine;
  readonly record: JsonObject;
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
