import type { Fidelity, JsonObject } from '@hansard/events';
import type { ClaudeDiagnosticCode } from '../json-lines/claude-diagnostic.ts';
import { MappingState } from '../mapping/mapping-state.ts';
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

  report(code: ClaudeDiagnosticCode, line: number, message: string): void {
    this.#report(code, line, message);
  }
}
