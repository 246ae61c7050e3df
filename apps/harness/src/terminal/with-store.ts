import type { Harness } from '@hansard/compose';
import { withHarness } from '../harness.ts';
import { type Answer, printAnswer } from './answer.ts';
import type { CommonOptions } from './command.ts';
import type { CliContext } from './context.ts';

interface StoreOptions extends CommonOptions {
  /** As `openDispatchStore` takes it. */
  readonly retryMs?: number;
}

/** Opens the configured store for reading, and closes it after the action, including after an error. */
export function withStore(
  context: CliContext,
  { config, root, retryMs }: StoreOptions,
  action: (harness: Harness) => Promise<void>,
): Promise<void> {
  const retries = retryMs === undefined ? {} : { retryMs };
  return withHarness(context, { config, root, load: 'store', ...retries }, action);
}

/** Opens the configured store and prints the answer. The store stays open until everything is printed. */
export function answerFromStore(
  context: CliContext,
  options: CommonOptions,
  ask: (harness: Harness) => Promise<Answer>,
): Promise<void> {
  return withStore(context, options, async (harness) => printAnswer(context, options, await ask(harness)));
}
