import { type EnvelopeUpdates, storeErrors } from '@hansard/provider';
import { type Change, later, type Mutant } from './mutant.ts';

/** A store that changes updates before it makes them. */
const updating =
  (change: (updates: EnvelopeUpdates) => EnvelopeUpdates): Change =>
  (good) => ({
    updateDispatch: (taskDir, dispatchId, updates) =>
      good.updateDispatch(taskDir, dispatchId, change(updates)),
  });

const keeping = (isKept: (value: unknown) => boolean) =>
  updating((updates) => Object.fromEntries(Object.entries(updates).filter(([, value]) => isKept(value))));

/** A store whose method answers a missing dispatch in its own way. */
const orElse =
  (name: string, answer: unknown): Change =>
  (good) => ({
    [name]: (...args: readonly unknown[]) => {
      try {
        return (good as unknown as Record<string, CallableFunction>)[name]?.(...args);
      } catch (error) {
        if (storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) return answer;
        throw error;
      }
    },
  });

/** Stores with wrong envelopes, missing refusals and a wrong end. */
export const dispatchMutants: readonly Mutant[] = [
  [
    'returns no events of a missing dispatch',
    'dispatches/missing-get-dispatch-events',
    orElse('getDispatchEvents', []),
  ],
  [
    'returns an empty page of a missing dispatch',
    'dispatches/missing-read-events',
    orElse('readEvents', { events: [], first: 0, next: -1 }),
  ],
  [
    'ignores an append to a missing dispatch',
    'dispatches/missing-append-event',
    orElse('appendEvent', undefined),
  ],
  [
    'ignores an update of a missing dispatch',
    'dispatches/missing-update-dispatch',
    orElse('updateDispatch', {}),
  ],
  [
    'ignores the claim of a missing dispatch',
    'dispatches/missing-claim-dispatch',
    orElse('claimDispatch', { envelope: null }),
  ],
  [
    'ignores a deletion of a missing dispatch',
    'dispatches/missing-delete-dispatch',
    orElse('deleteDispatch', undefined),
  ],
  ['watches a missing dispatch', 'dispatches/missing-watch', orElse('watch', () => {})],
  [
    'refuses the release of a missing dispatch',
    'dispatches/missing-release-dispatch',
    (good) => ({
      releaseDispatch: (taskDir, dispatchId) => {
        good.getDispatchEvents(taskDir, dispatchId);
        good.releaseDispatch(taskDir, dispatchId);
      },
    }),
  ],
  [
    'refuses the claims of a missing dispatch',
    'dispatches/missing-find-claims',
    (good) => ({
      findClaims: (taskDir, dispatchIds) => dispatchIds.map((id) => good.findClaim(taskDir, id)),
    }),
  ],
  ['has no claim of a missing dispatch', 'dispatches/missing-find-claim', orElse('findClaim', null)],
  [
    'verifies a missing dispatch',
    'dispatches/missing-verify-dispatch',
    orElse('verifyDispatch', { integrity: 'checksum', wholeEvents: 0, bytes: 0, damages: [] }),
  ],
  [
    'refuses the envelopes of a missing task',
    'dispatches/missing-get-dispatch-envelopes',
    (good) => ({
      getDispatchEnvelopes: (taskDir) => {
        if (good.listTasks().every((one) => one.taskDir !== taskDir))
          throw storeErrors.error('STORE_DISPATCH_NOT_FOUND', 'No such task.');
        return good.getDispatchEnvelopes(taskDir);
      },
    }),
  ],
  [
    'accepts an equal creation of an existing dispatch',
    'dispatches/create-twice',
    (good) => ({
      createDispatch: (taskDir, envelope) => {
        const known = good.getDispatchEnvelope(taskDir, envelope.dispatchId);
        if (JSON.stringify(known) !== JSON.stringify(envelope)) good.createDispatch(taskDir, envelope);
      },
    }),
  ],
  [
    'creates over an ended dispatch',
    'listings/ended-not-created-over',
    (good) => ({
      createDispatch: (taskDir, envelope) => {
        const { status = 'running' } = good.getDispatchEnvelope(taskDir, envelope.dispatchId) ?? {};
        if (status !== 'running') good.deleteDispatch(taskDir, envelope.dispatchId);
        good.createDispatch(taskDir, envelope);
      },
    }),
  ],
  [
    'claims a dispatch whose creation it refuses',
    'listings/ended-not-created-over',
    (good) => ({
      createDispatch: (taskDir, envelope) => {
        try {
          good.createDispatch(taskDir, envelope);
        } catch (error) {
          good.claimDispatch(taskDir, envelope.dispatchId);
          throw error;
        }
      },
    }),
  ],
  [
    'creates twice at the same time',
    'dispatches/create-at-once',
    (good) => ({
      createDispatch: async (taskDir, envelope) => {
        const known = good.getDispatchEnvelope(taskDir, envelope.dispatchId);
        await later();
        if (known !== null || good.getDispatchEnvelope(taskDir, envelope.dispatchId) === null)
          good.createDispatch(taskDir, envelope);
      },
    }),
  ],
  [
    'looks up ids in an object',
    'dispatches/ids-of-javascript',
    (good) => ({
      getDispatchEnvelope: (taskDir, id) =>
        id in {} ? ({} as never) : good.getDispatchEnvelope(taskDir, id),
    }),
  ],
  [
    'refuses events of an ended dispatch',
    'dispatches/ended-takes-events',
    (good) => ({
      appendEvent: (taskDir, dispatchId, event) => {
        if (good.getDispatchEnvelope(taskDir, dispatchId)?.status !== 'running')
          throw storeErrors.error('STORE_LOCKED', 'It has ended.');
        good.appendEvent(taskDir, dispatchId, event);
      },
    }),
  ],
  [
    'loses an update of two at the same time',
    'listings/updates-at-once',
    (good) => ({
      updateDispatch: async (taskDir, dispatchId, updates) => {
        const before = good.getDispatchEnvelope(taskDir, dispatchId);
        await later();
        return good.updateDispatch(taskDir, dispatchId, { ...before, ...updates });
      },
    }),
  ],
  ['loses the nulls of an update', 'envelopes/update-to-null', keeping((value) => value !== null)],
  [
    'loses what is zero, empty or false in an update',
    'listings/empty-and-zero',
    updating((updates) => ({
      ...updates,
      ...('structuredResult' in updates && { structuredResult: updates.structuredResult || null }),
    })),
  ],
  [
    'keeps an empty result as null',
    'listings/empty-and-zero',
    updating((updates) =>
      JSON.stringify(updates.structuredResult) === '{}' ? { ...updates, structuredResult: null } : updates,
    ),
  ],
  [
    'keeps a cost of 0 as null',
    'listings/empty-and-zero',
    updating((updates) => (updates.cost === 0 ? { ...updates, cost: null } : updates)),
  ],
  [
    'merges objects of an update',
    'envelopes/update-replaces-values',
    (good) => ({
      updateDispatch: (taskDir, dispatchId, updates) => {
        const { usage } = good.getDispatchEnvelope(taskDir, dispatchId) ?? {};
        return good.updateDispatch(taskDir, dispatchId, {
          ...updates,
          ...(updates.usage && { usage: { ...usage, ...updates.usage } }),
        });
      },
    }),
  ],
  [
    'returns the envelope of before the update',
    'envelopes/update-gives-the-envelope',
    (good) => ({
      updateDispatch: (taskDir, dispatchId, updates) => {
        const before = good.getDispatchEnvelope(taskDir, dispatchId);
        const after = good.updateDispatch(taskDir, dispatchId, updates);
        return before ?? after;
      },
    }),
  ],
  [
    'ignores fields that it does not know',
    'envelopes/update-each-field',
    updating(({ botId: _, ...updates }) => updates),
  ],
  ['forgets the title at an update', 'envelopes/title', updating((updates) => ({ title: null, ...updates }))],
  [
    'changes an envelope at an empty update',
    'envelopes/update-nothing',
    updating((updates) => (Object.keys(updates).length === 0 ? { cost: 0 } : updates)),
  ],
  [
    'cuts an envelope at 64 KB',
    'envelopes/update-of-any-size',
    updating((updates) =>
      JSON.stringify(updates).length > 65_536 ? { ...updates, structuredResult: null } : updates,
    ),
  ],
  [
    'keeps the first 256 updates',
    'listings/many-updates',
    (good) => {
      let count = 0;
      return {
        updateDispatch: (taskDir, dispatchId, updates) =>
          good.updateDispatch(taskDir, dispatchId, ++count > 256 ? {} : updates),
      };
    },
  ],
  [
    'lists by creation',
    'envelopes/listed-by-start',
    (good, world) => ({
      getDispatchEnvelopes: (taskDir) => {
        good.getDispatchEnvelopes(taskDir);
        return structuredClone(
          [...(world.data.dispatches.get(taskDir)?.values() ?? [])].map(({ envelope }) => envelope),
        );
      },
    }),
  ],
  [
    'lists by id',
    'envelopes/listed-by-start',
    (good) => ({
      getDispatchEnvelopes: (taskDir) =>
        good.getDispatchEnvelopes(taskDir).sort((one, other) => (one.dispatchId < other.dispatchId ? -1 : 1)),
    }),
  ],
  [
    'lists ids as people sort them',
    'envelopes/listed-by-start',
    (good) => ({
      getDispatchEnvelopes: (taskDir) =>
        good
          .getDispatchEnvelopes(taskDir)
          .sort(
            (one, other) =>
              (one.startedAt ?? '').localeCompare(other.startedAt ?? '') ||
              one.dispatchId.localeCompare(other.dispatchId),
          ),
    }),
  ],
  [
    'lists by the first start',
    'envelopes/update-moves-in-the-list',
    (good) => {
      const starts = new Map<string, string>();
      const key = (id: string) => `${starts.get(id)} ${id}`;
      return {
        createDispatch: (taskDir, envelope) => {
          good.createDispatch(taskDir, envelope);
          starts.set(envelope.dispatchId, envelope.startedAt ?? '');
        },
        getDispatchEnvelopes: (taskDir) =>
          good
            .getDispatchEnvelopes(taskDir)
            .sort((one, other) => (key(one.dispatchId) < key(other.dispatchId) ? -1 : 1)),
      };
    },
  ],
];
