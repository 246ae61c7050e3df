import type { DispatchStore, RunDispatchOptions } from '@hansard/dispatch';
import { priorOutcomes } from '@hansard/views';

/** Puts the outcomes of earlier dispatches of the task, if any, before the prompt of a run. */
export async function withHistory(
  store: DispatchStore,
  taskDir: string,
  options: Partial<RunDispatchOptions>,
): Promise<Partial<RunDispatchOptions>> {
  const { text } = priorOutcomes(await store.getDispatchEnvelopes(taskDir));
  if (text === '') return options;
  return { ...options, prompt: options.prompt === undefined ? text : `${text}\n\n${options.prompt}` };
}
