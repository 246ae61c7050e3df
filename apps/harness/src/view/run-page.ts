import type { RunPage } from '@hansard/comm-web';
import { type CliContext, note } from '../terminal/context.ts';

/** The id of the plugin that has the same page. */
export const runPagePlugin = 'comm-web';

/** The page of `run --view`. It prints its address when the first dispatch begins. */
export async function openRunPage(context: CliContext): Promise<RunPage> {
  const { createRunPage } = await import('@hansard/comm-web');
  return createRunPage({ announce: (address) => note(context, `The page of this run: ${address}`) });
}
