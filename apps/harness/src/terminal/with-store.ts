import { type Harness, openHarness } from '../harness.ts';
import { type Answer, printAnswer } from './answer.ts';
import type { CommonOptions } from './command.ts';
import type { CliContext } from './context.ts';

/** Opens the configured store for reading, and closes it whatever happens. */
export async function withStore(
  context: CliContext,
  options: CommonOptions,
  action: (harness: Harness) => Promise<void>,
): Promise<void> {
  const harness = await openHarness(context, { config: options.config, load: 'store' });
  try {
    await action(harness);
  } finally {
    await harness.close();
  }
}

/** Opens the configured store and prints what `ask` finds in it; the store is open until all is printed. */
export async function answerFromStore(
  context: CliContext,
  options: CommonOptions,
  ask: (harness: Harness) => Promise<Answer>,
): Promise<void> {
  await withStore(context, options, async (harness) => printAnswer(context, options, await ask(harness)));
}
