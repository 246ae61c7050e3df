import type { CapturedEvent } from '@hansard/events';
import { checkReferences } from './check-references.ts';
import type { LogDiagnostic } from './diagnostic.ts';
import { type GatheredLog, gatherLog } from './gather-log.ts';
import { linkSubstances } from './link-substances.ts';
import type { Saying } from './saying.ts';
import { gatherSayings } from './sayings.ts';

/** A log with everything that the views look up: found in one pass, and its references followed once. */
export interface LogIndex extends GatheredLog {
  /** Everything that was said, in the order of the log. */
  readonly sayings: readonly Saying[];
  /** What does not add up. */
  readonly diagnostics: readonly LogDiagnostic[];
}

/** Indexes the events of one dispatch, in append order. Whatever is odd about them is kept and reported. */
export function createLogIndex(events: readonly CapturedEvent[]): LogIndex {
  const diagnostics: LogDiagnostic[] = [];
  const report = (diagnostic: LogDiagnostic): void => {
    diagnostics.push(diagnostic);
  };
  const log = gatherLog(events, report);
  checkReferences(log, report);
  linkSubstances(log);
  return { ...log, sayings: gatherSayings(log), diagnostics };
}
