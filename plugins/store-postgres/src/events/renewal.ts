import { type CapturedEvent, type DispatchEnvelope, encodeEvent } from '@hansard/events';
import {
  type DispatchRewrite,
  type DispatchRewritten,
  type DispatchVerification,
  storeErrors,
} from '@hansard/provider';
import { chainStart, decodeEvent, eventChecksum, placeInTime, writtenName } from '@hansard/store-kit';
import type { Claims, FencedClaim } from '../claims.ts';
import type { Session } from '../database/database.ts';
import { placesAfterRewrite } from '../database/remove-remains.ts';
import type { BigInt64 } from '../database/statements.ts';
import type { Tables } from '../database/tables.ts';
import { decodeEnvelope, decodeWritten, envelopeChecksum, isNamed } from '../tables/decode.ts';
import type { EventReader } from './event-reader.ts';

/** What gives a dispatch a new number needs, with its content under that number. */
export interface RenewalSetup {
  readonly tables: Tables;
  readonly claims: Claims;
  readonly reader: EventReader;
  /** The monotonic time. */
  readonly now: () => number;
}

/** The greatest number of characters in one statement. */
const statementCharacters = 8_000_000;

/** Puts the row of a dispatch under a new number and the name of its place, with this envelope as JSON. Only a claim of this opening stays. @returns the number */
async function renew(
  { statements, name }: Tables,
  session: Session,
  { row }: FencedClaim,
  { token, envelope = row.envelope }: { readonly token: string; readonly envelope?: string },
): Promise<BigInt64> {
  const { taskDir, dispatchId } = row;
  await session.run(statements.deleteWords, [row.number]);
  await session.run(statements.deleteDispatch, [row.number]);
  const decoded = decodeWritten(row, name);
  const { status } = decoded;
  const startedAt = placeInTime(decoded);
  const writtenAs = writtenName(taskDir, dispatchId);
  const checksum = envelopeChecksum({ writtenAs, startedAt, status, envelope });
  const { rows } = await session.run(statements.insertDispatch, [
    ...[taskDir, dispatchId, writtenAs, startedAt, status],
    ...[row.writer === token ? token : null, Number(row.epoch) + 1, checksum, envelope],
  ]);
  return rows[0]?.number ?? '';
}

/** Stores events under a new number, a statement for each 8 million characters. */
class EventInserts {
  readonly #tables: Tables;
  readonly #session: Session;
  readonly #number: BigInt64;
  #checksum: number;
  #position = 0;
  #part: { id: string; line: string; checksum: number }[] = [];
  #characters = 0;

  constructor(
    tables: Tables,
    session: Session,
    { taskDir, dispatchId, number }: { taskDir: string; dispatchId: string; number: BigInt64 },
  ) {
    this.#tables = tables;
    this.#session = session;
    this.#number = number;
    this.#checksum = chainStart(taskDir, dispatchId);
  }

  async add(id: string, line: string): Promise<void> {
    this.#checksum = eventChecksum(this.#checksum, line);
    this.#part.push({ id, line, checksum: this.#checksum });
    this.#characters += line.length;
    if (this.#characters >= statementCharacters) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#part.length === 0) return;
    const part = this.#part;
    const column = (key: 'id' | 'line' | 'checksum', separator: string) =>
      part.map((row) => row[key]).join(separator);
    await this.#session.run(this.#tables.statements.insertEvents, [
      ...[this.#number, this.#position, column('line', '\n'), column('id', ','), column('checksum', ',')],
    ]);
    this.#position += part.length;
    this.#part = [];
    this.#characters = 0;
  }
}

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
    const claim = claims.takeOver(row, since);
    const whole = new Map<string, string>();
    const verification = await reader.verify(taskDir, dispatchId, (id, line) => whole.set(id, line));
    if (verification.damages.length === 0) return verification;
    whole.set(notice.id, encodeEvent(notice));
    const number = await renew(tables, session, claim, claims);
    const events = new EventInserts(tables, session, { taskDir, dispatchId, number });
    for (const [id, line] of whole) await events.add(id, line);
    await events.flush();
    await session.run(statements.moveLosses, [row.number, number]);
    await session.run(statements.insertLoss, [row.number, number, JSON.stringify(verification)]);
    await session.run(statements.keepLength, [number]);
    return verification;
  });
}

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
  rewrite: DispatchRewrite,
): Promise<DispatchRewritten> {
  const since = now();
  return tables.change(taskDir, dispatchId, async (session, row) => {
    const claim = claims.takeOver(row, since);
    const verification = await reader.verify(taskDir, dispatchId);
    const losses = await replaceContent({ tables, claims }, session, claim, verification, rewrite);
    const remains = placesAfterRewrite(tables);
    if (losses > 0)
      remains.push(
        `The damaged rows of ${losses} accepted losses, in ${tables.name}: delete the dispatch to remove them.`,
      );
    return { remains };
  });
}

/**
 * Gives a dispatch that was written under another name the one of its place, with its events.
 * @returns whether it had another name
 * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_CORRUPT
 */
export function adoptDispatch(
  { tables, claims, reader, now }: RenewalSetup,
  taskDir: string,
  dispatchId: string,
): Promise<boolean> {
  const since = now();
  const renamed = { envelope: (envelope: DispatchEnvelope) => ({ ...envelope, dispatchId }), event: same };
  return tables.changeAny(taskDir, dispatchId, async (session, row) => {
    if (isNamed(row, row)) return false;
    const claim = claims.takeOver(row, since);
    const verification = await reader.verifyWritten(row);
    await replaceContent({ tables, claims }, session, claim, verification, renamed);
    return true;
  });
}

const same = (event: CapturedEvent) => event;

/** @returns the number of accepted losses, whose rows stay @throws STORE_CORRUPT */
async function replaceContent(
  { tables, claims }: Pick<RenewalSetup, 'tables' | 'claims'>,
  session: Session,
  claim: FencedClaim,
  { damages }: DispatchVerification,
  { envelope, event, notice }: DispatchRewrite,
): Promise<number> {
  const { statements } = tables;
  const { row } = claim;
  const { taskDir, dispatchId, number: old } = row;
  const [damage] = damages;
  if (damage !== undefined)
    throw storeErrors.error(
      'STORE_CORRUPT',
      `Dispatch ${dispatchId} of ${taskDir} in ${tables.name} is damaged: ${damage.reason}. See \`hansard store verify\`.`,
      { details: { file: tables.name, offset: damage.offset, wholeEvents: damage.eventsBefore } },
    );
  const text = JSON.stringify(envelope(decodeWritten(row, tables.name)));
  const number = await renew(tables, session, claim, { token: claims.token, envelope: text });
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
  return losses;
}
