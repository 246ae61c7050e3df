import {
  addRedactions,
  type CapturedEvent,
  newEvent,
  type RedactionCounts,
  redactionsOf,
  replacedField,
} from '@hansard/events';
import { type StoreError, storeErrors } from '@hansard/provider';
import { type Redactor, type UnreadContent, UnreadContents } from '@hansard/redaction';
import type { EventIntake } from '../intake/event-intake.ts';
import { toDispatchRef } from '../store/dispatch-ref.ts';
import type { StoredLetter } from '../store/dispatch-store.ts';
import { InboxClaim, ProviderDispatch } from '../store/provider-dispatch.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { DispatchRedaction } from './dispatch-redaction.ts';

/** What a pass over a dispatch replaces. */
class Replaced {
  readonly counts: Record<string, number> = {};
  events = 0;
  hasEnvelope = false;
  readonly #redactor: Redactor;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  get isAny(): boolean {
    return this.events > 0 || this.hasEnvelope;
  }

  event(event: CapturedEvent): CapturedEvent {
    const redacted = this.#redactor.event(event);
    if (redacted === event) return event;
    this.events += 1;
    addRedactions(this.counts, redactionsOf(redacted.data), redactionsOf(event.data));
    return redacted;
  }

  envelope<T extends Parameters<Redactor['envelope']>[0]>(envelope: T): T {
    const { value, counts } = this.#redactor.envelope(envelope);
    this.hasEnvelope = value !== envelope;
    addRedactions(this.counts, counts);
    return value;
  }
}

/** Replaces the secrets of a dispatch, if it has any. It is read first: every rewrite adds a notice, and a part can follow its bytes. */
export async function redactStored(
  stored: ProviderDispatch,
  redactor: Redactor,
  intake: EventIntake,
): Promise<DispatchRedaction> {
  const { isAny, unread } = await survey(stored, redactor);
  if (!isAny) return { counts: {}, events: 0, hasEnvelope: false, letters: 0, remains: [], unread };
  const replaced = new Replaced(redactor);
  const { remains } = await stored.rewrite({
    envelope: (envelope) => {
      // A rewritten log is counted anew.
      if (envelope.status === 'running') throw stillRunning(stored);
      return { ...replaced.envelope(envelope), folded: null };
    },
    event: (event) => replaced.event(event),
    notice: () =>
      intake.take(
        newEvent('system:notice', {
          problem: problemOf(replaced.counts),
          [replacedField]: replaced.counts,
          changedEvents: replaced.events,
        }),
      ),
  });
  const { counts, events, hasEnvelope } = replaced;
  return { counts, events, hasEnvelope, letters: 0, remains, unread };
}

function problemOf({ content = 0, ...secrets }: RedactionCounts): string {
  const removed = content === 0 ? [] : ['bytes of images, documents or sounds were recorded'];
  const replaced = Object.keys(secrets).length === 0 && content > 0 ? [] : ['secrets were recorded'];
  return `${[...replaced, ...removed].join(' and ')}, and a user had them ${content > 0 ? 'removed from' : 'replaced in'} the stored log`;
}

function stillRunning(stored: ProviderDispatch): StoreError {
  return storeErrors.error(
    'STORE_LOCKED',
    `The dispatch ${stored.dispatchId} of ${stored.taskDir} is still running, so nothing in it was replaced. Try again when it has ended.`,
    { details: { ...toDispatchRef(stored), owner: 'a running dispatch' } },
  );
}

/**
 * Replaces the secrets in the letters to an ended dispatch, with its claim, so that nobody takes a letter meanwhile. A letter that the log has is
 * an event there, too: `redactStored` replaces that one.
 */
export async function redactLetters(
  { provider }: StoreContext,
  stored: ProviderDispatch,
  letters: AsyncIterable<StoredLetter>,
  redactor: Redactor,
): Promise<Pick<DispatchRedaction, 'counts' | 'letters' | 'remains'>> {
  const replaced = new Replaced(redactor);
  const remains = new Set<string>();
  const changed: ProviderDispatch[] = [];
  for await (const { inbox, letterId } of letters) {
    if (letterId === null) {
      remains.add(`The letters to ${stored.dispatchId}, which cannot be listed.`);
      continue;
    }
    const letter = new ProviderDispatch(provider, { taskDir: inbox, dispatchId: letterId });
    try {
      const envelope = await letter.findEnvelope();
      if (envelope !== null && redactor.envelope(envelope).value !== envelope) changed.push(letter);
    } catch (error) {
      const codes = ['STORE_CORRUPT', 'STORE_NEWER', 'STORE_MISPLACED'] as const;
      if (!codes.some((code) => storeErrors.is(error, code))) throw error;
      remains.add(
        `The letter ${letter.dispatchId} to ${stored.dispatchId}, which cannot be read: delete the dispatch to remove it.`,
      );
    }
  }
  if (changed.length > 0) {
    if ((await stored.readEnvelope()).status === 'running') throw stillRunning(stored);
    const claim = await InboxClaim.take(provider, stored);
    try {
      for (const letter of changed) {
        const done = await claim.rewrite(letter, {
          envelope: (one) => replaced.envelope(one),
          event: (one) => one,
        });
        for (const place of done.remains) remains.add(place);
      }
    } finally {
      await claim.release();
    }
  }
  return { counts: replaced.counts, letters: changed.length, remains: [...remains] };
}

/** Whether a dispatch has anything to replace, and the contents that stay. */
async function survey(
  stored: ProviderDispatch,
  redactor: Redactor,
): Promise<{ readonly isAny: boolean; readonly unread: readonly UnreadContent[] }> {
  const found = new Replaced(redactor);
  const unread = new UnreadContents();
  found.envelope(await stored.readEnvelope());
  for (let after = -1; ; ) {
    const { events, first, next } = await stored.readPage({ after }, true);
    if (events.length === 0) break;
    for (const [index, event] of events.entries()) unread.add(found.event(event), first + index);
    after = next;
  }
  return { isAny: found.isAny, unread: unread.all };
}
