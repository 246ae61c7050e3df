import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { describeError, sameContent } from '../checks/expectations.ts';
import type { CaseContext } from '../run/case-context.ts';
import type { Step } from './model-steps.ts';
import { createModelStore, emptyModelData } from './model-store.ts';

/** The first step whose outcome differs from that of the model. */
export interface Difference {
  /** The place of the step among those that ran. */
  readonly index: number;
  readonly message: string;
  readonly cause: unknown;
}

/** Runs steps on a new store and on the model, until one differs. Null: none differs. */
export async function runSteps(
  { store: opened, reopen }: Pick<CaseContext, 'store' | 'reopen'>,
  steps: readonly Step[],
): Promise<Difference | null> {
  const data = emptyModelData();
  let model: DispatchStoreProvider = createModelStore(data);
  let store = opened;
  for (const [index, step] of steps.entries()) {
    try {
      if (step.method === 'reopen') {
        store = await reopen();
        model = createModelStore(data);
      } else sameContent(await outcomeOf(store, step), await outcomeOf(model, step), 'the outcome');
    } catch (cause) {
      return { index, message: describeError(cause), cause };
    }
  }
  return null;
}

/** The answer of a call, or the code of its error. The answer of a method without a result is ignored. */
async function outcomeOf(store: DispatchStoreProvider, { method, args }: Step): Promise<unknown> {
  const methods = store as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
  try {
    const answer = await methods[method]?.(...structuredClone(args));
    if (method === 'claimDispatch') return { answer: (answer as { readonly envelope: unknown }).envelope };
    return /^(get|find|read|list|update|append)/.test(method) ? { answer } : 'done';
  } catch (error) {
    if (storeErrors.is(error)) return { error: error.code };
    throw error;
  }
}
