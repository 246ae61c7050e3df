import type { JsonObject } from '@hansard/events';
import type { CallCheck } from './call-check.ts';
import type { ParentCheck } from './parent-check.ts';

/** A file of a session. */
export interface TranscriptPart {
  /** Names records without an id; absent for the session itself. */
  readonly name?: string | undefined;
  /** The sub-agent whose file it is. */
  readonly agentId?: string | undefined;
  /** Milliseconds since 1970, for records before the first one with a time. */
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
