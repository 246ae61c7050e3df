import { type DispatchRewrite, storeErrors } from '@hansard/provider';
import type { ReferenceStore } from '../reference/reference-store.ts';
import { keyOf, type World } from '../reference/world.ts';
import type { Change, Mutant } from './mutant.ts';
import { later } from './mutant.ts';

const stored = ({ data }: World, taskDir: string, dispatchId: string) =>
  data.dispatches.get(taskDir)?.get(dispatchId);

/** A rewrite after which something else happens for a while, and that then has its effect. */
const slowRewrite =
  (
    between: (
      world: World,
      place: [string, string],
      old: { events: readonly object[]; envelope: object },
    ) => Promise<void>,
  ): Change =>
  (good, world) => ({
    rewriteDispatch: async (taskDir: string, dispatchId: string, rewrite: DispatchRewrite) => {
      const dispatch = stored(world, taskDir, dispatchId);
      const old = { events: dispatch?.events ?? [], envelope: dispatch?.envelope ?? {} };
      const answer = good.rewriteDispatch(taskDir, dispatchId, rewrite);
      await between(world, [taskDir, dispatchId], old);
      return answer;
    },
  });

/** Does the same to every other dispatch for which the test holds. Their errors are ignored. */
function alsoTo(
  world: World,
  [taskDir, dispatchId]: [string, string],
  isMeant: (task: string, id: string) => boolean,
  action: (task: string, id: string) => unknown,
): void {
  for (const [task, dispatches] of [...world.data.dispatches])
    for (const id of [...dispatches.keys()])
      if ((task !== taskDir || id !== dispatchId) && isMeant(task, id)) {
        try {
          action(task, id);
        } catch {
          // The other one is claimed, or was deleted.
        }
      }
}

const deletesAlso =
  (isMeant: (own: [string, string], task: string, id: string) => boolean): Change =>
  (good, world) => ({
    deleteDispatch: (taskDir: string, dispatchId: string) => {
      good.deleteDispatch(taskDir, dispatchId);
      alsoTo(
        world,
        [taskDir, dispatchId],
        (task, id) => isMeant([taskDir, dispatchId], task, id),
        good.deleteDispatch,
      );
    },
  });

const rewritesAlso =
  (isMeant: (own: [string, string], task: string, id: string) => boolean): Change =>
  (good, world) => ({
    rewriteDispatch: (taskDir: string, dispatchId: string, rewrite: DispatchRewrite) => {
      const answer = good.rewriteDispatch(taskDir, dispatchId, rewrite);
      const { notice: _, ...others } = rewrite;
      alsoTo(
        world,
        [taskDir, dispatchId],
        (task, id) => isMeant([taskDir, dispatchId], task, id),
        (task, id) => good.rewriteDispatch(task, id, others),
      );
      return answer;
    },
  });

/** Collects the places first, and reads them some turns later: an error if one was deleted meanwhile. */
const looksTwice =
  (answer: (good: ReferenceStore) => object): Change =>
  (good, world) => {
    const methods = answer(good) as Record<string, (...args: never[]) => unknown>;
    return Object.fromEntries(
      Object.entries(methods).map(([name, method]) => [
        name,
        async (...args: never[]) => {
          const places = [...world.data.dispatches].flatMap(([task, ids]) =>
            [...ids.keys()].map((id) => [task, id] as const),
          );
          method(...args);
          await later();
          for (const [task, id] of places) {
            if (world.data.dispatches.get(task)?.has(id)) continue;
            throw storeErrors.error('STORE_DISPATCH_NOT_FOUND', 'It is gone.', {
              details: { taskDir: task },
            });
          }
          return method(...args);
        },
      ]),
    );
  };

const sameForm = (one: string, other: string) => one.normalize('NFC') === other.normalize('NFC');
const sameCase = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** Stores that are wrong only beside another call, dispatch or task. */
export const neighbourMutants: readonly Mutant[] = [
  [
    'has no such dispatch while it is rewritten',
    'neighbours/reads-beside-a-rewrite',
    slowRewrite(async (world, [taskDir, dispatchId]) => {
      const dispatches = world.data.dispatches.get(taskDir);
      const kept = dispatches?.get(dispatchId);
      dispatches?.delete(dispatchId);
      await later();
      await later();
      if (kept !== undefined) dispatches?.set(dispatchId, kept);
    }),
  ],
  [
    'shows a rewrite event by event',
    'neighbours/reads-beside-a-rewrite',
    slowRewrite(async (world, place, old) => {
      const dispatch = stored(world, ...place);
      if (dispatch === undefined) return;
      const next = dispatch.events;
      for (const index of old.events.keys()) {
        dispatch.events = [...next.slice(0, index), ...(old.events.slice(index) as typeof next)];
        await later();
      }
      dispatch.events = next;
    }),
  ],
  [
    'shows the old envelope after the new events of a rewrite',
    'neighbours/reads-beside-a-rewrite',
    slowRewrite(async (world, place, old) => {
      const dispatch = stored(world, ...place);
      if (dispatch === undefined) return;
      const next = dispatch.envelope;
      dispatch.envelope = old.envelope as typeof next;
      await later();
      await later();
      dispatch.envelope = next;
    }),
  ],
  [
    'loses what is appended to another dispatch of the task during a rewrite',
    'neighbours/appends-beside-a-rewrite',
    slowRewrite(async (world, [taskDir, dispatchId]) => {
      const others = [...(world.data.dispatches.get(taskDir) ?? [])].filter(([id]) => id !== dispatchId);
      const before = others.map(([, dispatch]) => dispatch.events);
      await later();
      await later();
      for (const [index, [, dispatch]] of others.entries()) dispatch.events = before[index] ?? [];
    }),
  ],
  [
    'loses what is appended to a dispatch during its rewrite',
    'neighbours/appends-beside-a-rewrite',
    slowRewrite(async (world, place) => {
      const dispatch = stored(world, ...place);
      const next = dispatch?.events ?? [];
      await later();
      await later();
      if (dispatch !== undefined) dispatch.events = next;
    }),
  ],
  [
    'undoes a rewrite with an update that began before it',
    'neighbours/updates-beside-a-rewrite',
    (good, world) => ({
      updateDispatch: async (taskDir, dispatchId, updates) => {
        const before = structuredClone(stored(world, taskDir, dispatchId)?.envelope);
        const answer = good.updateDispatch(taskDir, dispatchId, updates);
        const after = stored(world, taskDir, dispatchId)?.envelope;
        await later();
        const dispatch = stored(world, taskDir, dispatchId);
        // Only a rewrite replaces the title without an update.
        if (dispatch !== undefined && before !== undefined && dispatch.envelope.title !== after?.title)
          dispatch.envelope = { ...dispatch.envelope, ...before, ...updates };
        return answer;
      },
    }),
  ],
  [
    'brings a deleted dispatch back with an append that began before',
    'neighbours/append-beside-a-deletion',
    (good, world) => ({
      appendEvents: async (taskDir, dispatchId, events) => {
        const answer = good.appendEvents(taskDir, dispatchId, events);
        const dispatch = stored(world, taskDir, dispatchId);
        await later();
        if (dispatch !== undefined && stored(world, taskDir, dispatchId) === undefined)
          world.data.dispatches.get(taskDir)?.set(dispatchId, dispatch);
        return answer;
      },
    }),
  ],
  [
    'deletes each dispatch of the task whose id begins with that of the deleted one',
    'neighbours/names-of-a-deletion',
    deletesAlso(([taskDir, dispatchId], task, id) => task === taskDir && id.startsWith(dispatchId)),
  ],
  [
    'deletes the same id in tasks whose name begins with that of the task',
    'neighbours/names-of-a-deletion',
    deletesAlso(([taskDir, dispatchId], task, id) => id === dispatchId && task.startsWith(taskDir)),
  ],
  [
    'deletes the same id in tasks below',
    'neighbours/names-of-a-deletion',
    deletesAlso(([taskDir, dispatchId], task, id) => id === dispatchId && task.startsWith(`${taskDir}/`)),
  ],
  [
    'deletes the dispatch of another Unicode form of the task too',
    'neighbours/names-of-a-deletion',
    deletesAlso(([taskDir, dispatchId], task, id) => id === dispatchId && sameForm(task, taskDir)),
  ],
  [
    'deletes the dispatch whose id differs in case too',
    'neighbours/names-of-a-deletion',
    deletesAlso(([taskDir, dispatchId], task, id) => task === taskDir && sameCase(id, dispatchId)),
  ],
  [
    'rewrites the same id in each task too',
    'neighbours/names-of-a-rewrite',
    rewritesAlso(([, dispatchId], _, id) => id === dispatchId),
  ],
  [
    'rewrites each dispatch of the task whose id begins with that of the rewritten one',
    'neighbours/names-of-a-rewrite',
    rewritesAlso(([taskDir, dispatchId], task, id) => task === taskDir && id.startsWith(dispatchId)),
  ],
  [
    'rewrites the dispatch whose id differs in case too',
    'neighbours/names-of-a-rewrite',
    rewritesAlso(([taskDir, dispatchId], task, id) => task === taskDir && sameCase(id, dispatchId)),
  ],
  [
    'rewrites the dispatch of another Unicode form of the task too',
    'neighbours/names-of-a-rewrite',
    rewritesAlso(([taskDir, dispatchId], task, id) => id === dispatchId && sameForm(task, taskDir)),
  ],
  [
    'ends the claims of ids that begin with a released one',
    'neighbours/names-of-a-release',
    (good, world) => ({
      releaseDispatch: (taskDir, dispatchId) => {
        good.releaseDispatch(taskDir, dispatchId);
        alsoTo(
          world,
          [taskDir, dispatchId],
          (task, id) => task === taskDir && id.startsWith(dispatchId),
          good.releaseDispatch,
        );
      },
    }),
  ],
  [
    'breaks the claims of ids that begin with a broken one',
    'neighbours/names-of-a-broken-claim',
    (good, world) => ({
      breakClaim: (taskDir, dispatchId) => {
        good.breakClaim(taskDir, dispatchId);
        alsoTo(
          world,
          [taskDir, dispatchId],
          (task, id) => task === taskDir && id.startsWith(dispatchId),
          good.breakClaim,
        );
      },
    }),
  ],
  [
    'breaks the claims of the same id in each task',
    'neighbours/names-of-a-broken-claim',
    (good, world) => ({
      breakClaim: (taskDir, dispatchId) => {
        good.breakClaim(taskDir, dispatchId);
        for (const key of world.claims.keys())
          if (key === keyOf(key.split('\n')[0] ?? '', dispatchId)) world.claims.delete(key);
      },
    }),
  ],
  [
    'searches tasks whose name begins with that of the task',
    'neighbours/names-of-a-search',
    (good) => ({
      searchEvents: (query, options = {}) => {
        const { taskDir, dispatchId } = options;
        if (taskDir === undefined || dispatchId !== undefined) return good.searchEvents(query, options);
        good.searchEvents(query, options);
        const { taskDir: _, ...whole } = options;
        return good.searchEvents(query, whole).filter((hit) => hit.taskDir.startsWith(taskDir));
      },
    }),
  ],
  [
    'searches the dispatches whose id begins with that of the dispatch',
    'neighbours/names-of-a-search',
    (good) => ({
      searchEvents: (query, options = {}) => {
        const { dispatchId, ...wider } = options;
        if (dispatchId === undefined) return good.searchEvents(query, options);
        good.searchEvents(query, options);
        return good.searchEvents(query, wider).filter((hit) => hit.dispatchId.startsWith(dispatchId));
      },
    }),
  ],
  [
    'lists dispatches of tasks whose name begins with that of the task',
    'listed/pages',
    (good) => ({
      listDispatches: (options = {}) => {
        const { taskDir, ...wider } = options;
        const page = good.listDispatches(options);
        if (taskDir === undefined || page.dispatches.length === 0) return page;
        const { dispatches } = good.listDispatches(wider);
        return { ...page, dispatches: dispatches.filter((one) => one.taskDir.startsWith(taskDir)) };
      },
    }),
  ],
  [
    'removes the records of tasks below when a record is put',
    'names/tasks-are-not-patterns',
    (good, world) => ({
      putTask: (taskDir, task) => {
        good.putTask(taskDir, task);
        for (const name of world.data.tasks.keys())
          if (name.startsWith(`${taskDir}/`)) world.data.tasks.delete(name);
      },
    }),
  ],
  [
    'removes the record of a task with its last dispatch',
    'delete/last-dispatch',
    (good, world) => ({
      deleteDispatch: (taskDir, dispatchId) => {
        good.deleteDispatch(taskDir, dispatchId);
        if (world.data.dispatches.get(taskDir)?.size === 0) world.data.tasks.delete(taskDir);
      },
    }),
  ],
  [
    'fails to search beside a deletion',
    'neighbours/listings-beside-deletions',
    looksTwice(({ searchEvents }) => ({ searchEvents })),
  ],
  [
    'fails to list dispatches beside a deletion',
    'neighbours/listings-beside-deletions',
    looksTwice(({ listDispatches }) => ({ listDispatches })),
  ],
  [
    'fails to list envelopes beside a deletion',
    'neighbours/listings-beside-deletions',
    looksTwice(({ getDispatchEnvelopes }) => ({ getDispatchEnvelopes })),
  ],
  [
    'fails to list tasks beside a deletion',
    'neighbours/listings-beside-deletions',
    looksTwice(({ listTasks }) => ({ listTasks })),
  ],
  [
    'fails to find claims beside a deletion',
    'neighbours/listings-beside-deletions',
    looksTwice(({ findClaims }) => ({ findClaims })),
  ],
  [
    'gives the last events beside an append with a place from before it',
    'neighbours/last-events-beside-appends',
    (good) => ({
      readEvents: async (taskDir, dispatchId, options = {}) => {
        const { first } = good.readEvents(taskDir, dispatchId, options);
        if (options.last === undefined) return good.readEvents(taskDir, dispatchId, options);
        await later();
        return { ...good.readEvents(taskDir, dispatchId, options), first };
      },
    }),
  ],
];
