import { isDeepStrictEqual } from 'node:util';
import type { DispatchEnvelope, DispatchLetter } from '@hansard/events';
import { isInternalTask, storeErrors } from '@hansard/provider';
import { dispatchErrors } from '../dispatch-errors.ts';
import { newEnvelope } from '../intake/envelope-intake.ts';
import type { DispatchRef } from './dispatch-ref.ts';
import type { NewLetter } from './dispatch-store.ts';
import { ProviderDispatch } from './provider-dispatch.ts';
import type { StoreContext } from './store-context.ts';

/** The task that has the letters of a dispatch. */
export const inboxOf = (dispatchId: string): string => `_hansard/inbox/${dispatchId}`;

/** @throws STORE_DISPATCH_NOT_FOUND, DISPATCH_LETTER_REFUSED, EVENT_ENVELOPE_INVALID, STORE_DISPATCH_EXISTS for another letter with that `from` */
export async function writeLetter(
  context: StoreContext,
  dispatch: DispatchRef,
  { from = context.createId(), abort = false, text, agentId, source = { kind: 'user' } }: NewLetter,
): Promise<DispatchLetter> {
  const { taskDir, dispatchId } = dispatch;
  const { status, source: imported } = await new ProviderDispatch(context.provider, dispatch).readEnvelope();
  const refuse = (reason: string) =>
    dispatchErrors.error(
      'DISPATCH_LETTER_REFUSED',
      `The letter to ${dispatchId} was not written: ${reason}.`,
      {
        details: { taskDir, dispatchId, reason },
      },
    );
  if (isInternalTask(taskDir)) throw refuse('its task belongs to Hansard');
  if (imported !== null) throw refuse('it was imported, so no program of Hansard continues it');
  if (status !== 'running') throw refuse('it has ended');
  if (!abort && (text ?? '').trim() === '') throw refuse('it has no text');
  const letter: DispatchLetter = {
    from,
    taskDir,
    source,
    ...(text === undefined || text === '' ? {} : { text }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(abort ? { abort } : {}),
  };
  const { redaction, clock } = context;
  await redaction?.ready();
  const inbox = inboxOf(dispatchId);
  const begun = newEnvelope(inbox, { dispatchId: from, role: 'letter' }, context.createId, () => clock.now());
  const { schemaVersion, ...facts } = begun;
  const ended = {
    ...facts,
    completedAt: begun.startedAt,
    status: 'completed' as const,
    letter,
    schemaVersion,
  } satisfies DispatchEnvelope;
  const envelope = redaction?.envelope(ended) ?? ended;
  try {
    await context.provider.createDispatch(inbox, envelope);
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_DISPATCH_EXISTS')) throw error;
    const stored = await context.provider.getDispatchEnvelope(inbox, from);
    // Sent again: only its time differs.
    if (!isDeepStrictEqual(stored?.letter, JSON.parse(JSON.stringify(envelope.letter)))) throw error;
  }
  context.notifiers.notify({ taskDir: inbox, dispatchId: from });
  return envelope.letter ?? letter;
}

/** The letters to a dispatch, in the order of their start. One that cannot be read is omitted: verification names it. */
export async function readLetters(
  { provider }: StoreContext,
  { taskDir, dispatchId }: DispatchRef,
): Promise<DispatchLetter[]> {
  const letters: DispatchLetter[] = [];
  for (let after: string | undefined; ; ) {
    const scope = { taskDir: inboxOf(dispatchId), ...(after === undefined ? {} : { after }) };
    const { dispatches, next } = await provider.listDispatches(scope);
    for (const { envelope } of dispatches)
      if (envelope?.letter?.taskDir === taskDir) letters.push(envelope.letter);
    if (next === null) return letters;
    after = next;
  }
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
