import { type DispatchStoreProvider, type StoreError, storeErrors } from '@hansard/provider';
import { keyOf, type World } from '../reference/world.ts';
import { type Append, appending, type Change, later, type Mutant } from './mutant.ts';

/** A store that throws its STORE_LOCKED with another message and other details. */
const refusing =
  (names: readonly (keyof DispatchStoreProvider)[], change: (error: StoreError) => StoreError): Change =>
  (good) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        (...args: readonly unknown[]) => {
          try {
            return (good as unknown as Record<string, CallableFunction>)[name]?.(...args);
          } catch (error) {
            throw storeErrors.is(error, 'STORE_LOCKED') ? change(error as StoreError) : error;
          }
        },
      ]),
    );

const unnamed = () =>
  storeErrors.error('STORE_LOCKED', 'It belongs to another opening.', {
    details: { owner: `process ${process.pid}` },
  });
const withoutDetails = (error: StoreError) => storeErrors.error('STORE_LOCKED', error.message);

/** A store that answers reads of one kind from what it read first, until it writes itself. */
const caching =
  (name: 'getDispatchEnvelope' | 'getDispatchEnvelopes' | 'listTasks' | 'getDispatchEvents'): Change =>
  (good) => {
    const answers = new Map<string, unknown>();
    const method = good[name] as (...args: readonly unknown[]) => unknown;
    const forget =
      (write: CallableFunction) =>
      (...args: readonly unknown[]) => {
        answers.clear();
        return write(...args);
      };
    return {
      [name]: (...args: readonly unknown[]) => {
        const key = JSON.stringify(args);
        if (!answers.has(key)) answers.set(key, method(...args));
        return structuredClone(answers.get(key));
      },
      createDispatch: forget(good.createDispatch) as never,
      appendEvent: forget(good.appendEvent) as never,
      appendEvents: forget(good.appendEvents) as never,
      updateDispatch: forget(good.updateDispatch) as never,
      putTask: forget(good.putTask) as never,
      deleteDispatch: forget(good.deleteDispatch) as never,
    };
  };

/** A claim that no store of this process has made. */
const foreign = { token: 'foreign', owner: process.pid, namespace: '', epoch: 1 };

/** The tasks to which an opening of a world appends at present. */
const busyTasks = new WeakMap<World, Set<string>>();

/** Stores with faults that several openings show: they share too much, or trust what they knew before. */
export const sharedMutants: readonly Mutant[] = [
  [
    'takes a claim from another opening',
    'claims/second-claim-refused',
    (good, world) => ({
      claimDispatch: (taskDir, dispatchId) => {
        world.claims.delete(keyOf(taskDir, dispatchId));
        return good.claimDispatch(taskDir, dispatchId);
      },
    }),
  ],
  [
    'takes the claim of an ended dispatch',
    'claims/second-claim-refused',
    (good, world) => ({
      claimDispatch: (taskDir, dispatchId) => {
        if (good.getDispatchEnvelope(taskDir, dispatchId)?.status !== 'running')
          world.claims.delete(keyOf(taskDir, dispatchId));
        return good.claimDispatch(taskDir, dispatchId);
      },
    }),
  ],
  [
    'lets each opening write what any has claimed',
    'claims/writes-refused-beside',
    appending((good, world) => (taskDir, dispatchId, events) => {
      const claim = world.claims.get(keyOf(taskDir, dispatchId));
      if (claim !== undefined) world.claims.delete(keyOf(taskDir, dispatchId));
      if (claim !== undefined) good.claimDispatch(taskDir, dispatchId);
      good.appendEvents(taskDir, dispatchId, events);
      if (claim !== undefined) world.claims.set(keyOf(taskDir, dispatchId), claim);
    }),
  ],
  [
    'releases the claims of others',
    'claims/writes-refused-beside',
    (good) => ({ releaseDispatch: (taskDir, dispatchId) => good.breakClaim(taskDir, dispatchId) }),
  ],
  [
    'lets two openings claim at the same time',
    'claims/claimed-at-once',
    (good, world) => ({
      claimDispatch: async (taskDir, dispatchId) => {
        const free = world.claims.get(keyOf(taskDir, dispatchId)) === undefined;
        await later();
        if (free) world.claims.delete(keyOf(taskDir, dispatchId));
        return good.claimDispatch(taskDir, dispatchId);
      },
    }),
  ],
  [
    'keeps its claims when it is closed',
    'claims/free-after-close',
    (good, world) => ({
      close: () => {
        const claims = [...world.claims];
        good.close();
        for (const [key, claim] of claims) world.claims.set(key, claim);
      },
    }),
  ],
  [
    'deletes what another opening has claimed',
    'claims/not-deleted-beside',
    (good, world) => ({
      deleteDispatch: (taskDir, dispatchId) => {
        world.claims.delete(keyOf(taskDir, dispatchId));
        good.deleteDispatch(taskDir, dispatchId);
      },
    }),
  ],
  [
    'deletes an ended dispatch that another opening has claimed',
    'shared/ended-not-deleted-beside',
    (good, world) => ({
      deleteDispatch: (taskDir, dispatchId) => {
        if (good.getDispatchEnvelope(taskDir, dispatchId)?.status !== 'running')
          world.claims.delete(keyOf(taskDir, dispatchId));
        good.deleteDispatch(taskDir, dispatchId);
      },
    }),
  ],
  ['does not name the owner to a claim', 'shared/owner-named', refusing(['claimDispatch'], unnamed)],
  ['does not name the owner to a deletion', 'shared/owner-named', refusing(['deleteDispatch'], unnamed)],
  [
    'does not name the owner to a write',
    'shared/owner-named',
    refusing(['appendEvent', 'appendEvents', 'updateDispatch'], unnamed),
  ],
  ['names the owner in the message only', 'shared/owner-named', refusing(['claimDispatch'], withoutDetails)],
  [
    'frees all claims when one opening closes',
    'shared/close-frees-own-claims',
    (good, world) => ({
      close: () => {
        good.close();
        world.claims.clear();
      },
    }),
  ],
  [
    'frees all claims of an opening at a release',
    'shared/release-frees-one-claim',
    (good, world) => ({
      releaseDispatch: (taskDir, dispatchId) => {
        good.releaseDispatch(taskDir, dispatchId);
        world.claims.clear();
      },
    }),
  ],
  [
    'creates the same dispatch in two openings',
    'shared/created-at-once',
    (good, world) => ({
      createDispatch: async (taskDir, envelope) => {
        const isFree = good.getDispatchEnvelope(taskDir, envelope.dispatchId) === null;
        await later();
        if (isFree) world.data.dispatches.get(taskDir)?.delete(envelope.dispatchId);
        world.claims.delete(keyOf(taskDir, envelope.dispatchId));
        good.createDispatch(taskDir, envelope);
      },
    }),
  ],
  [
    'gives the claim of a creation to nobody',
    'shared/created-at-once',
    (good) => ({
      createDispatch: (taskDir, envelope) => {
        good.createDispatch(taskDir, envelope);
        good.releaseDispatch(taskDir, envelope.dispatchId);
      },
    }),
  ],
  [
    'knows the events that it has appended itself',
    'shared/retry-after-handover',
    (good, world) => {
      const own = new Set<string>();
      const appendEvents: Append = (taskDir, dispatchId, events) => {
        const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
        const others = (dispatch?.events ?? []).filter(({ id }) => !own.has(id));
        if (dispatch !== undefined) dispatch.events = dispatch.events.filter(({ id }) => own.has(id));
        good.appendEvents(taskDir, dispatchId, events);
        for (const { id } of events) own.add(id);
        if (dispatch !== undefined) dispatch.events = [...others, ...dispatch.events];
      };
      return {
        appendEvents,
        appendEvent: (taskDir, dispatchId, event) => appendEvents(taskDir, dispatchId, [event]),
      };
    },
  ],
  [
    'writes the envelope that it knew',
    'shared/update-after-handover',
    (good) => {
      const known = new Map<string, object>();
      return {
        updateDispatch: (taskDir, dispatchId, updates) => {
          const envelope = good.updateDispatch(taskDir, dispatchId, { ...known.get(dispatchId), ...updates });
          known.set(dispatchId, envelope);
          return envelope;
        },
      };
    },
  ],
  ['reads events from its cache', 'shared/reads-what-another-writes', caching('getDispatchEvents')],
  [
    'reads an envelope from its cache',
    'shared/update-after-handover',
    (good) => {
      const first = new Map<string, ReturnType<typeof good.getDispatchEnvelope>>();
      return {
        createDispatch: (taskDir, envelope) => {
          good.createDispatch(taskDir, envelope);
          first.set(envelope.dispatchId, structuredClone(envelope));
        },
        claimDispatch: (taskDir, dispatchId) => {
          first.set(dispatchId, good.getDispatchEnvelope(taskDir, dispatchId));
          return good.claimDispatch(taskDir, dispatchId);
        },
        getDispatchEnvelope: (taskDir, dispatchId) =>
          structuredClone(first.get(dispatchId) ?? good.getDispatchEnvelope(taskDir, dispatchId)),
      };
    },
  ],
  ['lists dispatches from its cache', 'shared/listed-beside', caching('getDispatchEnvelopes')],
  ['lists tasks from its cache', 'shared/listed-beside', caching('listTasks')],
  [
    'remembers that a dispatch was missing',
    'shared/listed-beside',
    (good) => {
      const missing = new Set<string>();
      return {
        getDispatchEnvelope: (taskDir, id) => {
          const envelope = good.getDispatchEnvelope(taskDir, id);
          if (envelope === null) missing.add(id);
          return envelope;
        },
        getDispatchEnvelopes: (taskDir) =>
          good.getDispatchEnvelopes(taskDir).filter(({ dispatchId }) => !missing.has(dispatchId)),
      };
    },
  ],
  ['reads a deleted dispatch from its cache', 'shared/replaced-beside', caching('getDispatchEvents')],
  [
    'counts events from its cache',
    'shared/pages-beside',
    (good) => {
      let count: number | null = null;
      return {
        readEvents: (taskDir, dispatchId, options = {}) => {
          const page = good.readEvents(taskDir, dispatchId, options);
          count ??= page.next + 1;
          return options.last === 0 ? { ...page, first: count } : page;
        },
      };
    },
  ],
  [
    'reports every claim as its own',
    'claims/state',
    (good) => ({
      findClaim: (taskDir, dispatchId) => {
        const claim = good.findClaim(taskDir, dispatchId);
        return claim && { ...claim, isOwn: true };
      },
    }),
  ],
  [
    'reports no claim of others',
    'claims/state',
    (good) => ({
      findClaim: (taskDir, dispatchId) => {
        const claim = good.findClaim(taskDir, dispatchId);
        return claim?.isOwn ? claim : null;
      },
    }),
  ],
  [
    'reports a claim without its owner',
    'claims/state',
    (good) => ({
      findClaim: (taskDir, dispatchId) => {
        const claim = good.findClaim(taskDir, dispatchId);
        return claim && { ...claim, owner: 'somebody' };
      },
    }),
  ],
  [
    'reports a claim of a free dispatch',
    'claims/state-of-an-ended-one',
    (good) => ({
      findClaim: (taskDir, dispatchId) =>
        good.findClaim(taskDir, dispatchId) ?? {
          owner: 'nobody',
          isOwn: false,
          state: 'expired',
          expiresInMs: null,
        },
    }),
  ],
  [
    'leaves missing dispatches out of the claims',
    'claims/states',
    (good) => ({
      findClaims: (taskDir, dispatchIds) => {
        const stored = good.getDispatchEnvelopes(taskDir).map(({ dispatchId }) => dispatchId);
        return good.findClaims(
          taskDir,
          dispatchIds.length === 1 ? dispatchIds : dispatchIds.filter((id) => stored.includes(id)),
        );
      },
    }),
  ],
  [
    'returns claims in the order of the stored ids',
    'claims/states',
    (good) => ({ findClaims: (taskDir, dispatchIds) => good.findClaims(taskDir, dispatchIds.toSorted()) }),
  ],
  [
    'finds the claims of at most a thousand dispatches',
    'claims/states',
    (good) => ({
      findClaims: (taskDir, dispatchIds) =>
        good.findClaims(taskDir, dispatchIds).map((claim, at) => (at < 1_000 ? claim : null)),
    }),
  ],
  [
    'finds no claim of an ended dispatch among several',
    'claims/states',
    (good) => ({
      findClaims: (taskDir, dispatchIds) =>
        good
          .findClaims(taskDir, dispatchIds)
          .map((claim, at) =>
            good.getDispatchEnvelope(taskDir, dispatchIds[at] ?? '')?.status === 'running' ? claim : null,
          ),
    }),
  ],
  [
    'never claims again what another opening has claimed since',
    'claims/passes-on-and-back',
    (good, world) => {
      const epochs = new Map<string, number>();
      return {
        claimDispatch: (taskDir, dispatchId) => {
          const key = keyOf(taskDir, dispatchId);
          if ((world.epochs.get(key) ?? 0) > (epochs.get(key) ?? Number.POSITIVE_INFINITY))
            throw storeErrors.error('STORE_LOCKED', 'Another opening has claimed it since.');
          const claim = good.claimDispatch(taskDir, dispatchId);
          epochs.set(key, claim.epoch);
          return claim;
        },
      };
    },
  ],
  [
    'claims what it has created at its first write',
    'shared/held-from-creation',
    (good) => {
      const created = new Set<string>();
      const claimed =
        (write: CallableFunction) =>
        (taskDir: string, dispatchId: string, ...rest: readonly unknown[]) => {
          if (created.delete(dispatchId)) good.claimDispatch(taskDir, dispatchId);
          return write(taskDir, dispatchId, ...rest);
        };
      return {
        createDispatch: (taskDir, envelope) => {
          good.createDispatch(taskDir, envelope);
          good.releaseDispatch(taskDir, envelope.dispatchId);
          if (envelope.status === 'running') created.add(envelope.dispatchId);
        },
        appendEvent: claimed(good.appendEvent) as never,
        appendEvents: claimed(good.appendEvents) as never,
        updateDispatch: claimed(good.updateDispatch) as never,
      };
    },
  ],
  [
    'releases a dispatch that is set running',
    'shared/held-since-it-runs-again',
    (good) => ({
      updateDispatch: (taskDir, dispatchId, updates) => {
        const envelope = good.updateDispatch(taskDir, dispatchId, updates);
        if (updates.status === 'running') good.releaseDispatch(taskDir, dispatchId);
        return envelope;
      },
    }),
  ],
  [
    'protects only the first claim of a dispatch',
    'shared/held-since-a-claim',
    (good, world) => ({
      claimDispatch: (taskDir, dispatchId) => {
        const key = keyOf(taskDir, dispatchId);
        if ((world.claims.get(key)?.epoch ?? 1) > 1) world.claims.delete(key);
        return good.claimDispatch(taskDir, dispatchId);
      },
    }),
  ],
  [
    'never claims what it was refused once',
    'shared/second-writer-refused',
    (good) => {
      const refused = new Map<string, unknown>();
      return {
        claimDispatch: (taskDir, dispatchId) => {
          const key = keyOf(taskDir, dispatchId);
          if (refused.has(key)) throw refused.get(key);
          try {
            return good.claimDispatch(taskDir, dispatchId);
          } catch (error) {
            refused.set(key, error);
            throw error;
          }
        },
      };
    },
  ],
  [
    'refuses an append beside one to another dispatch of the task',
    'shared/writes-different-dispatches',
    (good, world) => ({
      appendEvent: async (taskDir, dispatchId, event) => {
        const busy = busyTasks.get(world) ?? new Set();
        busyTasks.set(world, busy);
        if (busy.has(taskDir)) throw storeErrors.error('STORE_LOCKED', 'Another append is under way.');
        busy.add(taskDir);
        await later();
        busy.delete(taskDir);
        return good.appendEvent(taskDir, dispatchId, event);
      },
    }),
  ],
  ['breaks nothing', 'claims/broken', () => ({ breakClaim: () => {} })],
  [
    'claims again at the next write after its claim was broken',
    'claims/broken',
    appending((good) => {
      const had = new Set<string>();
      return (taskDir, dispatchId, events) => {
        if (had.has(dispatchId)) good.claimDispatch(taskDir, dispatchId);
        good.appendEvents(taskDir, dispatchId, events);
        had.add(dispatchId);
      };
    }),
  ],
  [
    'blocks a broken claim',
    'claims/broken-and-taken',
    (good, world) => ({
      breakClaim: (taskDir, dispatchId) => {
        good.breakClaim(taskDir, dispatchId);
        world.claims.set(keyOf(taskDir, dispatchId), foreign);
      },
    }),
  ],
  [
    'lets the former owner release the claim of the new one',
    'claims/broken-and-taken',
    (good) => ({ releaseDispatch: (taskDir, dispatchId) => good.breakClaim(taskDir, dispatchId) }),
  ],
  [
    'creates again under the claim that it lost',
    'shared/created-after-loss',
    (good, world) => ({
      createDispatch: (taskDir, envelope) => {
        good.createDispatch(taskDir, envelope);
        if (envelope.role === 'second') world.claims.delete(keyOf(taskDir, envelope.dispatchId));
      },
    }),
  ],
  [
    'breaks a claim of a dispatch that is gone',
    'shared/broken-after-loss',
    (good) => ({
      breakClaim: (taskDir, dispatchId) => {
        if (good.getDispatchEnvelope(taskDir, dispatchId) !== null) good.breakClaim(taskDir, dispatchId);
      },
    }),
  ],
  ['breaks all claims', 'claims/broken-one-only', (_, world) => ({ breakClaim: () => world.claims.clear() })],
];
