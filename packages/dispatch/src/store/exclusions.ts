import { storeErrors } from '@hansard/provider';
import { excludedTask } from '../check-arguments.ts';
import { checkEnvelope, newEnvelope } from '../intake/envelope-intake.ts';
import { ProviderDispatch } from './provider-dispatch.ts';
import type { StoreContext } from './store-context.ts';

/** Keeps imports from bringing a dispatch back. Repeated, it does nothing. */
export async function exclude(
  { provider, createId, clock }: StoreContext,
  dispatchId: string,
): Promise<void> {
  const place = { taskDir: excludedTask, dispatchId };
  const { schemaVersion, ...facts } = newEnvelope(
    excludedTask,
    { dispatchId, role: 'excluded' },
    createId,
    () => clock.now(),
  );
  const completedAt = facts.startedAt;
  try {
    await new ProviderDispatch(provider, place).create(
      checkEnvelope({ ...facts, completedAt, status: 'completed', schemaVersion }),
    );
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_DISPATCH_EXISTS')) throw error;
  }
}

/** Whether a dispatch is an import. One whose envelope is damaged may be. */
export async function mayBeImported(stored: ProviderDispatch): Promise<boolean> {
  try {
    return (await stored.readEnvelope()).source !== null;
  } catch (error) {
    if (storeErrors.is(error, 'STORE_CORRUPT') || storeErrors.is(error, 'STORE_NEWER')) return true;
    throw error;
  }
}
