import type { CapturedEvent } from '@hansard/events';
import type { BranchedLog } from '@hansard/testing';
import { TranscriptTree } from '../../src/index.ts';

/** A tree, or a broken one. */
export type TreeClass = typeof TranscriptTree;

/** The ids of the entries of a path, without the records of model calls. */
const entriesOf = (path: { readonly values: readonly CapturedEvent[] } | null) =>
  path?.values.filter(({ type }) => type !== 'agent:inference').map(({ id }) => id);

/** What a tree says about a log where the writer of the log says something else; null: they agree. */
export function treeDifference(log: BranchedLog, Tree: TreeClass = TranscriptTree): object | null {
  const tree = new Tree<CapturedEvent>();
  const differ = (what: string, is: unknown, should: unknown, at?: string) =>
    JSON.stringify(is) === JSON.stringify(should) ? null : { what, at, is, should };
  const promptOf = (agentId: string, after?: string) => {
    const path = tree.currentPath(agentId, after);
    const { takenBack, isKnown } = path;
    return { agentId, ids: entriesOf(path), takenBack: [...takenBack].sort(), isKnown };
  };
  for (const [at, event] of log.events.entries()) {
    tree.add(event, event);
    const { agentId = '' } = event;
    const found = differ('next prompt', promptOf(agentId), log.prompts[at], event.id);
    if (found !== null) return found;
  }
  for (const [at, { id, agentId = '' }] of log.events.entries()) {
    const found = differ('prompt of then', promptOf(agentId, id), log.prompts[at], id);
    if (found !== null) return found;
  }
  return finalDifference(log, tree, differ);
}

function finalDifference(
  log: BranchedLog,
  tree: TranscriptTree<CapturedEvent>,
  differ: (what: string, is: unknown, should: unknown, at?: string) => object | null,
): object | null {
  const isShown = (id: string) => !id.startsWith('?') && !tree.isRetracted(id);
  for (const [id, path] of log.pathTo) {
    const found = differ('path', entriesOf(tree.pathThrough(id)), path.filter(isShown), id);
    if (found !== null) return found;
  }
  for (const { agentId, paths } of log.agents) {
    const branches = tree.branches(agentId);
    const written = paths.map(({ state, address, from, events, prompts, ids }) => {
      const last = ids.at(-1);
      const end = last === undefined || last.startsWith('?') ? null : last;
      return { agentId, state, address: address ?? end, from, events, prompts };
    });
    const found = differ(
      'branches',
      branches.map((branch) => ({ ...branch, address: branch.address })),
      written,
    );
    if (found !== null) return found;
    const current = new Set(paths.find(({ state }) => state === 'current')?.ids);
    for (const { ids } of paths)
      for (const id of ids.filter((one) => log.pathTo.has(one) && tree.branchOf(one)?.agentId === agentId)) {
        const misplaced = differ('on the current branch', tree.isCurrent(id), current.has(id), id);
        if (misplaced !== null) return misplaced;
      }
  }
  return differ('problems', tree.problems.length, log.badLinks);
}
