import type { CapturedEvent } from '@hansard/events';
import { isPlainObject } from '@hansard/events/plain';

/**
 * The last event of the agent that a model call was given, as its `agent:inference` records it; null: none. Undefined:
 * the log does not say, such as that of an engine that keeps its own context.
 */
export function givenThrough({ type, data }: CapturedEvent): string | null | undefined {
  if (type !== 'agent:inference' || !isPlainObject(data.context)) return undefined;
  const { through } = data.context;
  return typeof through === 'string' || through === null ? through : undefined;
}
