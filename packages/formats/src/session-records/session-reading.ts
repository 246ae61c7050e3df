import type { JsonObject } from '@hansard/events';
import type { FormatDiagnosticCode } from '../format-diagnostic.ts';
import type { RecordLine } from './parse-lines.ts';
import type { RecordNames } from './record-names.ts';
import type { RecordKind, SessionDialect } from './session-dialect.ts';

/** What one reading of a log knows. It goes through the records once, in their order. */
export interface SessionReading {
  readonly dialect: SessionDialect;
  readonly timestamp: string;
  readonly names: RecordNames;
  /** The latest call of an agent under an id, by `callKey`. */
  readonly calls: Map<string, SeenCall>;
  /** The latest agent of a name. */
  readonly agentsByName: Map<string, string>;
  /** What each agent said last. */
  readonly lastUtterances: Map<string, SeenUtterance>;
  /** What was said, by its text. */
  readonly utterances: Map<string, SeenUtterance[]>;
  /** The texts that calls gave agents, by cause and text, in a dialect without pieces of text. */
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
  /** The call's own event. */
  readonly eventId: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly line: number;
}

interface SeenUtterance {
  readonly id: string;
  readonly agentId: string | undefined;
  readonly line: number;
  /** The calls whose results carry it on, by their events. */
  readonly resultsOf: Set<string>;
}

export function callKey(agentId: string | undefined, toolCallId: string): string {
  return `${agentId ?? ''} ${toolCallId}`;
}
