import type { CapturedEvent } from '@hansard/events';
import { type ContextOptions, createContextRenderer } from './context-renderer.ts';
import type { RenderedContext } from './rendered-context.ts';

/**
 * The prompt of an agent's model after these events of the agent, given in the order of the log.
 *
 * @throws as `createContextRenderer`, and as `observe` and `render` of a `ContextRenderer`
 */
export function renderContext(
  events: Iterable<CapturedEvent>,
  options: ContextOptions = {},
): RenderedContext {
  const renderer = createContextRenderer(options);
  for (const event of events) renderer.observe(event);
  return renderer.render();
}
