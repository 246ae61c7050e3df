import { type CapturedEvent, encodeEvent } from '@hansard/events';
import type { DispatchVerification } from '@hansard/provider';
import type { Claims } from '../claims/claims.ts';
import { chainStart, eventChecksum } from '../database/checksums.ts';
import type { Session } from '../database/database.ts';
import type { ClaimedRow } from '../database/statements.ts';
import type { Tables } from '../database/tables.ts';
import { decodeEnvelope } from '../tables/decode.ts';
import type { EventReader } from './event-reader.ts';

export interface AcceptLossSetup {
  readonly tables: Tables;
  readonly claims: Claims;
  readonly reader: EventReader;
  /** The monotonic time. */
  readonly now: () => number;
}

/** The greatest number of characters in one statement. */
const statementCharacters = 8_000_000;

/**
 * Makes a damaged dispatch usable again, in one transaction:
 * 1. Lock its row, and check it. Without damage, end.
 * 2. Give the dispatch a new number, and store its whole events and the notice under that number.
 * 3. Note the old number in `accepted_losses`. All rows stay in `events` under it, so nothing that is damaged must be written.
 * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED; STORE_CORRUPT if the envelope is damaged
 */
export function acceptLoss(
  { tables, claims, reader, now }: AcceptLossSetup,
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
    const number = await insertCopy(tables, session, row, claims.token);
    await insertEvents(tables, session, { taskDir, dispatchId, number }, whole);
    await session.run(statements.moveLosses, [row.number, number]);
    await session.run(statements.insertLoss, [row.number, number, JSON.stringify(verification)]);
    await session.run(statements.keepLength, [number]);
    return verification;
  });
}

/** The row of the dispatch under a new number. Only a claim of this opening stays. */
async function insertCopy(
  { statements, name }: Tables,
  session: Session,
  row: ClaimedRow,
  token: string,
): Promise<string> {
  const { taskDir, dispatchId, checksum, envelope } = row;
  const { startedAt, status } = decodeEnvelope(row, name);
  const { rows } = await session.run(statements.insertDispatch, [
    ...[taskDir, dispatchId, startedAt, status, row.writer === token ? token : null, Number(row.epoch) + 1],
    ...[checksum, envelope],
  ]);
  return rows[0]?.number ?? '';
}

async function insertEvents(
  { statements }: Tables,
  session: Session,
  {
    taskDir,
    dispatchId,
    number,
  }: { readonly taskDir: string; readonly dispatchId: string; readonly number: string },
  events: ReadonlyMap<string, string>,
): Promise<void> {
  let checksum = chainStart(taskDir, dispatchId);
  let position = 0;
  let part: { id: string; line: string; checksum: number }[] = [];
  let characters = 0;
  const flush = async () => {
    const column = (key: 'id' | 'line' | 'checksum', separator: string) =>
      part.map((row) => row[key]).join(separator);
    await session.run(statements.insertEvents, [
      ...[number, position, column('line', '\n'), column('id', ','), column('checksum', ',')],
    ]);
    position += part.length;
    part = [];
    characters = 0;
  };
  for (const [id, line] of events) {
    checksum = eventChecksum(checksum, line);
    part.push({ id, line, checksum });
    characters += line.length;
    if (characters >= statementCharacters) await flush();
  }
  if (part.length > 0) await flush();
}
