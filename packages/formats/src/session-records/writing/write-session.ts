import type { CapturedEvent, JsonObject } from '@hansard/events';
import type { WriteDiagnostic } from '../../format-diagnostic.ts';
import { applyRemainder, keptRemainder } from '../remainder.ts';
import { isRecordType, type SessionDialect, unknownTypePrefix } from '../session-dialect.ts';
import { crossDialect } from './cross-dialect.ts';
import { type DerivedRecord, deriveRecords } from './derive-records.ts';
import { isAddedByReader } from './link-writer.ts';
import { createSourceCheck } from './source-check.ts';
import { createWrittenNames } from './written-names.ts';

/** A session log, and what it does not hold. */
export interface WrittenSession {
  /** One record per line; empty without records. */
  readonly text: string;
  /** The number of events of each type that are not in it. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** What records of a session log lose in the other dialect, and the links to events that are left out. `line` is that of `text`. */
  readonly diagnostics: readonly WriteDiagnostic[];
}

export function writeSession(dialect: SessionDialect, events: readonly CapturedEvent[]): WrittenSession {
  const derived = deriveRecords(dialect, events, createWrittenNames(events));
  const diagnostics: WriteDiagnostic[] = [];
  const isSourceLost = dialect.sourceKey === null ? createSourceCheck() : () => false;
  const lines = derived.map((unit, index) => {
    const { record, lost } = complete(dialect, unit);
    if (isSourceLost(unit, record)) lost.add('source');
    const [{ id: eventId }] = unit.events;
    for (const field of lost) {
      const message = `${dialect.id} cannot hold the ${field} of ${eventId} as recorded.`;
      diagnostics.push({ code: 'field_not_written', line: index + 1, eventId, field, message });
    }
    return `${JSON.stringify(record)}\n`;
  });
  const written = new Set(derived.flatMap((record) => record.events));
  for (const event of events) {
    if (written.has(event) || !hasRecordElsewhere(event)) continue;
    const message = `${dialect.id} has no record for ${event.id}, a record of the other dialect (${event.type}).`;
    diagnostics.push({ code: 'record_not_written', eventId: event.id, message });
  }
  return { text: lines.join(''), leftOut: countLeftOut(events, written), diagnostics };
}

/** The record with the fields that its events lack, and the keys of those fields that it cannot have. */
function complete(
  dialect: SessionDialect,
  { record, events: [first], lost: lostLinks }: DerivedRecord,
): { record: JsonObject; lost: Set<string> } {
  // A record of an unknown kind is written as it is.
  if (first.type.startsWith(unknownTypePrefix(dialect))) return { record, lost: new Set() };
  const lost = new Set(lostLinks.map(({ field }) => field));
  const kept = keptRemainder(first);
  if (kept === null) return { record, lost };
  if (kept.format !== dialect.id) return crossDialect(dialect, record, kept, lost);
  return { record: applyRemainder(record, kept), lost: new Set() };
}

function hasRecordElsewhere(event: CapturedEvent): boolean {
  return isRecordType(event.type) || (event.type === 'agent:piece_of_text' && !isAddedByReader(event));
}

function countLeftOut(
  events: readonly CapturedEvent[],
  written: ReadonlySet<CapturedEvent>,
): Record<string, number> {
  // A piece of text without a record of its own is in the deliveries that carry it.
  const carried = new Set([...written].flatMap(({ substance }) => substance ?? []));
  const leftOut: Record<string, number> = {};
  for (const event of events) {
    const isCarried = event.type === 'agent:piece_of_text' && carried.has(event.id);
    if (written.has(event) || isCarried || isAddedByReader(event)) continue;
    leftOut[event.type] = (leftOut[event.type] ?? 0) + 1;
  }
  return leftOut;
}
