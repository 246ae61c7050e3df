import type { DispatchStore, RunDispatchOptions } from '@hansard/dispatch';
import { priorOutcomes } from '@hansard/views';

/** The same run with what the earlier dispatches of its task came to before the prompt, where there are some. */
export async function withHistory(
  store: DispatchStore,
  taskDir: string,
  options: Partial<RunDispatchOptions>,
): Promise<Partial<RunDispatchOptions>> {
  const { text } = priorOutcomes(await store.getDispatchEnvelopes(taskDir));
  if (text === '') return options;
  return { ...options, prompt: options.prompt === undefined ? text : `${text}\n\n${options.prompt}` };
}
