import type { DispatchRef } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { withOpenCalls } from '@hansard/facts';
import { type DispatchTreeNode, dispatchTree } from '@hansard/views';
import type { TreeEntry } from '../answers.ts';
import type { ViewedStore } from './viewed-store.ts';

/** The most dispatches that are looked through for those below. */
const mostDispatches = 2_000;
const mostAncestors = 20;

/** The dispatches above one, itself, and all that it started, parents first. It lists only what started since. */
export async function treeOf(store: ViewedStore, ref: DispatchRef): Promise<TreeEntry[]> {
  const own = await envelopeOf(store, ref);
  if (own === null) return [];
  const above: DispatchEnvelope[] = [];
  for (let up = own.parentDispatchId; up !== null && above.length < mostAncestors; ) {
    const parent = await envelopeOf(store, { ...ref, dispatchId: up });
    if (parent === null || above.some(({ dispatchId }) => dispatchId === parent.dispatchId)) break;
    above.unshift(parent);
    up = parent.parentDispatchId;
  }
  const [node] = dispatchTree([own, ...(await startedSince(store, ref.taskDir, own))]).filter(
    ({ envelope }) => envelope.dispatchId === own.dispatchId,
  );
  return [
    ...above.map((envelope, depth) => entryOf(envelope, depth, null)),
    ...(node === undefined ? [entryOf(own, above.length, null)] : [...below(node, above.length)]),
  ];
}

async function envelopeOf(store: ViewedStore, ref: DispatchRef): Promise<DispatchEnvelope | null> {
  return (await store.findDispatch(ref))?.refresh() ?? null;
}

/** The other dispatches of the task that began after one, and those whose start is not recorded. */
async function startedSince(
  store: ViewedStore,
  taskDir: string,
  { dispatchId, startedAt }: DispatchEnvelope,
): Promise<DispatchEnvelope[]> {
  const found: DispatchEnvelope[] = [];
  const since = startedAt === null ? {} : { startedSince: startedAt };
  for await (const envelope of listed(store, { taskDir, order: 'newest', ...since }))
    if (envelope.dispatchId !== dispatchId && found.push(envelope) >= mostDispatches) return found;
  if (startedAt === null) return found;
  // Those without a start are the first ones.
  for await (const envelope of listed(store, { taskDir, order: 'oldest' })) {
    if (envelope.startedAt !== null || found.length >= mostDispatches) return found;
    found.push(envelope);
  }
  return found;
}

async function* listed(
  store: ViewedStore,
  options: Parameters<ViewedStore['listDispatches']>[0],
): AsyncGenerator<DispatchEnvelope> {
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<ViewedStore['listDispatches']>> = await store.listDispatches({
      ...options,
      ...(after === null ? {} : { after }),
    });
    for (const entry of page.dispatches) if (!('error' in entry)) yield entry.envelope;
    after = page.next;
  } while (after !== null);
}

function* below({ envelope, subtree, children }: DispatchTreeNode, depth: number): Generator<TreeEntry> {
  yield entryOf(envelope, depth, children.length === 0 ? null : subtree.costUsd);
  for (const child of children) yield* below(child, depth + 1);
}

function entryOf(envelope: DispatchEnvelope, depth: number, subtreeCost: number | null): TreeEntry {
  const { dispatchId, title, role, status, cost } = withOpenCalls(envelope);
  return { dispatchId, depth, name: title ?? role, status, cost, subtreeCost };
}
