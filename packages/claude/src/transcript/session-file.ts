import type { JsonObject } from '@hansard/events';

/** A file of a session. */
export interface SessionFile {
  readonly path: string;
  /** The path from the folder of the session's file. */
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  /** For the file of a sub-agent: the prefix of the ids of records without an id. */
  readonly prefix?: string;
  /** Of a sub-agent's file, the id by which records name the agent. */
  readonly agentId?: string;
  readonly startsAt: number;
  readonly meta: JsonObject;
  /** Why the metadata file beside a sub-agent's transcript was not read. */
  readonly metaProblem?: string;
  /** The error of an unreadable file. */
  readonly problem?: unknown;
}
