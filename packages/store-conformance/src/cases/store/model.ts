import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { describeError, preview, sameContent } from '../../checks/expectations.ts';
import { allReads, createStepSource, type Step } from '../../model/model-steps.ts';
import { createModelStore, emptyModelData } from '../../model/model-store.ts';
import { chooseSeed, createRandom } from '../../model/random.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily } from '../../run/conformance-case.ts';

const stepCount = 800;

export const modelCases = caseFamily('model', [
  {
    name: 'random-steps',
    rule: 4,
    title: `${stepCount} random steps have the same results as the plain model of the contract`,
    atEachDurability: true,
    run: async (context) => {
      const seed = chooseSeed(context.seed);
      const nextStep = createStepSource(createRandom(seed), context.capabilities);
      const steps = [...Array.from({ length: stepCount }, nextStep), ...allReads()];
      const difference = await runSteps(context, steps);
      if (difference !== null)
        throw await explain(context, seed, steps.slice(0, difference.index + 1), difference);
    },
  },
]);

/** The error with the shortest steps that fail. If none fail again, as with a fault of time, with the last ones. */
async function explain(
  { withNewStore }: CaseContext,
  seed: number,
  steps: readonly Step[],
  first: Difference,
): Promise<Error> {
  let difference: Difference | null = null;
  const shortest = await shrinkSteps(steps, async (candidate) => {
    const found = await withNewStore((context) => runSteps(context, candidate));
    if (found === null) return null;
    difference = found;
    return found.index + 1;
  });
  const { message, cause } = difference ?? first;
  const skipped = difference === null ? Math.max(0, steps.length - 8) : 0;
  const lines = shortest.slice(skipped).map(({ method, args }, index) => {
    const text = args.map((arg) => preview(arg)).join(', ');
    return `  ${skipped + index + 1}. ${method}(${text})`;
  });
  const text = [
    `Step ${steps.length} of the sequence with seed ${seed}: ${first.message}`,
    difference === null
      ? 'The same steps did not fail again on a new store. The last of them:'
      : `The shortest steps that fail on a new store: ${message}`,
    ...lines,
    `To replay it, set the option seed: ${seed}, or HANSARD_SEED=${seed} in the environment.`,
  ];
  return new Error(text.join('\n'), { cause });
}

/** The first step whose outcome differs from that of the model. */
interface Difference {
  /** The place of the step among those that ran. */
  readonly index: number;
  readonly message: string;
  readonly cause: unknown;
}

/** Runs steps on a new store and on the model, until one differs. Null: none differs. */
async function runSteps(
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

/** The most runs for which a failure is made shorter. */
const mostRuns = 600;
const mostMs = 30_000;

/**
 * The shortest failing steps that removing parts finds: first halves, then smaller and smaller parts, at last single steps and
 * single events of batches. `failsAfter` runs steps on a new store and returns how many of them it needs to fail, or null.
 */
export async function shrinkSteps(
  steps: readonly Step[],
  failsAfter: (steps: readonly Step[]) => Promise<number | null>,
): Promise<readonly Step[]> {
  const start = performance.now();
  let runs = 0;
  let shortest = steps;
  const tryOut = async (candidate: readonly Step[]): Promise<boolean> => {
    if (runs >= mostRuns || performance.now() - start > mostMs) return false;
    runs += 1;
    const count = await failsAfter(candidate);
    if (count === null) return false;
    shortest = candidate.slice(0, count);
    return true;
  };
  let size = Math.ceil(steps.length / 2);
  for (;;) {
    const before = shortest.length;
    // From the end, so that removing a part moves no part that is still to be tried.
    for (let end = shortest.length; end > 0; end = Math.min(end - size, shortest.length))
      await tryOut([...shortest.slice(0, Math.max(0, end - size)), ...shortest.slice(end)]);
    if (size > 1) size = Math.ceil(size / 2);
    else if (shortest.length === before) break;
  }
  for (let index = shortest.length - 1; index >= 0; index -= 1)
    for (;;) {
      const smaller = withoutOneEvent(shortest[index]);
      let isSmaller = false;
      for (const step of smaller) {
        isSmaller = await tryOut(shortest.with(index, step));
        if (isSmaller) break;
      }
      if (!isSmaller) break;
    }
  return shortest;
}

/** The step with each one of the events of its batch left out. */
function withoutOneEvent(step: Step | undefined): readonly Step[] {
  if (step?.method !== 'appendEvents') return [];
  const [task, dispatch, events] = step.args as readonly [string, string, readonly unknown[]];
  return events.map((_, index) => ({
    method: step.method,
    args: [task, dispatch, events.toSpliced(index, 1)],
  }));
}
