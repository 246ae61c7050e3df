import type { Mutant } from './mutant.ts';

/** Stores whose rewrites keep, lose or show something that they must not. */
export const rewriteMutants: readonly Mutant[] = [
  [
    'adds a notice of its own',
    'rewrite/without-notice',
    (good) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) =>
        good.rewriteDispatch(taskDir, dispatchId, {
          notice: () => ({
            id: 'own-notice',
            type: 'system:notice',
            timestamp: '2026-03-01T09:00:00.000Z',
            schemaVersion: 1,
            data: { problem: 'rewritten' },
          }),
          ...rewrite,
        }),
    }),
  ],
  [
    'rewrites the events only',
    'rewrite/all-ways-to-read',
    (good) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) =>
        good.rewriteDispatch(taskDir, dispatchId, {
          ...rewrite,
          envelope: (envelope) => {
            rewrite.envelope(envelope);
            return envelope;
          },
        }),
    }),
  ],
  [
    'rewrites every dispatch of the task',
    'rewrite/all-ways-to-read',
    (good) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) => {
        for (const other of good.getDispatchEnvelopes(taskDir))
          if (other.dispatchId !== dispatchId) good.rewriteDispatch(taskDir, other.dispatchId, rewrite);
        return good.rewriteDispatch(taskDir, dispatchId, rewrite);
      },
    }),
  ],
  [
    'puts the notice first',
    'rewrite/all-ways-to-read',
    (good, world) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) => {
        const answer = good.rewriteDispatch(taskDir, dispatchId, rewrite);
        const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
        if (dispatch !== undefined)
          dispatch.events = [...dispatch.events.slice(-1), ...dispatch.events.slice(0, -1)];
        return answer;
      },
    }),
  ],
  [
    'gives the events of the first page only',
    'rewrite/gives-every-event',
    (good) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) => {
        let given = 0;
        return good.rewriteDispatch(taskDir, dispatchId, {
          ...rewrite,
          event: (event) => {
            given += 1;
            return given > 1_000 ? event : rewrite.event(event);
          },
        });
      },
    }),
  ],
  [
    'loses an event that stays',
    'rewrite/gives-every-event',
    (good, world) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) => {
        const same = new Set<string>();
        const answer = good.rewriteDispatch(taskDir, dispatchId, {
          ...rewrite,
          event: (event) => {
            const rewritten = rewrite.event(event);
            if (rewritten === event) same.add(event.id);
            return rewritten;
          },
        });
        const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
        if (dispatch !== undefined) dispatch.events = dispatch.events.filter(({ id }) => !same.has(id));
        return answer;
      },
    }),
  ],
  [
    'keeps what it has rewritten when the rewrite fails',
    'rewrite/ends-without-a-change',
    (good, world) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) => {
        const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
        if (dispatch === undefined) return good.rewriteDispatch(taskDir, dispatchId, rewrite);
        dispatch.envelope = rewrite.envelope(dispatch.envelope);
        for (const [at, event] of dispatch.events.entries()) dispatch.events[at] = rewrite.event(event);
        if (rewrite.notice !== undefined) dispatch.events.push(rewrite.notice());
        return { remains: [] };
      },
    }),
  ],
  [
    'compares appends with the old content',
    'rewrite/continues',
    (good) => {
      const old = new Map<string, string>();
      return {
        rewriteDispatch: (taskDir, dispatchId, rewrite) =>
          good.rewriteDispatch(taskDir, dispatchId, {
            ...rewrite,
            event: (event) => {
              old.set(event.id, JSON.stringify(event));
              return rewrite.event(event);
            },
          }),
        appendEvent: (taskDir, dispatchId, event) => {
          if (old.get(event.id) !== JSON.stringify(event)) good.appendEvent(taskDir, dispatchId, event);
        },
      };
    },
  ],
  [
    'needs a claim',
    'rewrite/needs-no-claim',
    (good) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) => {
        good.updateDispatch(taskDir, dispatchId, {});
        return good.rewriteDispatch(taskDir, dispatchId, rewrite);
      },
    }),
  ],
  [
    'keeps the claim of a rewrite',
    'rewrite/needs-no-claim',
    (good) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) => {
        good.claimDispatch(taskDir, dispatchId);
        return good.rewriteDispatch(taskDir, dispatchId, rewrite);
      },
    }),
  ],
  [
    'takes the claim of another opening',
    'rewrite/refused-beside',
    (good) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) => {
        good.breakClaim(taskDir, dispatchId);
        return good.rewriteDispatch(taskDir, dispatchId, rewrite);
      },
    }),
  ],
  [
    'finds the old content',
    'rewrite/not-found-by-search',
    (good) => {
      const old: never[] = [];
      return {
        rewriteDispatch: (taskDir, dispatchId, rewrite) => {
          old.push(...(good.searchEvents('sesame', { taskDir, dispatchId }) as never[]));
          return good.rewriteDispatch(taskDir, dispatchId, rewrite);
        },
        searchEvents: (query, options) =>
          query === 'sesame'
            ? [...old, ...good.searchEvents(query, options)]
            : good.searchEvents(query, options),
      };
    },
  ],
  [
    'releases every dispatch to remove remains',
    'rewrite/remains-removed',
    (good) => ({
      removeRemains: () => {
        for (const { taskDir } of good.listTasks())
          for (const { dispatchId } of good.getDispatchEnvelopes(taskDir))
            good.releaseDispatch(taskDir, dispatchId);
        return [];
      },
    }),
  ],
  [
    'removes a whole dispatch as remains',
    'rewrite/remains-removed',
    (_, world) => ({
      removeRemains: () => {
        for (const dispatches of world.data.dispatches.values()) dispatches.delete('OTHER');
        return [];
      },
    }),
  ],
  ['names no place of what remains', 'rewrite/remains-removed', () => ({ removeRemains: () => [''] })],
  ['has no method to rewrite', 'capabilities/methods-there', () => ({ rewriteDispatch: undefined as never })],
];
