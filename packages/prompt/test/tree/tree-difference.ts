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
  return (
    differ('problems', tree.problems.length, log.badLinks) ??
    differ('left branches', leftOf(tree), writtenLeft(log)) ??
    branchDifference(log, tree, differ)
  );
}

function leftOf(tree: TranscriptTree<CapturedEvent>): object[] {
  return tree.leftBranches().map(({ agentId, state, address, values, events, prompts }) => {
    const ids = values.map(({ id }) => id);
    return { agentId, state, address, ids, events, prompts };
  });
}

/** An event is left if the last entry up to it is not on the path that its agent's next prompt is made of. */
function writtenLeft({ events, agents, placed }: BranchedLog): object[] {
  const current = new Map(
    agents.map(({ agentId, paths }) => [
      agentId,
      new Set(paths.find(({ state }) => state === 'current')?.ids),
    ]),
  );
  const left = events.filter(({ id }) => {
    const { ids = [], agentId = '' } = placed.get(id) ?? {};
    const last = ids.at(-1);
    const isOwn = last !== undefined && placed.get(last)?.agentId === agentId;
    return isOwn && current.get(agentId)?.has(last) === false;
  });
  return [...Map.groupBy(left, ({ id }) => placed.get(id)?.path)].map(([path, own]) => ({
    agentId: own[0]?.agentId,
    state: path?.state,
    address: own.at(-1)?.id,
    ids: own.map(({ id }) => id),
    events: own.length,
    prompts: own.filter(isPrompt).length,
  }));
}

const isPrompt = ({ type, data: { source } }: CapturedEvent) =>
  type === 'user:message' && (source as { readonly kind?: string }).kind !== 'system';

function branchDifference(
  log: BranchedLog,
  tree: TranscriptTree<CapturedEvent>,
  differ: (what: string, is: unknown, should: unknown, at?: string) => object | null,
): object | null {
  const numbers = new Map(log.events.map(({ id }, at) => [id, at]));
  for (const [id, { ids, agentId, path }] of log.placed) {
    const line = new Set(ids);
    const own = [...line].flatMap((one) => log.placed.get(one) ?? []);
    const paths = new Set([path, ...own.map((one) => one.path)]);
    const agents = new Set([agentId, ...own.map((one) => one.agentId)]);
    const messages = new Set(
      log.events.flatMap((event) => (line.has(event.id) ? (event.messageId ?? []) : [])),
    );
    const written = log.events.filter((event) => {
      if (!agents.has(event.agentId ?? '')) return false;
      if (log.pathTo.has(event.id)) return line.has(event.id);
      if (event.type === 'agent:inference' && messages.has(event.messageId ?? '')) return true;
      const placed = log.placed.get(event.id);
      const last = placed?.ids.at(-1);
      const isAfter = last === undefined || last.startsWith('?') || line.has(last);
      const isEarlier = (numbers.get(event.id) ?? 0) <= (numbers.get(id) ?? 0);
      return isAfter && isEarlier && placed !== undefined && paths.has(placed.path);
    });
    const found = differ(
      'branch',
      tree.eventsThrough(id)?.map((event) => event.id),
      written.map((event) => event.id),
      id,
    );
    if (found !== null) return found;
  }
  return null;
}
