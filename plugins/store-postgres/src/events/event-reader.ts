import type { CapturedEvent } from '@hansard/events';
import type { DispatchVerification, EventPage, ReadEventsOptions, StoreError } from '@hansard/provider';
import {
  chainStart,
  countOfPage,
  cursorAfterEnd,
  decodeEvent,
  defaultPageLimit,
  dispatchNotFound,
  eventChecksum,
  pageRange,
  type ScannedEvents,
  verifyEvents,
} from '@hansard/store-kit';
import { corrupt, isDamage } from '../database/postgres-errors.ts';
import type { BigInt64, DispatchRow, PageRow } from '../database/statements.ts';
import type { Tables } from '../database/tables.ts';
import { decodeEnvelope, envelopeDamage, isNamed } from '../tables/decode.ts';

interface Named {
  readonly taskDir: string;
  readonly dispatchId: string;
}

/** The number of events of a dispatch, as an append knew it. */
interface KnownLength {
  readonly number: BigInt64;
  readonly length: number;
}

/** A page, as one statement read it. */
interface FoundPage extends FoundDispatch {
  /** The row before the first event, if there is one, then those of the page. */
  readonly rows: readonly WholeRow[];
}

type WholeRow = { [Key in 'position' | 'checksum' | 'line']: NonNullable<PageRow[Key]> };

/** The number of events that `all` reads at once. */
const eventsAtOnce = 2_000;

/**
 * Reads events by position. Each page is one statement, which also reads the number of events and the row before the page. So each
 * page is checked against the chain of checksums, against its own positions, and against the number of acknowledged events.
 */
export class EventReader {
  readonly #tables: Tables;
  /** What this opening has appended, by dispatch. Fewer events are damage. */
  readonly #known = new Map<string, KnownLength>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  known(taskDir: string, dispatchId: string): KnownLength | undefined {
    return this.#known.get(`${taskDir}\n${dispatchId}`);
  }

  acknowledge(taskDir: string, dispatchId: string, { number, length }: KnownLength): void {
    this.#known.set(`${taskDir}\n${dispatchId}`, { number, length });
  }

  /** For a dispatch that is no longer written here. */
  forget(taskDir: string, dispatchId: string): void {
    this.#known.delete(`${taskDir}\n${dispatchId}`);
  }

  async all(taskDir: string, dispatchId: string): Promise<CapturedEvent[]> {
    const all: CapturedEvent[] = [];
    for (let after = -1; ; ) {
      const { events, next } = await this.page(taskDir, dispatchId, { after, limit: eventsAtOnce });
      for (const event of events) all.push(event);
      if (events.length === 0) return all;
      after = next;
    }
  }

  async page(taskDir: string, dispatchId: string, options: ReadEventsOptions): Promise<EventPage> {
    if (options.skipDamaged === true) return this.#wholePage(taskDir, dispatchId, options);
    const { after = -1, limit = defaultPageLimit, last } = options;
    const values =
      last === undefined
        ? [Math.max(0, after), Math.min(limit, longest) + 1, after + 1]
        : [Math.min(last, longest) + 1];
    const statement = last === undefined ? 'pageOfEvents' : 'lastEvents';
    const page = await this.#readPage(
      statement,
      taskDir,
      dispatchId,
      values,
      last === undefined ? after + 1 : 0,
    );
    if (last === undefined && after + 1 > page.length) {
      if (page.length < page.least) throw await this.#damaged(page, page.length);
      throw cursorAfterEnd(after, page.length);
    }
    const range = pageRange(page.length, options);
    const { first } = range;
    // The statement ends a page that has enough bytes.
    const end = Math.min(range.end, (page.rows.at(-1)?.position ?? range.end) + 1);
    return { events: await this.#checked(page, first, end), first, next: end - 1 };
  }

  /**
   * Checks the row of a dispatch and all rows of its events, and passes the ids and lines of whole events to `keep`.
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  async verify(
    taskDir: string,
    dispatchId: string,
    keep?: (id: string, line: string) => void,
  ): Promise<DispatchVerification> {
    const { statements } = this.#tables;
    const [row] = await this.#tables.rows(statements.getDispatch, [taskDir, dispatchId]);
    if (row === undefined) throw dispatchNotFound(taskDir, dispatchId);
    const verification = await this.#scan(await this.locate(taskDir, dispatchId), keep);
    const reason = envelopeDamage(row, this.#tables.name);
    if (reason === null) return verification;
    const damage = {
      place: 'dispatches',
      offset: Number(row.number),
      bytes: Buffer.byteLength(row.envelope),
      eventsBefore: 0,
      lostEvents: 0,
      reason,
    };
    return { ...verification, damages: [damage, ...verification.damages] };
  }

  /** A dispatch, whatever of it is damaged. @throws STORE_DISPATCH_NOT_FOUND */
  async locate(taskDir: string, dispatchId: string): Promise<FoundDispatch> {
    const known = this.known(taskDir, dispatchId);
    const [head] = await this.#tables.rows(this.#tables.statements.getHead, [taskDir, dispatchId]);
    if (head === undefined) throw dispatchNotFound(taskDir, dispatchId);
    await this.#assertNamed(head, taskDir, dispatchId);
    const { number, length } = head;
    return { taskDir, dispatchId, number, length, least: leastOf(head, known) };
  }

  /** Checks the events of a row under the name under which it was written. */
  async verifyWritten({ taskDir, dispatchId, writtenAs }: DispatchRow): Promise<DispatchVerification> {
    const [head] = await this.#tables.rows(this.#tables.statements.getHead, [taskDir, dispatchId]);
    if (head === undefined) throw dispatchNotFound(taskDir, dispatchId);
    const { number, length, acknowledged: least } = head;
    const at = writtenAs.lastIndexOf('/');
    const written = { taskDir: writtenAs.slice(0, at), dispatchId: writtenAs.slice(at + 1) };
    return this.#scan({ ...written, number, length, least });
  }

  /** @throws STORE_MISPLACED, STORE_CORRUPT unless the dispatch was written under this name */
  async #assertNamed(
    head: Pick<DispatchRow, 'writtenAs'>,
    taskDir: string,
    dispatchId: string,
  ): Promise<void> {
    if (isNamed(head, { taskDir, dispatchId })) return;
    const [row] = await this.#tables.rows(this.#tables.statements.getDispatch, [taskDir, dispatchId]);
    if (row === undefined) throw dispatchNotFound(taskDir, dispatchId);
    decodeEnvelope(row, this.#tables.name);
  }

  async #readPage(
    statement: 'pageOfEvents' | 'lastEvents',
    taskDir: string,
    dispatchId: string,
    values: readonly number[],
    first: number,
  ): Promise<FoundPage> {
    const known = this.known(taskDir, dispatchId);
    let found: PageRow[];
    try {
      found = await this.#tables.rows(this.#tables.statements[statement], [taskDir, dispatchId, ...values]);
    } catch (error) {
      if (isDamage(error)) throw await this.#damaged(await this.locate(taskDir, dispatchId), first, error);
      throw error;
    }
    const [head] = found;
    if (head === undefined) throw dispatchNotFound(taskDir, dispatchId);
    await this.#assertNamed(head, taskDir, dispatchId);
    const { number, length } = head;
    const rows = found.filter((row): row is PageRow & WholeRow => row.position !== null);
    return { taskDir, dispatchId, number, length, least: leastOf(head, known), rows };
  }

  /** The events from `first` to before `end`. @throws STORE_CORRUPT */
  async #checked(page: FoundPage, first: number, end: number): Promise<CapturedEvent[]> {
    if (page.length < page.least) throw await this.#damaged(page, page.length);
    const [before] = page.rows;
    const rows = page.rows.filter(({ position }) => position >= first && position < end);
    let previous = chainStart(page.taskDir, page.dispatchId);
    if (first > 0) {
      if (before?.position !== first - 1) throw await this.#damaged(page, first - 1);
      previous = before.checksum;
    }
    const events: CapturedEvent[] = [];
    for (let position = first; position < end; position += 1) {
      const row = rows[position - first];
      const event = row?.position === position ? decodeEvent(row.line) : null;
      if (row === undefined || event === null || eventChecksum(previous, row.line) !== row.checksum)
        throw await this.#damaged(page, position);
      previous = row.checksum;
      events.push(event);
    }
    return events;
  }

  async #wholePage(taskDir: string, dispatchId: string, options: ReadEventsOptions): Promise<EventPage> {
    const events: CapturedEvent[] = [];
    await this.#scan(await this.locate(taskDir, dispatchId), (_, line) => {
      const event = decodeEvent(line);
      if (event !== null) events.push(event);
    });
    const { first, end } = pageRange(events.length, options);
    const sizes = events.slice(first, end).map((event) => JSON.stringify(event).length);
    const to = options.last === undefined ? first + countOfPage(sizes) : end;
    return { events: events.slice(first, to), first, next: to - 1 };
  }

  #scan(found: FoundDispatch, keep?: (id: string, line: string) => void): Promise<DispatchVerification> {
    return verifyEvents(found, (position, limit) => this.#scanned(found.number, position, limit), keep);
  }

  /** The reason instead, where the server finds a damaged page. */
  async #scanned(number: BigInt64, position: number, limit: number): Promise<ScannedEvents | string> {
    try {
      const events = await this.#tables.rows(this.#tables.statements.scanEvents, [number, position, limit]);
      return { events, isEnd: events.length < limit };
    } catch (error) {
      if (isDamage(error)) return (error as Error).message;
      throw error;
    }
  }

  /** A STORE_CORRUPT with the first damage at or after a position, and the number of whole events before it. */
  async #damaged(found: FoundDispatch, position: number, cause?: unknown): Promise<StoreError> {
    const { taskDir, dispatchId, number, length, least } = found;
    const { damages, wholeEvents } = await this.#scan(found);
    const damage =
      damages.find(({ offset, lostEvents }) => offset + (lostEvents ?? 1) > position) ?? damages.at(-1);
    const [now] = await this.#tables.rows(this.#tables.statements.getDispatch, [taskDir, dispatchId]);
    if (now?.number !== number) return dispatchNotFound(taskDir, dispatchId);
    if (length < least && damage === undefined)
      return lostTail(this.#tables.name, found, least, length, cause);
    const what = damage?.reason ?? 'an event cannot be read';
    return corrupt(
      this.#tables.name,
      `in dispatch ${dispatchId}, at position ${damage?.offset ?? position}: ${what}`,
      {
        advice: `It has ${wholeEvents} whole events; --damaged reads them, and \`hansard store verify ${taskDir}/${dispatchId} --accept-loss\` makes the dispatch usable again.`,
        cause,
        details: {
          dispatchId,
          offset: damage?.offset ?? position,
          wholeEvents: damage?.eventsBefore ?? wholeEvents,
        },
      },
    );
  }
}

/** A greater number of rows is not a number of PostgreSQL's `integer`. */
const longest = 2_000_000_000;

/** The number of events that a dispatch must have. `known` is from before its row was read. */
export function leastOf(
  { number, acknowledged }: { readonly number: BigInt64; readonly acknowledged: number },
  known: KnownLength | undefined,
): number {
  return Math.max(acknowledged, known?.number === number ? known.length : 0);
}

/** For a dispatch that has fewer events than were acknowledged. */
export function lostTail(
  name: string,
  { taskDir, dispatchId }: Named,
  had: number,
  found: number,
  cause?: unknown,
): StoreError {
  return corrupt(name, `dispatch ${dispatchId} had ${had} events and has only ${found}`, {
    advice: `A failover or a restored backup has lost the others. \`hansard store verify ${taskDir}/${dispatchId} --accept-loss\` makes the dispatch usable again.`,
    cause,
    details: { dispatchId, offset: found, wholeEvents: found },
  });
}

/** A dispatch and its events, as the database has them now. */
interface FoundDispatch {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly number: BigInt64;
  readonly length: number;
  /** The number of events that were acknowledged; fewer events are damage. */
  readonly least: number;
}
