import assert from 'node:assert/strict';
import {
  type Awaitable,
  type DispatchEnvelope,
  type DispatchStoreProvider,
  type StoreError,
  storeErrors,
} from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import { dispatchId, optionalMethod, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent } from '../../checks/sample-data.ts';
import { storeOperations } from '../../checks/store-operations.ts';
import { appliesTo, caseFamily, type StoreConformanceCase, skipCase } from '../../run/conformance-case.ts';

/** In each text of these cases, and in no error. */
const secret = 'content-of-an-event';
const said = (id: string, text = '') => sampleEvent(id, `${secret} ${id} ${text}`);

interface Refusal {
  readonly what: string;
  readonly code: StoreError['code'];
  /** The fields that its details must have. */
  readonly details?: Readonly<Record<string, unknown>>;
  call(): Awaitable<unknown>;
}

async function errorOf({ what, call }: Refusal): Promise<unknown> {
  let answer: unknown;
  try {
    answer = await call();
  } catch (error) {
    return error;
  }
  assert.fail(`${what} should be refused, but answered ${JSON.stringify(answer)}`);
}

/** Compares the whole error: its class, code, details, message, and that the same call may not be repeated. */
async function isRefused(refusal: Refusal): Promise<void> {
  const { what, code, details = {} } = refusal;
  const error = await errorOf(refusal);
  assert.ok(
    error instanceof Error && storeErrors.is(error),
    `${what} failed with ${String(error)}, which is not a store error`,
  );
  sameContent(error.code, code, `the code of ${what}`);
  sameContent(error.isTransient, false, `isTransient of ${code} (${what})`);
  assert.ok(error.message.trim() !== '', `${code} of ${what} has no message`);
  for (const [key, value] of Object.entries(details))
    sameContent(error.details[key], value, `the field ${key} in the details of ${code} (${what})`);
  for (const shown of [error.message, JSON.stringify(error.details)])
    assert.ok(!shown.includes(secret), `${code} of ${what} shows the content of an event or an envelope`);
}

const place = { taskDir, dispatchId };
const missing = { taskDir, dispatchId: 'MISSING' };

function refusalsOfFacts(store: DispatchStoreProvider): Refusal[] {
  const append = (...ids: readonly string[]) =>
    store.appendEvents(
      taskDir,
      dispatchId,
      ids.map((id) => said(id, 'changed')),
    );
  return [
    {
      what: 'createDispatch of an existing dispatch',
      code: 'STORE_DISPATCH_EXISTS',
      details: place,
      call: () => store.createDispatch(taskDir, sampleEnvelope(dispatchId, { title: secret })),
    },
    {
      what: 'appendEvent with other content',
      code: 'STORE_EVENT_CONFLICT',
      details: { eventId: 'event-1' },
      call: () => store.appendEvent(taskDir, dispatchId, said('event-1', 'changed')),
    },
    {
      what: 'appendEvents with other content in the second event',
      code: 'STORE_EVENT_CONFLICT',
      details: { eventId: 'event-0' },
      call: () => append('new', 'event-0', 'newer'),
    },
    {
      what: 'readEvents after the end',
      code: 'STORE_INVALID_CURSOR',
      details: { after: 9 },
      call: () => store.readEvents(taskDir, dispatchId, { after: 9 }),
    },
    {
      what: 'listDispatches after a text that is not a cursor',
      code: 'STORE_INVALID_CURSOR',
      details: { after: 'not a cursor' },
      call: () => store.listDispatches({ after: 'not a cursor' }),
    },
    {
      what: 'updateDispatch of a missing dispatch',
      code: 'STORE_DISPATCH_NOT_FOUND',
      details: missing,
      call: () => store.updateDispatch(taskDir, 'MISSING', { title: secret }),
    },
    {
      what: 'appendEvents to a missing dispatch',
      code: 'STORE_DISPATCH_NOT_FOUND',
      details: missing,
      call: () => store.appendEvents(taskDir, 'MISSING', [said('event-0')]),
    },
  ];
}

/** The operations that a store with these capabilities has. */
const operationsOf = (store: DispatchStoreProvider) =>
  storeOperations.filter(
    ({ needs, method }) =>
      appliesTo({ needs } as StoreConformanceCase, store.capabilities) &&
      typeof store[method as keyof DispatchStoreProvider] === 'function',
  );

async function prepare(store: DispatchStoreProvider): Promise<void> {
  await store.createDispatch(taskDir, sampleEnvelope(dispatchId));
  await store.appendEvents(taskDir, dispatchId, [said('event-0'), said('event-1')]);
}

export const refusalCases = caseFamily('refusals', [
  {
    name: 'table',
    rule: 1,
    title:
      'each refusal has its code, its details and a message without stored content, and is not transient',
    run: async ({ store }) => {
      await prepare(store);
      for (const refusal of refusalsOfFacts(store)) await isRefused(refusal);
      for (const { name, takes, whenMissing, call } of operationsOf(store)) {
        if (whenMissing === 'refused')
          await isRefused({
            what: `${name} of a missing dispatch`,
            code: 'STORE_DISPATCH_NOT_FOUND',
            details: missing,
            call: () => call(store, taskDir, 'MISSING'),
          });
        if (takes === 'nothing') continue;
        await isRefused({
          what: `${name} with a path`,
          code: 'STORE_INVALID_PATH',
          details: { taskDir: '../out' },
          call: () => call(store, '../out', dispatchId),
        });
        if (takes === 'taskDir') continue;
        await isRefused({
          what: `${name} with a path as an id`,
          code: 'STORE_INVALID_PATH',
          details: { dispatchId: '../out' },
          call: () => call(store, taskDir, '../out'),
        });
      }
      await store.releaseDispatch(taskDir, dispatchId);
      const unclaimed = { code: 'STORE_LOCKED', details: place } as const;
      await isRefused({
        ...unclaimed,
        what: 'appendEvents without a claim',
        call: () => store.appendEvents(taskDir, dispatchId, [said('late')]),
      });
      await isRefused({
        ...unclaimed,
        what: 'updateDispatch without a claim',
        call: () => store.updateDispatch(taskDir, dispatchId, { title: secret }),
      });
    },
  },
  {
    name: 'closed',
    rule: 9,
    title: 'each refusal of a closed store is STORE_CLOSED, which is not transient',
    run: async ({ store }) => {
      await prepare(store);
      const operations = operationsOf(store);
      await store.close();
      for (const { name, call } of operations)
        await isRefused({
          what: `${name} of a closed store`,
          code: 'STORE_CLOSED',
          call: () => call(store, taskDir, dispatchId),
        });
    },
  },
  {
    name: 'claimed-by-another',
    rule: 6,
    title:
      'each refusal of a claimed dispatch names the owner in its details and its message, and is not transient',
    needs: ['writers'],
    run: async ({ store, openBeside }) => {
      await prepare(store);
      const other = await openBeside();
      const calls: ReadonlyArray<readonly [string, () => Awaitable<unknown>]> = [
        ['claimDispatch', () => other.claimDispatch(taskDir, dispatchId)],
        ['appendEvents', () => other.appendEvents(taskDir, dispatchId, [said('late')])],
        ['updateDispatch', () => other.updateDispatch(taskDir, dispatchId, { title: secret })],
      ];
      const claim = await optionalMethod(other, 'findClaim')(taskDir, dispatchId);
      for (const [what, call] of calls) {
        const details = { ...place, owner: claim?.owner };
        await isRefused({ what: `${what} beside another opening`, code: 'STORE_LOCKED', details, call });
      }
    },
  },
  {
    name: 'newer',
    rule: 7,
    title: 'what a newer version wrote is refused for good: STORE_NEWER is not transient',
    run: async ({ store }) => {
      const newer = { ...sampleEnvelope('NEWER'), status: 'paused', role: secret };
      await store.createDispatch(taskDir, newer as unknown as DispatchEnvelope);
      const call = () => store.getDispatchEnvelope(taskDir, 'NEWER');
      await isRefused({ what: 'getDispatchEnvelope', code: 'STORE_NEWER', call });
      const [entry] = (await store.listDispatches({ taskDir })).dispatches;
      sameContent(
        [entry?.error?.code, entry?.error?.isTransient],
        ['STORE_NEWER', false],
        'the error of an entry',
      );
    },
  },
  {
    name: 'damaged',
    rule: 7,
    title: 'damage is refused for good, with a place and without content: STORE_CORRUPT is not transient',
    needs: ['integrity'],
    run: async ({ store, reopen, damage }) => {
      if (damage === undefined)
        skipCase('the fixture has no `damage`, which gives the stored bytes of a dispatch');
      await prepare(store);
      await store.appendEvents(taskDir, dispatchId, [said('event-2')]);
      await store.updateDispatch(taskDir, dispatchId, { status: 'completed' });
      await store.releaseDispatch(taskDir, dispatchId);
      await store.close();
      const stored = await damage(taskDir, dispatchId);
      const bytes = Buffer.from(stored.bytes);
      const at = bytes.indexOf(`${secret} event-1`);
      if (at < 0 || stored.isShared)
        skipCase('the stored bytes are not text, or keep more than this dispatch');
      bytes[at + secret.length] = 0x5f;
      await stored.write(bytes);
      const damaged = await reopen();
      const call = () => damaged.getDispatchEvents(taskDir, dispatchId);
      await isRefused({ what: 'getDispatchEvents', code: 'STORE_CORRUPT', call });
    },
  },
]);
