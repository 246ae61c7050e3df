import {
  type DispatchEnvelope,
  type DispatchLetter,
  envelopeSchemaVersion,
  type HansardError,
  isSameJson,
} from '@hansard/events';
import { isInternalTask, type RemainsScope, storeErrors } from '@hansard/provider';
import { excludedTask, inboxes, isInbox, isNotesTask, watchTask } from '../check-arguments.ts';
import { dispatchErrors } from '../dispatch-errors.ts';
import { checkEnvelope, newEnvelope } from '../intake/envelope-intake.ts';
import type { DispatchRef } from './dispatch-ref.ts';
import type { NewLetter, StoredLetter } from './dispatch-store.ts';
import { InboxClaim, ProviderDispatch } from './provider-dispatch.ts';
import type { StoreContext } from './store-context.ts';

/** In characters. A model is given the text as a whole. */
const longestText = 1_048_576;

/** The task that has the letters of a dispatch. The part of a path cannot end with a dot, and no id has a `%`. */
const inboxOf = (dispatchId: string): string =>
  `${inboxes}${dispatchId}${dispatchId.endsWith('.') ? '%' : ''}`;

/**
 * Writes a letter, whole or not at all. The dispatch is read before the letter is written and after that; its deletion reads the letters before
 * and after the dispatch is gone. So the sender or the deletion removes a letter that was written meanwhile.
 * @throws STORE_DISPATCH_NOT_FOUND, DISPATCH_LETTER_REFUSED, EVENT_ENVELOPE_INVALID, STORE_DISPATCH_EXISTS for another letter with that `from`
 */
export async function writeLetter(
  context: StoreContext,
  dispatch: DispatchRef,
  letter: NewLetter,
): Promise<DispatchLetter> {
  const { taskDir, dispatchId } = dispatch;
  const stored = new ProviderDispatch(context.provider, dispatch);
  const reason = whyRefused(taskDir, await stored.readEnvelope(), letter);
  if (reason !== null)
    throw dispatchErrors.error(
      'DISPATCH_LETTER_REFUSED',
      `The letter to ${dispatchId} was not written: ${reason}.`,
      { details: { taskDir, dispatchId, reason } },
    );
  const envelope = await letterEnvelope(context, dispatch, letter);
  const inbox = inboxOf(dispatchId);
  const place = { taskDir: inbox, dispatchId: envelope.dispatchId };
  const written = new ProviderDispatch(context.provider, place);
  try {
    await written.create(envelope);
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_DISPATCH_EXISTS')) throw error;
    // Sent again: only its time differs.
    if (!isSameJson((await written.findEnvelope())?.letter, envelope.letter)) throw error;
  }
  try {
    await stored.readEnvelope();
  } catch (error) {
    if (storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) await deleteOrphans(context, stored, [place]);
    throw error;
  }
  context.notifiers.notify(place);
  return envelope.letter;
}

function whyRefused(
  taskDir: string,
  { status, source, pending = [] }: DispatchEnvelope,
  { text, abort = false, answer }: NewLetter,
): string | null {
  if (isInternalTask(taskDir)) return 'its task belongs to Hansard';
  if (source !== null) return 'it was imported, so no program of Hansard continues it';
  if (answer !== undefined) {
    const isPending = pending.some(({ callId }) => callId === answer.callId);
    return isPending
      ? null
      : 'no such call of it waits for a person: the call was answered before, or never asked about';
  }
  if (status !== 'running') return 'it has ended';
  if (typeof text === 'string' && text.length > longestText)
    return `its text has ${text.length} characters, and the limit is ${longestText}`;
  const isEmpty = text === undefined || (typeof text === 'string' && text.trim() === '');
  return isEmpty && !abort ? 'it has no text' : null;
}

/** Checked and redacted. @throws EVENT_ENVELOPE_INVALID */
async function letterEnvelope(
  { createId, clock, redaction }: StoreContext,
  { taskDir, dispatchId }: DispatchRef,
  {
    from = `letter_${createId()}`,
    abort = false,
    text,
    agentId,
    source = { kind: 'user' },
    answer,
  }: NewLetter,
): Promise<DispatchEnvelope & { readonly letter: DispatchLetter }> {
  await redaction?.ready();
  const check = (letter: DispatchLetter): DispatchEnvelope => {
    const { schemaVersion, ...facts } = newEnvelope(
      inboxOf(dispatchId),
      { dispatchId: letter.from, role: 'letter' },
      createId,
      () => clock.now(),
    );
    const completedAt = facts.startedAt;
    return checkEnvelope({ ...facts, completedAt, status: 'completed', letter, schemaVersion });
  };
  const letter: DispatchLetter = {
    from,
    taskDir,
    source,
    ...(text === undefined || text === '' ? {} : { text }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(abort ? { abort } : {}),
    ...(answer === undefined ? {} : { answer }),
  };
  const checked = redaction?.envelope(redaction.checked(letter, check)) ?? check(letter);
  return { ...checked, letter: checked.letter ?? letter };
}

/** The letters of the scope. Of one dispatch: the letters in the inbox that its id names, in the order of their start. */
export async function* readLetters(
  context: StoreContext,
  { taskDir, dispatchId }: RemainsScope,
): AsyncGenerator<StoredLetter, undefined> {
  if (taskDir === undefined) yield* readInboxes(context, { internal: true });
  else if (dispatchId !== undefined) yield* readInbox(context, { taskDir, dispatchId });
  else
    for await (const listed of pagesOf(context, { taskDir }))
      if (listed.dispatchId !== null) yield* readInbox(context, { taskDir, dispatchId: listed.dispatchId });
}

/** The inbox has the letters to a dispatch of another task with the same id, too. */
async function* readInbox(
  context: StoreContext,
  { taskDir, dispatchId }: DispatchRef,
): AsyncGenerator<StoredLetter, undefined> {
  const inbox = inboxOf(dispatchId);
  try {
    for await (const letter of readInboxes(context, { taskDir: inbox }))
      if (letter.to === null || letter.to.taskDir === null || letter.to.taskDir === taskDir) yield letter;
  } catch (error) {
    // A link out of the store is in the place of the inbox.
    if (!storeErrors.is(error, 'STORE_INVALID_PATH')) throw error;
    yield { inbox, letterId: null, to: { taskDir: null, dispatchId }, letter: null, error };
  }
}

async function* readInboxes(
  context: StoreContext,
  options: { readonly taskDir: string } | { readonly internal: true },
): AsyncGenerator<StoredLetter, undefined> {
  for await (const { taskDir: inbox, dispatchId: letterId, envelope, error } of pagesOf(context, options)) {
    if (inbox === excludedTask || inbox === watchTask || isNotesTask(inbox)) continue;
    const name = isInbox(inbox) ? inbox.slice(inboxes.length).replace(/%$/, '') : null;
    const to = name === null ? null : { taskDir: envelope?.letter?.taskDir ?? null, dispatchId: name };
    const place = { inbox, letterId, to };
    const reason = envelope === null ? null : whyInvalid(inbox, envelope);
    const problem: HansardError | null =
      reason === null
        ? (error ?? null)
        : dispatchErrors.error(
            'DISPATCH_LETTER_INVALID',
            `The letter ${letterId} in ${inbox} is not taken: ${reason}.`,
            { details: { taskDir: inbox, dispatchId: envelope?.dispatchId ?? '', reason } },
          );
    if (problem !== null) yield { ...place, letter: null, error: problem };
    else if (envelope?.letter !== undefined) yield { ...place, letter: envelope.letter, error: null };
  }
}

/** Every entry of every page. */
async function* pagesOf(
  { provider }: StoreContext,
  options: { readonly taskDir: string } | { readonly internal: true },
) {
  for (let after: string | undefined; ; ) {
    const page = await provider.listDispatches({ ...options, ...(after === undefined ? {} : { after }) });
    yield* page.dispatches;
    if (page.next === null) return;
    after = page.next;
  }
}

/** Null: the owner of the dispatch takes it. */
function whyInvalid(
  inbox: string,
  { dispatchId, letter, schemaVersion, status }: DispatchEnvelope,
): string | null {
  if (schemaVersion > envelopeSchemaVersion)
    return `its version is ${schemaVersion}, and this program knows ${envelopeSchemaVersion}`;
  if (!isInbox(inbox)) return 'it is in no inbox';
  if (letter === undefined) return 'its envelope has no letter';
  if (letter.from !== dispatchId) return 'it is stored under another id than its own';
  if (status === 'running') return 'it is not whole: its envelope has not ended';
  if ((letter.text ?? '').length > longestText)
    return `its text has ${letter.text?.length} characters, and the limit is ${longestText}`;
  return letter.abort !== true && letter.answer === undefined && (letter.text ?? '').trim() === ''
    ? 'it has no text'
    : null;
}

/** Which of these letters the log of a dispatch has after a position. */
export async function takenOf(
  stored: ProviderDispatch,
  letters: readonly DispatchLetter[],
  after = -1,
): Promise<Set<string>> {
  const wanted = new Set(letters.map(({ from }) => from));
  const taken = new Set<string>();
  for (let position = after; taken.size < wanted.size; ) {
    const { events, next } = await stored.readPage({ after: position });
    if (events.length === 0) break;
    for (const { id } of events) if (wanted.has(id)) taken.add(id);
    position = next;
  }
  return taken;
}

/**
 * Deletes a dispatch and its letters, with its claim.
 * 1. The letters first: a dispatch whose deletion was interrupted can be deleted again.
 * 2. Then the dispatch, and the letters that were written meanwhile ({@link writeLetter}).
 */
export async function deleteWithLetters(context: StoreContext, stored: ProviderDispatch): Promise<void> {
  if (isInbox(stored.taskDir)) return deleteLetter(context, stored);
  const places = await placesOf(context, stored);
  if (places.length > 0) {
    const claim = await InboxClaim.take(context.provider, stored);
    try {
      for (const place of places) await claim.delete(place);
    } catch (error) {
      await claim.release();
      throw error;
    }
  }
  await stored.delete();
  await deleteOrphans(context, stored, await placesOf(context, stored));
}

/** Deletes letters to a dispatch that does not exist. One that was begun again has them. */
async function deleteOrphans(
  context: StoreContext,
  dispatch: DispatchRef,
  letters: readonly DispatchRef[],
): Promise<void> {
  if (letters.length === 0) return;
  const claim = await InboxClaim.take(context.provider, dispatch);
  if (claim.isOfDispatch) return claim.release();
  for (const letter of letters) await claim.delete(letter);
}

/** Deletes one letter, with the claim of the dispatch that it was written to, if that still exists. */
async function deleteLetter(context: StoreContext, letter: ProviderDispatch): Promise<void> {
  let to: DispatchRef | null = null;
  for await (const listed of readInboxes(context, letter)) {
    const { taskDir = null, dispatchId } = listed.to ?? {};
    if (listed.letterId === letter.dispatchId && taskDir !== null && dispatchId !== undefined)
      to = { taskDir, dispatchId };
  }
  const claim = await InboxClaim.take(context.provider, to);
  try {
    await letter.delete(claim);
  } finally {
    await claim.release();
  }
}

/** @throws the error of an inbox that cannot be listed: its letters would stay */
async function placesOf(context: StoreContext, dispatch: DispatchRef): Promise<DispatchRef[]> {
  const places: DispatchRef[] = [];
  for await (const { inbox, letterId, error } of readInbox(context, dispatch)) {
    if (letterId === null) throw error;
    places.push({ taskDir: inbox, dispatchId: letterId });
  }
  return places;
}
