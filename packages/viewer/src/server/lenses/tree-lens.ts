import type { DispatchEnvelope } from '@hansard/events';
import { explainEstimates, formatSpending } from '@hansard/facts';
import { type DispatchTreeNode, dispatchTree } from '@hansard/views';
import type { TreeAnswer, TreeLine } from '../../answers.ts';
import type { ViewedStore } from '../viewed-store.ts';

/** The most dispatches of a tree. */
const mostDispatches = 2_000;

/** The newest dispatches of a task as trees, with the figures of each, alone and with those below it. */
export async function treeLens(store: ViewedStore, taskDir: string): Promise<TreeAnswer> {
  const envelopes: DispatchEnvelope[] = [];
  let after: string | null = null;
  do {
    const page = await store.listDispatches({
      taskDir,
      order: 'newest',
      ...(after === null ? {} : { after }),
    });
    for (const { envelope } of page.dispatches) if (envelope !== null) envelopes.push(envelope);
    after = page.next;
  } while (after !== null && envelopes.length < mostDispatches);
  const shown = envelopes.slice(0, mostDispatches);
  return {
    lines: dispatchTree(shown).flatMap((node) => [...linesOf(node, 0)]),
    isCut: after !== null || shown.length < envelopes.length,
    note: explainEstimates(shown),
  };
}

function* linesOf(node: DispatchTreeNode, depth: number): Generator<TreeLine> {
  const { envelope, own, subtree, orphan: isOrphan, children } = node;
  const { dispatchId, title, role, status, model, startedAt } = envelope;
  const { turns, inputTokens, outputTokens, durationMs } = own;
  yield {
    ...{ dispatchId, depth, name: title ?? role, status, model, startedAt, isOrphan },
    ...{ turns, inputTokens, outputTokens, durationMs },
    cost: formatSpending(own),
    subtreeCost: children.length === 0 ? null : formatSpending(subtree),
  };
  for (const child of children) yield* linesOf(child, depth + 1);
}
