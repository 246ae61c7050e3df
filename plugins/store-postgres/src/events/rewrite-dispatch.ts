import { type CapturedEvent, encodeEvent } from '@hansard/events';
import { type DispatchRewrite, type DispatchRewritten, storeErrors } from '@hansard/provider';
import { placesAfterRewrite } from '../database/remove-remains.ts';
import { decodeEnvelope, decodeEvent } from '../tables/decode.ts';
import { EventInserts, insertCopy, type RenewalSetup } from './renewal.ts';

/** A page of rows in memory. */
const pageSize = 1_000;

/**
 * Replaces the content of a dispatch, in one transaction that has its row locked: the new envelope and the new events get a new number, and what
 * is stored under the old number is deleted.
 * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_CORRUPT
 */
export function rewriteDispatch(
  { tables, claims, reader, now }: RenewalSetup,
  taskDir: string,
  dispatchId: string,
  { envelope, event, notice }: DispatchRewrite,
): Promise<DispatchRewritten> {
  const { statements } = tables;
  const since = now();
  return tables.change(taskDir, dispatchId, async (session, row) => {
    claims.assertClaimable(row, since);
    const [damage] = (await reader.verify(taskDir, dispatchId)).damages;
    if (damage !== undefined)
      throw storeErrors.error(
        'STORE_CORRUPT',
        `Dispatch ${dispatchId} of ${taskDir} in ${tables.name} is damaged: ${damage.reason}. See \`hansard store verify\`.`,
        { details: { file: tables.name, offset: damage.offset, wholeEvents: damage.eventsBefore } },
      );
    const text = JSON.stringify(envelope(decodeEnvelope(row, tables.name)));
    const old = row.number;
    await session.run(statements.deleteWords, [old]);
    await session.run(statements.deleteDispatch, [old]);
    const number = await insertCopy(tables, session, row, { token: claims.token, envelope: text });
    const events = new EventInserts(tables, session, { taskDir, dispatchId, number });
    for (let position = 0; ; ) {
      const { rows } = await session.run(statements.scanEvents, [old, position, pageSize]);
      for (const { id, line } of rows) {
        const stored = decodeEvent(line) as CapturedEvent;
        const rewritten = event(stored);
        await events.add(id, rewritten === stored ? line : encodeEvent(rewritten));
      }
      position += rows.length;
      if (rows.length < pageSize) break;
    }
    const last = notice?.();
    if (last !== undefined) await events.add(last.id, encodeEvent(last));
    await events.flush();
    await session.run(statements.deleteOwnEvents, [old]);
    const { count: losses } = await session.run(statements.moveLosses, [old, number]);
    await session.run(statements.keepLength, [number]);
    const remains = placesAfterRewrite(tables);
    if (losses > 0)
      remains.push(
        `The damaged rows of ${losses} accepted losses, in ${tables.name}: delete the dispatch to remove them.`,
      );
    return { remains };
  });
}
