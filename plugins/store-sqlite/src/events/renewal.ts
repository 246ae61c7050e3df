import { type CapturedEvent, type DispatchEnvelope, encodeEvent } from '@hansard/events';
import type { DispatchRewrite, DispatchRewritten, DispatchVerification } from '@hansard/provider';
import { chainStart, dispatchNotFound } from '@hansard/store-kit';
import { prepareLengths } from '../claimed-dispatches.ts';
import { decodeEvent, eventChecksum } from '../database/decode.ts';
import { damagedRows, overwriting } from '../database/remove-remains.ts';
import type { DispatchRow, Statements } from '../database/statements.ts';
import { inTransaction } from '../database/transaction.ts';
import { corrupt } from '../sqlite-errors.ts';
import type { StoreParts } from '../store-parts.ts';
import type { FencedClaim } from '../writer-leases.ts';
import { type FoundDispatch, startIndexOfIds, verifyEvents } from './event-scan.ts';

/** A page of rows in memory. */
const pageSize = 500;

/**
 * Replaces the content of a dispatch, in one transaction: the new envelope and the new events get a new number, and what is stored under the old
 * number is deleted. A search does not find the deleted events any more. Deleted rows and freed pages are overwritten. Free parts of pages, the log
 * and the index of words need `removeRemains`, because merging the index takes time that grows with the whole store.
 * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_CORRUPT
 */
export function rewriteDispatch(
  parts: StoreParts,
  place: Place,
  rewrite: DispatchRewrite,
): DispatchRewritten {
  const renewed = replaceContent(parts, place, rewrite, () => ({
    row: parts.dispatches.get(place.taskDir, place.dispatchId),
    found: parts.reader.locate(place.taskDir, place.dispatchId),
  }));
  const { file } = place;
  const remains = [
    `Unused parts of ${file}, its log, and its index of words. \`removeRemains\` cleans them, which \`hansard secrets redact\` calls after the last dispatch.`,
  ];
  const losses = renewed?.losses ?? 0;
  if (losses > 0) remains.push(damagedRows(losses, file));
  return { remains };
}

/**
 * Gives a dispatch that was written under another name the one of its place, with its events.
 * @returns whether it had another name
 * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_CORRUPT
 */
export function adoptDispatch(parts: StoreParts, place: Place): boolean {
  const { taskDir, dispatchId } = place;
  const renamed = { envelope: (envelope: DispatchEnvelope) => ({ ...envelope, dispatchId }), event: same };
  const adopted = replaceContent(parts, place, renamed, () => {
    const row = parts.dispatches.findAny(taskDir, dispatchId);
    if (row === null) throw dispatchNotFound(taskDir, dispatchId);
    const found = parts.reader.locateMisplaced(row);
    if (found !== null) parts.tasks.adopt(taskDir);
    return found === null ? null : { row, found };
  });
  return adopted !== null;
}

const same = (event: CapturedEvent) => event;

interface Place {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly file: string;
}

/** The row of a dispatch, and its events under the name under which they were written. */
interface Located {
  readonly row: DispatchRow;
  readonly found: FoundDispatch;
}

/** @returns null if `locate` finds nothing to replace */
function replaceContent(
  parts: StoreParts,
  { taskDir, dispatchId, file }: Place,
  rewrite: DispatchRewrite,
  locate: () => Located | null,
): { readonly losses: number } | null {
  const { database, statements, dispatches, leases, lengths, acknowledgements, writer } = parts;
  const replaced = overwriting(database, () =>
    inTransaction(database, () => {
      const located = locate();
      if (located === null) return null;
      const { row, found } = located;
      const claim = leases.takeOver(row);
      const { damages } = verifyEvents(statements, found);
      if (damages[0] !== undefined) {
        const { reason, eventsBefore } = damages[0];
        throw corrupt(file, reason, { details: { dispatchId, wholeEvents: eventsBefore } });
      }
      const envelope = JSON.stringify(rewrite.envelope(dispatches.decode(row)));
      const { isOwn } = claim;
      const number = renew(parts, claim, envelope);
      copyEvents(statements, { ...found, taskDir, dispatchId }, number, rewrite);
      statements.deleteSearchText.run(row.number, row.number);
      statements.deleteEventIds.run(row.number);
      statements.deleteEvents.run(row.number);
      const losses = statements.listLosses.all(row.number).length;
      statements.moveLosses.run(number, row.number);
      statements.keepEventCount.run(number);
      prepareLengths(parts);
      lengths.clear(row.number);
      if (isOwn) leases.claim(dispatches.get(taskDir, dispatchId));
      const length = found.length + (rewrite.notice === undefined ? 0 : 1);
      return { old: row.number, number, length, isOwn, losses };
    }),
  );
  if (replaced === null) return null;
  const { old, number, length, isOwn, losses } = replaced;
  writer.forget(taskDir, dispatchId);
  leases.drop(old);
  acknowledgements.forget(old);
  if (isOwn) leases.keep(number);
  // Nothing from here on fails: the new content is stored.
  acknowledgements.note(acknowledgements.begin({ number, taskDir, dispatchId, length, inFile: -1 }));
  return { losses };
}

/** Ends every claim of the old number, and gives the dispatch a new one, without events. */
function renew({ leases, dispatches }: StoreParts, claim: FencedClaim, envelope?: string): number {
  leases.end(claim.row.number);
  dispatches.remove(claim);
  return dispatches.insertCopy(claim, envelope);
}

function copyEvents(
  statements: Statements,
  { taskDir, dispatchId, number: from, length }: FoundDispatch,
  number: number,
  { event, notice }: DispatchRewrite,
): void {
  let crc = chainStart(taskDir, dispatchId);
  let position = 0;
  let greatestId = '';
  let doesGrow = true;
  const add = (id: string, line: string, batch: number) => {
    crc = eventChecksum(crc, batch, line);
    statements.copyEvent.run(number, position, batch, crc, line);
    position += 1;
    doesGrow &&= id > greatestId;
    greatestId = id;
  };
  while (position < length) {
    for (const { line, batch } of statements.pageOfEvents.all(from, position - 1, pageSize)) {
      const stored = decodeEvent(line) as CapturedEvent;
      const rewritten = event(stored);
      add(stored.id, rewritten === stored ? line : encodeEvent(rewritten), batch);
    }
  }
  const last = notice?.();
  if (last !== undefined) add(last.id, encodeEvent(last), 0);
  if (!doesGrow) startIndexOfIds(statements, number);
}

/**
 * Makes a damaged dispatch usable again, in one transaction:
 * 1. Check it. Without damage, end.
 * 2. Give the dispatch a new number, and append its whole events and the notice under that number.
 * 3. Note the old number in `accepted_losses`. All rows stay in `events` under it, so nothing that is damaged must be written.
 * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED; STORE_CORRUPT if the envelope is damaged
 */
export function acceptLoss(
  parts: StoreParts,
  taskDir: string,
  dispatchId: string,
  notice: CapturedEvent,
): DispatchVerification {
  const { database, statements, dispatches, leases, lengths, acknowledgements, reader, writer } = parts;
  const { found, old, keeps } = inTransaction(database, () => {
    const row = dispatches.get(taskDir, dispatchId);
    dispatches.decode(row);
    const claim = leases.takeOver(row);
    const damaged = reader.locate(taskDir, dispatchId);
    const verification = reader.verify(taskDir, dispatchId);
    if (verification.damages.length === 0) return { found: verification, old: null, keeps: null };
    const { isOwn } = claim;
    const number = renew(parts, claim);
    copyWholeEvents(statements, damaged, number, notice);
    statements.moveLosses.run(number, row.number);
    statements.insertLoss.run(row.number, number, JSON.stringify(verification));
    statements.keepEventCount.run(number);
    prepareLengths(parts);
    lengths.clear(row.number);
    if (isOwn) leases.claim(dispatches.get(taskDir, dispatchId));
    return { found: verification, old: row.number, keeps: isOwn ? number : null };
  });
  writer.forget(taskDir, dispatchId);
  if (old !== null) leases.drop(old);
  if (keeps !== null) leases.keep(keeps);
  inTransaction(database, () => acknowledgements.settle(taskDir, dispatchId));
  return found;
}

function copyWholeEvents(
  statements: Statements,
  damaged: FoundDispatch,
  number: number,
  notice: CapturedEvent,
): void {
  let crc = chainStart(damaged.taskDir, damaged.dispatchId);
  let greatestId = '';
  let doesGrow = true;
  const ids = new Set<string>();
  const add = (id: string, line: string) => {
    // A row that was doubled, or the notice of an earlier call.
    if (ids.has(id)) return;
    crc = eventChecksum(crc, 0, line);
    statements.copyEvent.run(number, ids.size, 0, crc, line);
    ids.add(id);
    doesGrow &&= id > greatestId;
    greatestId = id;
  };
  verifyEvents(statements, damaged, (line) => add(decodeEvent(line)?.id ?? '', line));
  add(notice.id, encodeEvent(notice));
  if (!doesGrow) startIndexOfIds(statements, number);
}
