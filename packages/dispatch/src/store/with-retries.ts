import { isDeepStrictEqual } from 'node:util';
import type { DispatchEnvelope } from '@hansard/events';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import type { DispatchRef } from './dispatch-ref.ts';
import type { Retries } from './retries.ts';

/** Calls that change nothing, or that have the same effect when they are made again. */
const repeatable = [
  'getClaim',
  'getClaims',
  'getDispatchEnvelopes',
  'listDispatches',
  'getDispatchEnvelope',
  'getDispatchEvents',
  'getRecentEvents',
  'readEvents',
  'putTask',
  'getTask',
  'listTasks',
  'searchEvents',
  'watch',
  'verifyDispatch',
  'getRepairs',
  'removeRemains',
  'findRemains',
] as const satisfies ReadonlyArray<keyof DispatchStoreProvider>;

/** The same, for the calls that write the dispatch which their first two arguments name. */
const repeatableWrites = [
  'claimDispatch',
  'releaseDispatch',
  'updateDispatch',
  'appendEvent',
  'appendEvents',
] as const satisfies ReadonlyArray<keyof DispatchStoreProvider>;

type Method = (...args: readonly unknown[]) => unknown;

/**
 * A provider whose calls are repeated after transient errors. `breakClaim`, `acceptLoss`, `rewriteDispatch` and `close` are not: a claim that
 * another process made meanwhile must not be broken by a repetition.
 */
export function withRetries(provider: DispatchStoreProvider, retries: Retries): DispatchStoreProvider {
  const methods = provider as unknown as Readonly<Record<string, Method | undefined>>;
  const wrapped: Record<string, Method> = {};
  for (const name of repeatable) {
    if (methods[name] === undefined) continue;
    wrapped[name] = (...args) => retries.run(() => methods[name]?.call(provider, ...args));
  }
  for (const name of repeatableWrites) {
    wrapped[name] = (taskDir, dispatchId, third) =>
      retries.run(() => methods[name]?.call(provider, taskDir, dispatchId, third), {
        writes: { taskDir, dispatchId } as DispatchRef,
      });
  }
  const { deleteDispatch, breakClaim, acceptLoss, rewriteDispatch } = provider;
  return {
    ...(wrapped as unknown as DispatchStoreProvider),
    contract: provider.contract,
    get capabilities() {
      return provider.capabilities;
    },
    createDispatch(taskDir, envelope) {
      const create = () => provider.createDispatch(taskDir, envelope);
      const writes = { taskDir, dispatchId: envelope.dispatchId };
      return retries.run(create, { writes, again: () => createAgain(provider, taskDir, envelope) });
    },
    ...(deleteDispatch !== undefined && {
      deleteDispatch(taskDir: string, dispatchId: string) {
        const remove = () => deleteDispatch.call(provider, taskDir, dispatchId);
        const again = async () => {
          try {
            await remove();
          } catch (error) {
            // The call that failed, or whose answer was lost, has deleted it.
            if (!storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) throw error;
          }
        };
        return retries.run(remove, { writes: { taskDir, dispatchId }, again });
      },
    }),
    ...(breakClaim !== undefined && { breakClaim: breakClaim.bind(provider) }),
    ...(acceptLoss !== undefined && { acceptLoss: acceptLoss.bind(provider) }),
    ...(rewriteDispatch !== undefined && { rewriteDispatch: rewriteDispatch.bind(provider) }),
    close: () => provider.close(),
  };
}

/** Succeeds if an earlier call has created the dispatch: the stored envelope is equal, and the claim is ours or free. */
async function createAgain(
  provider: DispatchStoreProvider,
  taskDir: string,
  envelope: DispatchEnvelope,
): Promise<void> {
  try {
    await provider.createDispatch(taskDir, envelope);
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_DISPATCH_EXISTS')) throw error;
    const stored = await provider.getDispatchEnvelope(taskDir, envelope.dispatchId);
    if (!isDeepStrictEqual(stored, JSON.parse(JSON.stringify(envelope)))) throw error;
    if (envelope.status !== 'running') return;
    try {
      await provider.claimDispatch(taskDir, envelope.dispatchId);
    } catch (refusal) {
      throw storeErrors.is(refusal, 'STORE_LOCKED') ? error : refusal;
    }
  }
}
