import { placeInTime } from '@hansard/store-kit';
import type { Claims } from '../claims/claims.ts';
import { chainStart, envelopeChecksum, eventChecksum } from '../database/checksums.ts';
import type { Session } from '../database/database.ts';
import type { BigInt64, ClaimedRow } from '../database/statements.ts';
import type { Tables } from '../database/tables.ts';
import { decodeEnvelope } from '../tables/decode.ts';
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

/** The row of a removed dispatch under a new number, with this envelope as JSON. Only a claim of this opening stays. */
export async function insertCopy(
  { statements, name }: Tables,
  session: Session,
  row: ClaimedRow,
  { token, envelope = row.envelope }: { readonly token: string; readonly envelope?: string },
): Promise<BigInt64> {
  const { taskDir, dispatchId } = row;
  const decoded = decodeEnvelope(row, name);
  const { status } = decoded;
  const startedAt = placeInTime(decoded);
  const checksum = envelopeChecksum({ taskDir, dispatchId, startedAt, status, envelope });
  const { rows } = await session.run(statements.insertDispatch, [
    ...[taskDir, dispatchId, startedAt, status, row.writer === token ? token : null, Number(row.epoch) + 1],
    ...[checksum, envelope],
  ]);
  return rows[0]?.number ?? '';
}

/** Stores events under a new number, a statement for each 8 million characters. */
export class EventInserts {
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
