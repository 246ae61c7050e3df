import { type DispatchStoreProvider, isStoreError } from '@hansard/provider';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily } from '../../run/conformance-case.ts';
import { describeError, preview, sameContent } from '../../checks/expectations.ts';
import { allReads, createStepSource, type Step } from '../../model/model-steps.ts';
import { createModelStore, emptyModelData } from '../../model/model-store.ts';
import { createRandom } from '../../model/random.ts';

const stepCount = 800;
const stepsShown = 8;

export const modelCases = caseFamily('model', [
  {
    name: 'random-steps',
    rule: 4,
    title: `${stepCount} random steps have the same results as the plain model of the contract`,
    run: async (context) => {
      const seed = chooseSeed(context.seed);
      const data = emptyModelData();
      let model: DispatchStoreProvider = createModelStore(data);
      const nextStep = createStepSource(createRandom(seed), context.capabilities);
      const steps: Step[] = [];
      let store = context.store;
      const compare = async (step: Step) => {
        steps.push(step);
        if (step.method === 'reopen') {
          store = await context.reopen();
          model = createModelStore(data);
        } else sameContent(await outcomeOf(store, step), await outcomeOf(model, step), 'the outcome');
      };
      try {
        while (steps.length < stepCount) await compare(nextStep());
        for (const step of allReads()) await compare(step);
      } catch (error) {
        throw new Error(explain(seed, steps, error), { cause: error });
      }
    },
  },
]);

function chooseSeed(given: CaseContext['seed']): number {
  const fromEnvironment = process.env.HANSARD_SEED;
  const seed = given ?? (fromEnvironment ? Number(fromEnvironment) : Date.now() % 2 ** 32);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new TypeError(`A seed is a whole number from 0, not ${JSON.stringify(given ?? fromEnvironment)}.`);
  return seed;
}

/** The answer of a call, or the code of its error. The answer of a method without a result is ignored. */
async function outcomeOf(store: DispatchStoreProvider, { method, args }: Step): Promise<unknown> {
  const methods = store as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
  try {
    const answer = await methods[method]?.(...structuredClone(args));
    return /^(get|read|list|claim|update)/.test(method) ? { answer } : 'done';
  } catch (error) {
    if (isStoreError(error)) return { error: error.code };
    throw error;
  }
}

function explain(seed: number, steps: readonly Step[], error: unknown): string {
  const first = Math.max(0, steps.length - stepsShown);
  const last = steps.slice(first).map(({ method, args }, index) => {
    const text = args.map((arg) => preview(arg)).join(', ');
    return `  ${first + index + 1}. ${method}(${text})`;
  });
  return [
    `Step ${steps.length} of the sequence with seed ${seed}: ${describeError(error)}`,
    'The last steps:',
    ...last,
    `To replay it, set the option seed: ${seed}, or HANSARD_SEED=${seed} in the environment.`,
  ].join('\n');
}
