import { type CapturedEvent, encodeEvent } from '@hansard/events';
import type { DispatchVerification } from '@hansard/provider';
import { prepareLengths } from '../claimed-dispatches.ts';
import { chainStart, eventChecksum } from '../database/checksums.ts';
import { decodeEvent } from '../database/decode.ts';
import type { Statements } from '../database/statements.ts';
import { inTransaction } from '../database/transaction.ts';
import type { StoreParts } from '../store-parts.ts';
import { startIndexOfIds } from './event-ids.ts';
import { type FoundDispatch, verifyEvents } from './event-scan.ts';

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
    leases.assertClaimable(row);
    const damaged = reader.locate(taskDir, dispatchId);
    const verification = reader.verify(taskDir, dispatchId);
    if (verification.damages.length === 0) return { found: verification, old: null, keeps: null };
    const isOwn = leases.isClaimed(row.number);
    leases.end(row.number);
    dispatches.remove(row);
    const number = dispatches.insertCopy(row);
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
