import { storeErrors } from '@hansard/provider';
import { appending, type Mutant } from './mutant.ts';

/** Stores that claim, release or refuse at the wrong time, or trust what they knew before another opening wrote. */
export const claimMutants: readonly Mutant[] = [
  [
    'claims at an append',
    'claims/append-claims-nothing',
    appending((good) => (taskDir, dispatchId, events) => {
      good.claimDispatch(taskDir, dispatchId);
      good.appendEvents(taskDir, dispatchId, events);
    }),
  ],
  [
    'claims after it refused an append',
    'claims/append-claims-nothing',
    appending((good) => (taskDir, dispatchId, events) => {
      try {
        good.appendEvents(taskDir, dispatchId, events);
      } finally {
        good.claimDispatch(taskDir, dispatchId);
      }
    }),
  ],
  [
    'accepts an empty batch without a claim',
    'claims/batch-claims-nothing',
    appending((good) => (taskDir, dispatchId, events) => {
      if (events.length > 0) good.appendEvents(taskDir, dispatchId, events);
    }),
  ],
  [
    'accepts a retry without a claim',
    'claims/release',
    appending((good) => (taskDir, dispatchId, events) => {
      const known = good.getDispatchEvents(taskDir, dispatchId).map(({ id }) => id);
      if (events.length === 0 || events.some(({ id }) => !known.includes(id)))
        good.appendEvents(taskDir, dispatchId, events);
    }),
  ],
  [
    'claims at an update',
    'claims/update-claims-nothing',
    (good) => ({
      updateDispatch: (taskDir, dispatchId, updates) => {
        good.claimDispatch(taskDir, dispatchId);
        return good.updateDispatch(taskDir, dispatchId, updates);
      },
    }),
  ],
  [
    'claims at an update to running',
    'claims/update-claims-nothing',
    (good) => ({
      updateDispatch: (taskDir, dispatchId, updates) => {
        if (updates.status === 'running') good.claimDispatch(taskDir, dispatchId);
        return good.updateDispatch(taskDir, dispatchId, updates);
      },
    }),
  ],
  [
    'claims every dispatch that it creates',
    'claims/created-ended',
    (good) => ({
      createDispatch: (taskDir, envelope) => {
        good.createDispatch(taskDir, envelope);
        good.claimDispatch(taskDir, envelope.dispatchId);
      },
    }),
  ],
  [
    'claims no dispatch that it creates',
    'claims/created-running',
    (good) => ({
      createDispatch: (taskDir, envelope) => {
        good.createDispatch(taskDir, envelope);
        good.releaseDispatch(taskDir, envelope.dispatchId);
      },
    }),
  ],
  [
    'releases a dispatch that ends',
    'claims/lasts-beyond-the-end',
    (good) => ({
      updateDispatch: (taskDir, dispatchId, updates) => {
        const envelope = good.updateDispatch(taskDir, dispatchId, updates);
        if (envelope.status !== 'running') good.releaseDispatch(taskDir, dispatchId);
        return envelope;
      },
    }),
  ],
  [
    'counts its claims',
    'claims/again',
    (good) => {
      let count = 0;
      return {
        claimDispatch: (taskDir, dispatchId) => {
          count += 1;
          return good.claimDispatch(taskDir, dispatchId);
        },
        releaseDispatch: (taskDir, dispatchId) => {
          count -= 1;
          if (count <= 0) good.releaseDispatch(taskDir, dispatchId);
        },
      };
    },
  ],
  [
    'keeps the last hundred of its claims',
    'claims/many',
    (good) => {
      const created: string[] = [];
      return {
        createDispatch: (taskDir, envelope) => {
          good.createDispatch(taskDir, envelope);
          created.push(envelope.dispatchId);
          if (created.length > 100) good.releaseDispatch(taskDir, created.shift() ?? '');
        },
      };
    },
  ],
  ['releases nothing', 'claims/release', () => ({ releaseDispatch: () => {} })],
  [
    'releases every dispatch with an id',
    'claims/one-dispatch',
    (good) => ({
      releaseDispatch: (taskDir, dispatchId) => {
        for (const task of [...good.listTasks().map((one) => one.taskDir), taskDir])
          good.releaseDispatch(task, dispatchId);
      },
    }),
  ],
  [
    'refuses the release of an unclaimed dispatch',
    'claims/release-unclaimed',
    (good) => ({
      releaseDispatch: (taskDir, dispatchId) => {
        if (good.findClaim(taskDir, dispatchId) === null)
          throw storeErrors.error('STORE_LOCKED', 'It is not claimed.');
        good.releaseDispatch(taskDir, dispatchId);
      },
    }),
  ],
  [
    'refuses to claim an ended dispatch',
    'claims/ended-dispatch',
    (good) => ({
      claimDispatch: (taskDir, dispatchId) => {
        if (good.getDispatchEnvelope(taskDir, dispatchId)?.status === 'completed')
          throw storeErrors.error('STORE_LOCKED', 'It has ended.');
        return good.claimDispatch(taskDir, dispatchId);
      },
    }),
  ],
  [
    'returns an old envelope with a claim',
    'claims/gives-the-envelope',
    (good) => {
      const first = new Map<string, never>();
      return {
        claimDispatch: (taskDir, dispatchId) => {
          const claim = good.claimDispatch(taskDir, dispatchId);
          if (!first.has(dispatchId)) first.set(dispatchId, claim as never);
          return first.get(dispatchId) ?? claim;
        },
      };
    },
  ],
  [
    'ends the claim of a refused append',
    'claims/kept-after-a-refusal',
    appending((good) => (taskDir, dispatchId, events) => {
      try {
        good.appendEvents(taskDir, dispatchId, events);
      } catch (error) {
        good.releaseDispatch(taskDir, dispatchId);
        throw error;
      }
    }),
  ],
  [
    'claims what it reads',
    'claims/reading-needs-none',
    (good) => ({
      getDispatchEvents: (taskDir, dispatchId) => {
        good.claimDispatch(taskDir, dispatchId);
        return good.getDispatchEvents(taskDir, dispatchId);
      },
    }),
  ],
  [
    'reads only what it has claimed',
    'claims/reading-needs-none',
    (good) => ({
      getDispatchEvents: (taskDir, dispatchId) => {
        good.appendEvents(taskDir, dispatchId, []);
        return good.getDispatchEvents(taskDir, dispatchId);
      },
    }),
  ],
  [
    'sets a claimed dispatch running',
    'claims/changes-no-data',
    (good) => ({
      claimDispatch: (taskDir, dispatchId) => {
        const claim = good.claimDispatch(taskDir, dispatchId);
        good.updateDispatch(taskDir, dispatchId, { status: 'running' });
        return claim;
      },
    }),
  ],
  [
    'has the epoch 1 for every claim',
    'claims/epoch-grows',
    (good) => ({
      claimDispatch: (taskDir, dispatchId) => ({ ...good.claimDispatch(taskDir, dispatchId), epoch: 1 }),
    }),
  ],
  [
    'has a new epoch for a repeated claim',
    'claims/epoch-grows',
    (good) => {
      let epoch = 0;
      return {
        claimDispatch: (taskDir, dispatchId) => ({
          ...good.claimDispatch(taskDir, dispatchId),
          epoch: ++epoch,
        }),
      };
    },
  ],
  [
    'counts epochs from its opening',
    'claims/epoch-reopened',
    (_, world) => {
      world.epochs.clear();
      return {};
    },
  ],
  [
    'keeps the claims of a deleted dispatch',
    'claims/not-inherited',
    (good) => {
      const had = new Set<string>();
      return {
        deleteDispatch: (taskDir, dispatchId) => {
          good.deleteDispatch(taskDir, dispatchId);
          had.add(dispatchId);
        },
        createDispatch: (taskDir, envelope) => {
          good.createDispatch(taskDir, envelope);
          if (had.has(envelope.dispatchId)) good.claimDispatch(taskDir, envelope.dispatchId);
        },
      };
    },
  ],
  [
    'claims again what was claimed before its close',
    'claims/reopened',
    (good) => {
      for (const { dispatchId } of good.getDispatchEnvelopes('research/tasks/route-models'))
        good.claimDispatch('research/tasks/route-models', dispatchId);
      return {};
    },
  ],
];
