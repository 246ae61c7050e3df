import { type CapturedEvent, encodeEvent } from '@hansard/events';
import type { DispatchVerification } from '@hansard/provider';
import { decodeEnvelope } from '../tables/decode.ts';
import { EventInserts, insertCopy, type RenewalSetup } from './renewal.ts';

/**
 * Makes a damaged dispatch usable again, in one transaction:
 * 1. Lock its row, and check it. Without damage, end.
 * 2. Give the dispatch a new number, and store its whole events and the notice under that number.
 * 3. Note the old number in `accepted_losses`. All rows stay in `events` under it, so nothing that is damaged must be written.
 * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED; STORE_CORRUPT if the envelope is damaged
 */
export function acceptLoss(
  { tables, claims, reader, now }: RenewalSetup,
  taskDir: string,
  dispatchId: string,
  notice: CapturedEvent,
): Promise<DispatchVerification> {
  const { statements } = tables;
  const since = now();
  return tables.change(taskDir, dispatchId, async (session, row) => {
    decodeEnvelope(row, tables.name);
    claims.assertClaimable(row, since);
    const whole = new Map<string, string>();
    const verification = await reader.verify(taskDir, dispatchId, (id, line) => whole.set(id, line));
    if (verification.damages.length === 0) return verification;
    whole.set(notice.id, encodeEvent(notice));
    await session.run(statements.deleteWords, [row.number]);
    await session.run(statements.deleteDispatch, [row.number]);
    const number = await insertCopy(tables, session, row, claims);
    const events = new EventInserts(tables, session, { taskDir, dispatchId, number });
    for (const [id, line] of whole) await events.add(id, line);
    await events.flush();
    await session.run(statements.moveLosses, [row.number, number]);
    await session.run(statements.insertLoss, [row.number, number, JSON.stringify(verification)]);
    await session.run(statements.keepLength, [number]);
    return verification;
  });
}
