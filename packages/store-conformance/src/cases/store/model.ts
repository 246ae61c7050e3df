import { preview } from '../../checks/expectations.ts';
import { allReads, createStepSource, type Step } from '../../model/model-steps.ts';
import { createRandom } from '../../model/random.ts';
import { type Difference, runSteps } from '../../model/run-steps.ts';
import { chooseSeed } from '../../model/seed.ts';
import { shrinkSteps } from '../../model/shrink-steps.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily } from '../../run/conformance-case.ts';

const stepCount = 800;

export const modelCases = caseFamily('model', [
  {
    name: 'random-steps',
    rule: 4,
    title: `${stepCount} random steps have the same results as the plain model of the contract`,
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
