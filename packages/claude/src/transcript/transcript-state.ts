import type { Fidelity, JsonObject } from '@hansard/events';
import type { ClaudeDiagnosticCode } from '../json-lines/claude-diagnostic.ts';
import { MappingState } from '../mapping/mapping-state.ts';
import { asId } from '../values/ids.ts';
import { asObject } from '../values/json-fields.ts';
import { RecentMap } from '../values/recent-map.ts';
import { CallCheck } from './call-check.ts';
import { SeenRecords } from './seen-records.ts';
import { Sidechains } from './sidechains.ts';

/** The state that a mapping of transcripts keeps between records, over all files of a session. */
export class TranscriptState extends MappingState {
  readonly records = new SeenRecords(this.ids);
  readonly sidechains = new Sidechains(this.agents);
  /** That of the file that is read. */
  callCheck = new CallCheck();
  /** Sessions with a `session:init`. */
  readonly begun = new Set<string>();
  /** The content of the metadata file beside a sub-agent's transcript. */
  agentMeta: JsonObject = {};
  /** The id of a session whose file begins with records of another one. */
  continuation: string | undefined;
  /** The messages that the session before counts; null without its file. */
  countedBefore: ReadonlySet<string> | null = null;
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

  /** Whether the session before counts the model message of a record, which was copied from it. */
  isCountedBefore({ sessionId, message }: JsonObject): boolean {
    if (this.continuation === undefined) return false;
    if (this.countedBefore === null) return sessionId !== this.continuation;
    return this.countedBefore.has(asId(asObject(message)?.id) ?? '');
  }

  report(code: ClaudeDiagnosticCode, line: number, message: string): void {
    this.#report(code, line, message);
  }
}
