import { type CapturedEvent, type DispatchEnvelope, encodeEvent } from '@hansard/events';
import type { DispatchRewrite, DispatchRewritten, DispatchVerification } from '@hansard/provider';
import { chainStart, decodeEvent, dispatchNotClaimed, eventChecksum, writtenName } from '@hansard/store-kit';
import type { Claims, FencedClaim } from '../claims.ts';
import {
  assertNamed,
  type DispatchRow,
  decodeEnvelope,
  decodeWritten,
  envelopeFields,
  isNamed,
} from '../dispatch-row.ts';
import { placesAfterRewrite } from '../remains.ts';
import { corrupt } from '../server/redis-errors.ts';
import { scripts } from '../server/scripts.ts';
import type { Server } from '../server/server.ts';
import type { EventReader } from './event-reader.ts';

/** What gives a dispatch a new number needs, with its content under that number. */
export interface RenewalSetup {
  readonly server: Server;
  readonly claims: Claims;
  readonly reader: EventReader;
}

/** Characters in one script. */
const partCharacters = 1_000_000;

/** The number of events in memory. */
const eventsAtOnce = 1_000;

/**
 * Events below a number that no dispatch has yet. Filled in parts, each of which needs the claim, and then made the content of the dispatch in
 * one step. What a process leaves that is killed in between is found by `findRemains`, and read by nobody.
 */
class Staged {
  readonly #server: Server;
  readonly #claims: Claims;
  readonly #claim: FencedClaim;
  readonly #name: string;
  #number = '';
  #checksum: number;
  #length = 0;
  #staged = 0;
  #last = '';
  #part: string[] = [];
  #characters = 0;

  constructor({ server, claims }: RenewalSetup, claim: FencedClaim) {
    const { taskDir, dispatchId } = claim.row;
    this.#server = server;
    this.#claims = claims;
    this.#claim = claim;
    this.#name = writtenName(taskDir, dispatchId);
    this.#checksum = chainStart(taskDir, dispatchId);
  }

  async add(event: CapturedEvent, line: string): Promise<void> {
    this.#checksum = eventChecksum(this.#checksum, line);
    this.#part.push(String(this.#checksum), event.id, line);
    this.#length += 1;
    this.#last = event.timestamp ?? '';
    this.#characters += line.length;
    if (this.#characters >= partCharacters) await this.#flush();
  }

  /** `verification` keeps the old events, as those of an accepted loss. */
  async switchTo(envelope: DispatchEnvelope, verification = ''): Promise<void> {
    if (this.#part.length > 0 || this.#number === '') await this.#flush();
    const tail = this.#length === 0 ? '' : String(this.#checksum);
    await this.#run(scripts.switchTo, [
      ...[this.#number, String(this.#length), tail, this.#last, this.#length === 0 ? '0' : '1'],
      ...envelopeFields(this.#name, envelope),
      verification,
    ]);
  }

  /** Removes what was staged, if the server can be reached. */
  async drop(): Promise<void> {
    if (this.#number === '') return;
    try {
      await this.#server.repeatable(scripts.unstage, [this.#number]);
    } catch {
      // The caller has the error for which this is done. `findRemains` names what is left.
    }
  }

  async #flush(): Promise<void> {
    const part = this.#part;
    this.#number = await this.#run(scripts.stage, [this.#number, String(this.#staged), ...part]);
    this.#staged = this.#length;
    this.#part = [];
    this.#characters = 0;
  }

  async #run(script: (typeof scripts)[keyof typeof scripts], args: readonly string[]): Promise<string> {
    const epoch = String(this.#claim.epoch);
    const all = [this.#claims.token, this.#name, epoch, ...args];
    const [answer, value] = (await this.#server.run(script, all)) as readonly string[];
    const { taskDir, dispatchId } = this.#claim.row;
    if (answer !== 'ok') throw dispatchNotClaimed(taskDir, dispatchId);
    return value ?? '';
  }
}

/** Runs work that holds the claim of a dispatch, and releases a claim that this opening did not have before. */
async function withClaim<T>(
  { claims, reader }: RenewalSetup,
  taskDir: string,
  dispatchId: string,
  work: (claim: FencedClaim) => Promise<T>,
): Promise<T> {
  const claim = await claims.take(taskDir, dispatchId);
  if (claim.wasOurs) return work(claim);
  claims.borrow(taskDir, dispatchId);
  const release = () => {
    reader.forget(taskDir, dispatchId);
    return claims.release(taskDir, dispatchId);
  };
  try {
    const result = await work(claim);
    await release();
    return result;
  } catch (error) {
    // The caller has the first error. `close` releases the claim, if the server cannot be reached now.
    await release().catch(() => {});
    throw error;
  }
}

/** Fills a new number and switches to it. After an error nothing has changed, and what was staged is removed. */
async function renewed(
  setup: RenewalSetup,
  claim: FencedClaim,
  fill: (staged: Staged) => Promise<DispatchEnvelope>,
  verification?: DispatchVerification,
): Promise<void> {
  const staged = new Staged(setup, claim);
  try {
    const envelope = await fill(staged);
    await staged.switchTo(envelope, verification === undefined ? '' : JSON.stringify(verification));
  } catch (error) {
    await staged.drop();
    throw error;
  }
  setup.reader.forget(claim.row.taskDir, claim.row.dispatchId);
}

/**
 * Makes a damaged dispatch usable again: its whole events and the notice get a new number. The damaged ones stay under the old number, which
 * `losses` of its row names.
 * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED; STORE_CORRUPT if the envelope is damaged
 */
export function acceptLoss(
  setup: RenewalSetup,
  taskDir: string,
  dispatchId: string,
  notice: CapturedEvent,
): Promise<DispatchVerification> {
  return withClaim(setup, taskDir, dispatchId, async (claim) => {
    const envelope = decodeEnvelope(claim.row, setup.server.name);
    const whole: string[] = [];
    const verification = await setup.reader.scanAll(claim.row, claim.row, (_, line) => whole.push(line));
    if (verification.damages.length === 0) return verification;
    const fill = async (staged: Staged) => {
      for (const line of whole) await staged.add(decodeEvent(line) as CapturedEvent, line);
      await staged.add(notice, encodeEvent(notice));
      return envelope;
    };
    await renewed(setup, claim, fill, verification);
    return verification;
  });
}

/** Replaces the content of a dispatch. @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_CORRUPT */
export function rewriteDispatch(
  setup: RenewalSetup,
  taskDir: string,
  dispatchId: string,
  rewrite: DispatchRewrite,
): Promise<DispatchRewritten> {
  return withClaim(setup, taskDir, dispatchId, async (claim) => {
    assertNamed(claim.row, setup.server.name);
    await replaceContent(setup, claim, claim.row, rewrite);
    return { remains: placesAfterRewrite(setup.server, claim.row) };
  });
}

/** Gives a dispatch that was written under another name the one of its place. @returns whether it had another name */
export function adoptDispatch(setup: RenewalSetup, taskDir: string, dispatchId: string): Promise<boolean> {
  return withClaim(setup, taskDir, dispatchId, async (claim) => {
    const { row } = claim;
    if (isNamed(row)) return false;
    const at = row.written.lastIndexOf('/');
    const written = { taskDir: row.written.slice(0, at), dispatchId: row.written.slice(at + 1) };
    const envelope = (one: DispatchEnvelope) => ({ ...one, dispatchId });
    await replaceContent(setup, claim, written, { envelope, event: (event) => event });
    return true;
  });
}

async function replaceContent(
  setup: RenewalSetup,
  claim: FencedClaim,
  written: Pick<DispatchRow, 'taskDir' | 'dispatchId'>,
  { envelope, event, notice }: DispatchRewrite,
): Promise<void> {
  const { reader, server } = setup;
  const { row } = claim;
  const old = decodeWritten(row, server.name);
  const { damages } = await reader.scanAll(row, written);
  const [damage] = damages;
  if (damage !== undefined) {
    const details = { offset: damage.offset, wholeEvents: damage.eventsBefore };
    throw corrupt(server.name, `in dispatch ${row.dispatchId} of ${row.taskDir}: ${damage.reason}`, details);
  }
  await renewed(setup, claim, async (staged) => {
    const next = envelope(old);
    for (let position = 0, isEnd = false; !isEnd; ) {
      const found = await reader.scan(row.number, position, eventsAtOnce);
      for (const { line } of found.events) {
        const stored = decodeEvent(line) as CapturedEvent;
        const rewritten = event(stored);
        await staged.add(rewritten, rewritten === stored ? line : encodeEvent(rewritten));
        position += 1;
      }
      isEnd = found.isEnd;
    }
    const last = notice?.();
    if (last !== undefined) await staged.add(last, encodeEvent(last));
    return next;
  });
}
