import type { CapturedEvent } from '@hansard/events';
import { isStraightEvent, TranscriptTree } from '../tree/transcript-tree.ts';
import { type ContextOptions, createBranchRenderer, createContextRenderer } from './context-renderer.ts';
import type { RenderedContext } from './rendered-context.ts';

/**
 * The prompt of an agent's model after these events of the agent, given in the order of the log: its current branch. What it inherits from another
 * agent is not among them.
 *
 * @throws as `createContextRenderer`, and as `observe` and `render` of a `ContextRenderer`
 */
export function renderContext(
  events: Iterable<CapturedEvent>,
  options: ContextOptions = {},
): RenderedContext {
  const all = [...events];
  if (all.every(isStraightEvent)) {
    const renderer = createContextRenderer(options);
    for (const event of all) renderer.observe(event);
    return renderer.render();
  }
  const tree = new TranscriptTree<CapturedEvent>(() => '');
  for (const event of all) tree.add(event, event);
  return createBranchRenderer(tree.currentPath(''), options).render();
}
