import type { Awaitable, StoreCapabilities } from '@hansard/provider';
import { createCaseContext } from './case-context.ts';
import { appliesTo, type RunnableCase } from './conformance-case.ts';
import { runnableCases } from '../store-conformance-cases.ts';
import type { StoreFixture } from './store-fixture.ts';

export interface StoreUnderTest {
  /** The capabilities of the store. They choose the cases, and one case compares them with those of the opened store. */
  readonly capabilities: StoreCapabilities;
  /** Opens a new, empty store; called once for each case. */
  readonly create: () => Awaitable<StoreFixture>;
  /** Replays the random sequence of the model case; so does the environment variable `HANSARD_SEED`. */
  readonly seed?: number;
}

export function casesFor({ capabilities }: StoreUnderTest): readonly RunnableCase[] {
  return runnableCases.filter((one) => appliesTo(one, capabilities));
}

/** Runs one case on its own store, which is closed and removed afterwards, including when the case failed. */
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
