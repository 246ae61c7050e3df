import type { World } from '../reference/world.ts';
import type { Change, Mutant } from './mutant.ts';

/** A store that changes its data whenever it is opened again. */
const opening =
  (change: (world: World) => void): Change =>
  (_, world) => {
    change(world);
    return {};
  };

const dispatchesOf = (world: World) =>
  [...world.data.dispatches.values()].flatMap((dispatches) => [...dispatches.values()]);

/** Stores that lose or change something between two openings. */
export const reopenedMutants: readonly Mutant[] = [
  [
    'is empty when it is opened again',
    'reopened/everything',
    opening(({ data }) => {
      data.dispatches.clear();
      data.tasks.clear();
    }),
  ],
  [
    'forgets tasks without dispatches',
    'reopened/everything',
    opening(({ data }) => {
      for (const taskDir of data.tasks.keys()) if (!data.dispatches.has(taskDir)) data.tasks.delete(taskDir);
    }),
  ],
  ['forgets the records of tasks', 'reopened/find-task', opening(({ data }) => data.tasks.clear())],
  [
    'loses the last event',
    'reopened/goes-on',
    opening((world) => {
      for (const dispatch of dispatchesOf(world)) dispatch.events = dispatch.events.slice(0, -1);
    }),
  ],
  [
    'loses the last update',
    'reopened/everything',
    opening((world) => {
      for (const dispatch of dispatchesOf(world))
        dispatch.envelope = { ...dispatch.envelope, structuredResult: null };
    }),
  ],
  [
    'marks running dispatches as crashed',
    'reopened/still-running',
    opening((world) => {
      for (const dispatch of dispatchesOf(world))
        dispatch.envelope = { ...dispatch.envelope, status: 'crashed' };
    }),
  ],
  [
    'forgets the ids of its events',
    'reopened/retry',
    (good, world) => {
      const known = new Map(dispatchesOf(world).map((dispatch) => [dispatch, dispatch.events.length]));
      return {
        appendEvents: (taskDir, dispatchId, events) => {
          const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
          const count = dispatch === undefined ? 0 : (known.get(dispatch) ?? 0);
          const old = dispatch?.events.slice(0, count) ?? [];
          if (dispatch !== undefined) dispatch.events = dispatch.events.slice(count);
          good.appendEvents(taskDir, dispatchId, events);
          if (dispatch !== undefined) dispatch.events = [...old, ...dispatch.events];
        },
      };
    },
  ],
  [
    'replaces surrogates when it is opened again',
    'reopened/values',
    opening((world) => {
      for (const dispatch of dispatchesOf(world))
        dispatch.events = JSON.parse(JSON.stringify(dispatch.events).replaceAll('\\ud800', '\ufffd'));
    }),
  ],
  [
    'finds a refused batch in its journal',
    'reopened/refused-batch',
    (good, world) => ({
      appendEvents: (taskDir, dispatchId, events) => {
        try {
          good.appendEvents(taskDir, dispatchId, events);
        } catch (error) {
          const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
          if (dispatch !== undefined)
            dispatch.events = [...dispatch.events, ...structuredClone(events.slice(0, 1))];
          throw error;
        }
      },
    }),
  ],
  [
    'finds deleted dispatches again',
    'delete/stays-gone',
    (good, world) => ({
      deleteDispatch: (taskDir, dispatchId) => {
        const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
        good.deleteDispatch(taskDir, dispatchId);
        if (dispatch !== undefined) world.data.dispatches.get(taskDir)?.set(dispatchId, dispatch);
      },
    }),
  ],
  [
    'counts positions from its opening',
    'last/reopened',
    (good, world) => {
      const start = Math.max(0, ...dispatchesOf(world).map((dispatch) => dispatch.events.length));
      return {
        readEvents: (taskDir, dispatchId, options = {}) => {
          const page = good.readEvents(taskDir, dispatchId, options);
          return options.last === undefined ? page : { ...page, first: Math.max(0, page.first - start) };
        },
      };
    },
  ],
  [
    'writes before it refuses, when it is closed',
    'closed/refused-writes-leave-nothing',
    (good, world) => ({
      putTask: (taskDir, task) => {
        world.data.tasks.set(taskDir, structuredClone(task));
        good.putTask(taskDir, task);
      },
    }),
  ],
];
