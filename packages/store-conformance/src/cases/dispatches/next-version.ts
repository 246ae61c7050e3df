import assert from 'node:assert/strict';
import {
  type Awaitable,
  type DispatchEnvelope,
  type DispatchListing,
  type DispatchStoreProvider,
  type ListDispatchesOptions,
  storeErrors,
  type TaskRecord,
} from '@hansard/provider';
import { errorsOf, refuses, sameContent } from '../../checks/expectations.ts';
import { optionalMethod, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleTask } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

const { taskSlug: _, ...withoutSlug } = sampleEnvelope('LATER-5');

/**
 * The envelopes of an imagined next version, which are never to be changed: a later release of the kit must not read them either. They lie
 * before, between and after those of this version in every listing.
 */
const newerEnvelopes: readonly object[] = [
  { ...sampleEnvelope('LATER-1'), startedAt: at(1), status: 'paused', schemaVersion: 2 },
  { ...sampleEnvelope('LATER-2'), startedAt: at(3), status: 'completed', fidelity: 'summary' },
  { ...sampleEnvelope('LATER-3'), startedAt: at(3), status: 'crashed', usage: 'much', schemaVersion: 2 },
  {
    ...sampleEnvelope('LATER-4'),
    startedAt: at(5),
    status: 'completed',
    cost: { amount: 3, currency: 'EUR' },
  },
  { ...withoutSlug, startedAt: at(7), status: 'completed', task: { slug: 'route-models' }, schemaVersion: 9 },
];

/** Task records of an imagined next version. */
const newerTasks: readonly object[] = [
  { ...sampleTask('later'), status: { is: 'open', since: at(1) } },
  { slug: 'later', title: 'Later', project: 'research', status: 'open', created: at(1) },
];

const known = [2, 4, 6].map((minute) =>
  sampleEnvelope(`KNOWN-${minute}`, {
    startedAt: at(minute),
    status: minute === 4 ? 'crashed' : 'completed',
  }),
);
const newerIds = newerEnvelopes.map((_, index) => `LATER-${index + 1}`);

function at(minute: number): string {
  return `2026-03-01T09:0${minute}:00.000Z`;
}

async function fill(store: DispatchStoreProvider): Promise<void> {
  for (const envelope of [...known, ...(newerEnvelopes as DispatchEnvelope[])])
    await store.createDispatch(taskDir, envelope);
}

/** Every entry of a listing of these pages. */
async function listed(
  store: DispatchStoreProvider,
  options: ListDispatchesOptions,
): Promise<DispatchListing[]> {
  const all: DispatchListing[] = [];
  let next: string | null = null;
  do {
    const page = await store.listDispatches({ ...options, ...(next !== null && { after: next }) });
    all.push(...page.dispatches);
    next = page.next;
  } while (next !== null && all.length < 100);
  return all;
}

/** Fails unless the error is that of a newer version, and says so. */
async function isNewer(what: string, call: () => Awaitable<unknown>): Promise<void> {
  await refuses('STORE_NEWER', what, call);
  const [error] = await errorsOf([call]);
  assert.match((error as Error).message, /newer version/, what);
}

async function nullOrNewer(what: string, call: () => Awaitable<unknown>): Promise<void> {
  const [error] = await errorsOf([async () => sameContent(await call(), null, what)]);
  if (error !== undefined) await isNewer(what, rejected(error));
}

const rejected = (error: unknown) => () => Promise.reject(error);

/** What of {@link fill} a listing must have, in any order. */
async function assertListed(
  store: DispatchStoreProvider,
  options: ListDispatchesOptions,
  isWanted: (envelope: DispatchEnvelope) => boolean,
): Promise<void> {
  const entries = await listed(store, options);
  const what = `the listing ${JSON.stringify(options)}`;
  const ofKnown = entries.filter(({ dispatchId }) => dispatchId?.startsWith('KNOWN'));
  const wanted = known.filter(isWanted);
  sameContent(
    ofKnown.map(({ envelope }) => envelope),
    options.order === 'newest' ? wanted.toReversed() : wanted,
    what,
  );
  const others = entries.filter((entry) => !ofKnown.includes(entry));
  for (const { dispatchId, envelope, error } of others) {
    assert.equal(envelope, null, `${what} has an envelope of a newer version, ${dispatchId}`);
    await isNewer(`${what} of ${dispatchId}`, rejected(error));
  }
  const isFiltered = options.status !== undefined || options.startedSince !== undefined;
  const ids = others.map(({ dispatchId }) => String(dispatchId)).sort();
  if (isFiltered) sameContent([...new Set(ids)], ids, `${what} without repetitions`);
  else sameContent(ids, newerIds, what);
  // A filter of statuses cannot rule out a status that this version does not know.
  if (options.status !== undefined) assert.ok(ids.includes('LATER-1'), `${what} has LATER-1`);
}

export const newerCases = caseFamily('newer', [
  {
    name: 'listed',
    rule: 7,
    title:
      'an envelope that a newer version wrote is the error of its own dispatch in every listing, and ends no search',
    async run({ store }) {
      await fill(store);
      for (const limit of [1, 2, 3, 100])
        for (const order of ['oldest', 'newest'] as const)
          for (const scope of [{}, { taskDir }]) {
            await assertListed(store, { ...scope, limit, order }, () => true);
            const status = ['crashed'] as const;
            await assertListed(store, { ...scope, limit, order, status: [...status] }, (envelope) =>
              status.includes(envelope.status as 'crashed'),
            );
            const startedSince = at(4);
            await assertListed(
              store,
              { ...scope, limit, order, startedSince },
              (envelope) => (envelope.startedAt ?? '') >= startedSince,
            );
          }
      sameContent(await store.listTasks(), [{ taskDir, task: null }], 'listTasks');
      if (store.searchEvents === undefined) return;
      await store.claimDispatch(taskDir, 'KNOWN-2');
      await store.appendEvent(taskDir, 'KNOWN-2', sampleEvent('beside', 'beside later ones'));
      const hits = await store.searchEvents('beside');
      sameContent(
        hits.map(({ event }) => event.id),
        ['beside'],
        'searchEvents',
      );
    },
  },
  {
    name: 'refused',
    rule: 7,
    title: 'reading, claiming and rewriting what a newer version wrote is STORE_NEWER, and claims nothing',
    async run({ store }) {
      await fill(store);
      for (const id of newerIds) {
        await isNewer(`getDispatchEnvelope of ${id}`, () => store.getDispatchEnvelope(taskDir, id));
        await isNewer(`claimDispatch of ${id}`, () => store.claimDispatch(taskDir, id));
        const { capabilities } = store;
        if (capabilities.writers === 'dispatch')
          await nullOrNewer(`findClaim of ${id}`, () => optionalMethod(store, 'findClaim')(taskDir, id));
        const [refusal] = await errorsOf([() => store.appendEvent(taskDir, id, sampleEvent('late'))]);
        const isRefused = storeErrors.is(refusal, 'STORE_LOCKED') || storeErrors.is(refusal, 'STORE_NEWER');
        assert.ok(isRefused, `an append to ${id} is not refused`);
        if (capabilities.rewrite)
          await isNewer(`rewriteDispatch of ${id}`, () =>
            optionalMethod(store, 'rewriteDispatch')(taskDir, id, {
              envelope: (envelope) => envelope,
              event: (event) => event,
            }),
          );
        // It is not damage, and nothing may make it usable for this version.
        if (capabilities.integrity !== 'checksum') continue;
        for (const error of await errorsOf([
          () => optionalMethod(store, 'verifyDispatch')(taskDir, id),
          () => optionalMethod(store, 'acceptLoss')(taskDir, id, sampleEvent('loss')),
        ]))
          await isNewer(`verifyDispatch or acceptLoss of ${id}`, rejected(error));
        await isNewer(`getDispatchEnvelope of ${id} afterwards`, () =>
          store.getDispatchEnvelope(taskDir, id),
        );
      }
      await isNewer('getDispatchEnvelopes', () => store.getDispatchEnvelopes(taskDir));
      for (const { dispatchId } of known) await store.claimDispatch(taskDir, dispatchId);
    },
  },
  {
    name: 'deleted',
    rule: 7,
    title:
      'what a newer version wrote is deleted completely, or the deletion is STORE_NEWER; the others stay',
    needs: ['deleteDispatch'],
    async run({ store }) {
      await fill(store);
      for (const id of newerIds) {
        const [error] = await errorsOf([() => optionalMethod(store, 'deleteDispatch')(taskDir, id)]);
        if (error === undefined)
          sameContent(await store.getDispatchEnvelope(taskDir, id), null, `${id}, which was deleted`);
        else {
          await isNewer(`deleteDispatch of ${id}`, rejected(error));
          await isNewer(`${id} afterwards`, () => store.getDispatchEnvelope(taskDir, id));
        }
      }
      for (const envelope of known)
        sameContent(
          await store.getDispatchEnvelope(taskDir, envelope.dispatchId),
          envelope,
          envelope.dispatchId,
        );
    },
  },
  {
    name: 'tasks',
    rule: 7,
    title: 'a task record that a newer version wrote is the error of its own task',
    async run({ store }) {
      await store.putTask('lab/known', sampleTask('known'));
      for (const [index, record] of newerTasks.entries()) {
        const place = `lab/later-${index}`;
        await store.putTask(place, record as TaskRecord);
        await isNewer(`findTask of ${place}`, () => store.findTask(place));
      }
      const [first, ...others] = await store.listTasks();
      sameContent(first, { taskDir: 'lab/known', task: sampleTask('known') }, 'the known task');
      sameContent(
        others.map((other) => [other.taskDir, other.task]),
        newerTasks.map((_, index) => [`lab/later-${index}`, null]),
        'the other tasks',
      );
      for (const { error } of others) {
        assert.ok(storeErrors.is(error), 'listTasks has no error for a record of a newer version');
        await isNewer('listTasks', rejected(error));
      }
    },
  },
  {
    name: 'tasks-kept',
    rule: 7,
    title: 'a task record that a newer version wrote is not replaced by one of this version',
    async run({ store }) {
      for (const [index, record] of newerTasks.entries()) {
        const place = `lab/later-${index}`;
        await store.putTask(place, record as TaskRecord);
        await isNewer(`putTask of ${place}`, () => store.putTask(place, sampleTask('known')));
        await isNewer(`findTask of ${place} afterwards`, () => store.findTask(place));
      }
      await store.putTask('lab/known', sampleTask('known'));
      await store.putTask('lab/known', sampleTask('replaced'));
      sameContent(await store.findTask('lab/known'), sampleTask('replaced'), 'a replaced record');
    },
  },
]);
