import type { CapturedEvent } from '@hansard/events';
import { isPlainObject } from '@hansard/events/plain';

/**
 * The id of the last event of the agent that a model call was given, as its `agent:inference` records it; null: none.
 * Undefined: not recorded, for example by an engine that keeps its own context.
 */
export function givenThrough({ type, data }: CapturedEvent): string | null | undefined {
  if (type !== 'agent:inference' || !isPlainObject(data.context)) return undefined;
  const { through } = data.context;
  return typeof through === 'string' || through === null ? through : undefined;
}
