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
  mostPageBytes,
  pageRange,
  type ScannedEvents,
  type StoredEvent,
  verifyEvents,
  writtenName,
} from '@hansard/store-kit';
import { assertNamed, type DispatchRow, envelopeDamage, toRow } from '../dispatch-row.ts';
import { corrupt } from '../server/redis-errors.ts';
import { scripts } from '../server/scripts.ts';
import type { Reply, Server } from '../server/server.ts';

interface Named {
  readonly taskDir: string;
  readonly dispatchId: string;
}

/** What this opening has written of a dispatch. */
interface KnownLength {
  readonly number: string;
  readonly length: number;
}

/** A page, as one script read it. */
interface FoundPage extends Named {
  readonly number: string;
  readonly length: number;
  /** The number of entries, which is the length unless some are missing. */
  readonly entries: number;
  /** The checksum of the event before the page; '' without one. */
  readonly before: string;
  readonly events: readonly StoredEvent[];
}

/** More events are not in a dispatch. */
const longest = 2 ** 52;
const anySize = String(longest);
/** `all` begins again so often after a rewrite. */
const mostTries = 8;

/**
 * Reads events by position. Each page is one script, which also reads the number of events and the checksum before the page. So each page is
 * checked against the chain of checksums, against its own positions, and against the number of acknowledged events.
 */
export class EventReader {
  readonly #server: Server;
  /** By dispatch. An older state of the server is damage. */
  readonly #known = new Map<string, KnownLength>();

  constructor(server: Server) {
    this.#server = server;
  }

  acknowledge({ taskDir, dispatchId }: Named, { number, length }: KnownLength): void {
    this.#known.set(writtenName(taskDir, dispatchId), { number, length });
  }

  /** For a dispatch that is no longer written here. */
  forget(taskDir: string, dispatchId: string): void {
    this.#known.delete(writtenName(taskDir, dispatchId));
  }

  /** Every event, all of one number, though the dispatch is rewritten meanwhile. */
  async all(taskDir: string, dispatchId: string): Promise<CapturedEvent[]> {
    for (let tries = 1; ; tries += 1) {
      const all: CapturedEvent[] = [];
      let first: string | null = null;
      let isSame = true;
      for (let after = -1; isSame; ) {
        const { page, number } = await this.#page(taskDir, dispatchId, { after });
        first ??= number;
        isSame = number === first || tries === mostTries;
        for (const event of page.events) all.push(event);
        if (page.events.length === 0) return all;
        after = page.next;
      }
    }
  }

  async page(taskDir: string, dispatchId: string, options: ReadEventsOptions): Promise<EventPage> {
    if (options.skipDamaged === true) return this.#wholePage(taskDir, dispatchId, options);
    return (await this.#page(taskDir, dispatchId, options)).page;
  }

  async #page(taskDir: string, dispatchId: string, options: ReadEventsOptions) {
    const { after = -1, limit = defaultPageLimit, last } = options;
    const start = last === undefined ? String(after + 1) : String(Math.min(last, longest));
    const most = last === undefined ? String(mostPageBytes) : anySize;
    const values = [last === undefined ? 'after' : 'last', start, String(Math.min(limit, longest)), most];
    const found = await this.#readPage(taskDir, dispatchId, values);
    const { length, events, number } = found;
    if (last === undefined && after + 1 > length) {
      if (found.entries !== length) throw await this.#damaged(found, length);
      throw cursorAfterEnd(after, length);
    }
    const range = pageRange(length, options);
    const { first } = range;
    const end = Math.min(range.end, (events.at(-1)?.position ?? range.end - 1) + 1);
    return { page: { events: await this.#checked(found, first, end), first, next: end - 1 }, number };
  }

  /** Checks the row of a dispatch and all its events, and passes the ids and lines of whole events to `keep`. @throws STORE_DISPATCH_NOT_FOUND */
  async verify(
    taskDir: string,
    dispatchId: string,
    keep?: (id: string, line: string) => void,
  ): Promise<DispatchVerification> {
    const row = await this.row(taskDir, dispatchId);
    assertNamed(row, this.#server.name);
    const verification = await this.scanAll(row, row, keep);
    const reason = envelopeDamage(row, this.#server.name);
    if (reason === null) return verification;
    const bytes = Buffer.byteLength(row.envelope);
    const damage = { place: 'dispatches', offset: 0, bytes, eventsBefore: 0, lostEvents: 0, reason };
    return { ...verification, damages: [damage, ...verification.damages] };
  }

  /** A dispatch, whatever of it is damaged. @throws STORE_DISPATCH_NOT_FOUND */
  async row(taskDir: string, dispatchId: string): Promise<DispatchRow> {
    const [row] = await this.rows(taskDir, [dispatchId]);
    if (row === undefined || row === null) throw dispatchNotFound(taskDir, dispatchId);
    return row;
  }

  /** Null for each dispatch that does not exist. */
  async rows(taskDir: string, dispatchIds: readonly string[]): Promise<(DispatchRow | null)[]> {
    const names = dispatchIds.map((dispatchId) => writtenName(taskDir, dispatchId));
    const found = (await this.#server.repeatable(scripts.rows, names)) as readonly Reply[];
    return dispatchIds.map((dispatchId, at) => {
      const reply = found[at] ?? null;
      return reply === null ? null : toRow(taskDir, dispatchId, reply);
    });
  }

  /** Checks all events below the number of a row, which were written under a name. */
  scanAll(
    { number, length, taskDir, dispatchId }: DispatchRow,
    written: Named,
    keep?: (id: string, line: string) => void,
  ): Promise<DispatchVerification> {
    const known = this.#known.get(writtenName(taskDir, dispatchId));
    const least = Math.max(length, known?.number === number ? known.length : 0);
    const { taskDir: task, dispatchId: id } = written;
    return verifyEvents(
      { taskDir: task, dispatchId: id, length, least },
      (...at) => this.scan(number, ...at),
      keep,
    );
  }

  /** What the server has below a number, from a position on. */
  async scan(number: string, position: number, limit: number): Promise<ScannedEvents> {
    const args = [number, String(position), String(limit), String(mostPageBytes)];
    const [isEnd, found] = (await this.#server.repeatable(scripts.scan, args)) as [string, Reply[]];
    return { events: found.map(toEvent), isEnd: isEnd === '1' };
  }

  /** The STORE_CORRUPT of a dispatch of which this opening knows more than the server has; null if there is none. */
  lost(
    { taskDir, dispatchId, number, length }: Named & KnownLength,
    known = this.#knownOf(taskDir, dispatchId),
  ) {
    if (known === undefined) return null;
    const advice = `A failover, a restart or a restored backup has lost the others. \`hansard store verify ${taskDir}/${dispatchId} --accept-loss\` makes the dispatch usable again.`;
    const details = { dispatchId, offset: length, wholeEvents: length };
    if (known.number === number && known.length > length) {
      const what = `dispatch ${dispatchId} had ${known.length} events and has only ${length}`;
      return corrupt(this.#server.name, what, details, advice);
    }
    if (Number(known.number) <= Number(number)) return null;
    const what = `dispatch ${dispatchId} was rewritten, and the server has its older content again`;
    return corrupt(
      this.#server.name,
      what,
      details,
      'A failover, a restart or a restored backup has lost the rewrite.',
    );
  }

  #knownOf(taskDir: string, dispatchId: string): KnownLength | undefined {
    return this.#known.get(writtenName(taskDir, dispatchId));
  }

  async #readPage(taskDir: string, dispatchId: string, values: readonly string[]): Promise<FoundPage> {
    // From before the read, because this opening may append meanwhile.
    const known = this.#knownOf(taskDir, dispatchId);
    const args = [writtenName(taskDir, dispatchId), ...values];
    const reply = (await this.#server.repeatable(scripts.page, args)) as readonly Reply[];
    if (reply[0] === 'missing') throw dispatchNotFound(taskDir, dispatchId);
    const [, number, written, length, entries, before, found] = reply;
    if (written !== writtenName(taskDir, dispatchId))
      assertNamed(await this.row(taskDir, dispatchId), this.#server.name);
    const page = {
      ...{ taskDir, dispatchId, number: String(number), length: Number(length), entries: Number(entries) },
      ...{ before: String(before), events: (found as readonly Reply[]).map(toEvent) },
    };
    const lost = this.lost(page, known);
    if (lost !== null) throw lost;
    return page;
  }

  /** The events from `first` to before `end`. @throws STORE_CORRUPT */
  async #checked(page: FoundPage, first: number, end: number): Promise<CapturedEvent[]> {
    if (page.entries !== page.length) throw await this.#damaged(page, first);
    if (first > 0 && page.before === '') throw await this.#damaged(page, first - 1);
    let previous = first > 0 ? Number(page.before) : chainStart(page.taskDir, page.dispatchId);
    const events: CapturedEvent[] = [];
    for (let position = first; position < end; position += 1) {
      const stored = page.events[position - first];
      const event = stored?.position === position ? decodeEvent(stored.line) : null;
      if (stored === undefined || event === null || eventChecksum(previous, stored.line) !== stored.checksum)
        throw await this.#damaged(page, position);
      previous = stored.checksum;
      events.push(event);
    }
    return events;
  }

  async #wholePage(taskDir: string, dispatchId: string, options: ReadEventsOptions): Promise<EventPage> {
    const events: CapturedEvent[] = [];
    const row = await this.row(taskDir, dispatchId);
    assertNamed(row, this.#server.name);
    await this.scanAll(row, row, (_, line) => {
      const event = decodeEvent(line);
      if (event !== null) events.push(event);
    });
    const { first, end } = pageRange(events.length, options);
    const sizes = events.slice(first, end).map((event) => JSON.stringify(event).length);
    const to = options.last === undefined ? first + countOfPage(sizes) : end;
    return { events: events.slice(first, to), first, next: to - 1 };
  }

  /** A STORE_CORRUPT with the first damage at or after a position, and the number of whole events before it. */
  async #damaged({ taskDir, dispatchId, number }: FoundPage, position: number): Promise<StoreError> {
    const row = await this.row(taskDir, dispatchId);
    const { damages, wholeEvents } = await this.scanAll({ ...row, number }, row);
    const damage =
      damages.find(({ offset, lostEvents }) => offset + (lostEvents ?? 1) > position) ?? damages.at(-1);
    const offset = damage?.offset ?? position;
    const what = `in dispatch ${dispatchId}, at position ${offset}: ${damage?.reason ?? 'an event cannot be read'}`;
    const advice = `It has ${wholeEvents} whole events; --damaged reads them, and \`hansard store verify ${taskDir}/${dispatchId} --accept-loss\` makes the dispatch usable again.`;
    const details = { dispatchId, offset, wholeEvents: damage?.eventsBefore ?? wholeEvents };
    return corrupt(this.#server.name, what, details, advice);
  }
}

function toEvent(reply: Reply): StoredEvent {
  const [position, checksum, id, line] = reply as readonly string[];
  return { position: Number(position), checksum: Number(checksum), id: id ?? '', line: line ?? '' };
}
