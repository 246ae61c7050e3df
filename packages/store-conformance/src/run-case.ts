import type { Awaitable, StoreCapabilities } from '@hansard/provider';
import { createCaseContext } from './case-context.ts';
import { appliesTo, type RunnableCase } from './conformance-case.ts';
import { runnableCases } from './store-conformance-cases.ts';
import type { StoreFixture } from './store-fixture.ts';

export interface StoreUnderTest {
  /** What the store claims. It chooses the cases, and one case checks that the opened store says the same. */
  readonly capabilities: StoreCapabilities;
  /** Opens a fresh, empty store; called once for each case. */
  readonly create: () => Awaitable<StoreFixture>;
  /** Replays the random sequence of the model case; so does the environment variable `HANSARD_SEED`. */
  readonly seed?: number;
}

export function casesFor({ capabilities }: StoreUnderTest): readonly RunnableCase[] {
  return runnableCases.filter((one) => appliesTo(one, capabilities));
}

/** Runs one case on a store of its own, which is closed and removed afterwards also when the case failed. */
export async function runCase(
  one: RunnableCase,
  { create, capabilities, seed }: StoreUnderTest,
): Promise<void> {
  const { context, cleanUp } = createCaseContext(await create(), capabilities, seed);
  const errors: unknown[] = [];
  for (const step of [() => one.run(context), ...cleanUp]) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('\nand in cleaning up: '));
  if (errors.length === 1) throw errors[0];
}
