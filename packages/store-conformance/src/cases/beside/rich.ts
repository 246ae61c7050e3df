import assert from 'node:assert/strict';
import type {
  CapturedEvent,
  DispatchEnvelope,
  DispatchRewrite,
  DispatchStoreProvider,
} from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  optionalMethod,
  prepared,
  remainsOf,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleTask } from '../../checks/sample-data.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily, lacksMeans, type NamedCase } from '../../run/conformance-case.ts';
import { everything } from '../dispatches/envelopes.ts';

/** Equal with the order of all keys. */
function sameText(actual: unknown, expected: unknown, what: string): void {
  sameContent(actual, expected, what);
  assert.equal(JSON.stringify(actual), JSON.stringify(expected), `the order of the keys of ${what}`);
}

/** Events with every field, of known and unknown types, with data whose keys are not sorted. Their own keys have the order of the contract. */
const rich = [
  sampleEvent('event-0', 'walrus one'),
  {
    id: 'event-1',
    type: 'agent:text',
    v: 2,
    timestamp: null,
    agentId: 'agent-1',
    messageId: 'message-1',
    cause: ['event-0', 'event-1'],
    via: 'event-0',
    follows: 'event-1',
    retracts: ['event-0'],
    addedLater: { kept: true },
    data: { text: 'walrus two', zebra: 1, alpha: { z: 0.00004, a: null, m: [] } },
  },
  {
    id: 'event-2',
    type: 'lab:measured',
    timestamp: '2026-03-01T09:00:00.001Z',
    substance: 'event-1',
    conformance: [1, 'two'],
    data: { words: ['walrus three'], value: 1e-7, empty: {} },
  },
  {
    id: 'event-3',
    type: 'agent:tool_call',
    timestamp: '2026-03-01T09:00:00.002Z',
    agentId: 'agent-1',
    data: {
      toolName: 'walrus',
      input: { path: '/x', deep: { text: 'walrus four' } },
      secret: 'to be removed',
    },
  },
] as unknown as readonly CapturedEvent[];

/** An envelope with values in its rare fields. */
const richEnvelope = {
  ...sampleEnvelope(dispatchId),
  ...everything,
  status: 'running',
  title: 'T'.repeat(1_000),
  cost: 0.00004,
  structuredResult: { z: 1, a: [{ value: 0.00004 }], text: 'x' },
  addedLater: { z: [1, null], a: 'kept' },
  conformance: [1],
} as unknown as DispatchEnvelope;

const same: DispatchRewrite = { envelope: (envelope) => envelope, event: (event) => event };

const rewrite = (store: DispatchStoreProvider, changed: Partial<DispatchRewrite>) =>
  optionalMethod(store, 'rewriteDispatch')(taskDir, dispatchId, { ...same, ...changed });

/** Every way to read the events. */
async function hasEvents(
  store: DispatchStoreProvider,
  expected: readonly CapturedEvent[],
  when: string,
): Promise<void> {
  sameText(await store.getDispatchEvents(taskDir, dispatchId), expected, `getDispatchEvents ${when}`);
  sameText(
    await store.getRecentEvents(taskDir, dispatchId, 2),
    expected.slice(-2),
    `getRecentEvents ${when}`,
  );
  sameText(
    (await store.readEvents(taskDir, dispatchId, { after: 0 })).events,
    expected.slice(1),
    `readEvents ${when}`,
  );
}

/** Every way to read the envelope. */
async function hasEnvelope(
  store: DispatchStoreProvider,
  expected: DispatchEnvelope,
  when: string,
): Promise<void> {
  sameText(await store.getDispatchEnvelope(taskDir, dispatchId), expected, `getDispatchEnvelope ${when}`);
  sameText(await store.getDispatchEnvelopes(taskDir), [expected], `getDispatchEnvelopes ${when}`);
  const { dispatches } = await store.listDispatches({ taskDir });
  sameText(
    dispatches.map(({ envelope }) => envelope),
    [expected],
    `listDispatches ${when}`,
  );
  sameText((await store.claimDispatch(taskDir, dispatchId)).envelope, expected, `claimDispatch ${when}`);
}

const keptCases: readonly NamedCase[] = [
  {
    name: 'envelopes',
    rule: 4,
    title:
      'an envelope with rare fields is the same in every way to read it, after its creation and after an update',
    run: async ({ store }) => {
      await store.createDispatch(taskDir, richEnvelope);
      await hasEnvelope(store, richEnvelope, 'after createDispatch');
      const updates = {
        cost: 0.00005,
        title: `${'U'.repeat(1_000)}é`,
        structuredResult: { z: [], a: 0.00004 },
      };
      const updated = { ...richEnvelope, ...updates };
      sameContent(await store.updateDispatch(taskDir, dispatchId, updates), updated, 'updateDispatch');
      sameContent(
        await store.getDispatchEnvelope(taskDir, dispatchId),
        updated,
        'getDispatchEnvelope after updateDispatch',
      );
      const task = {
        ...sampleTask('route-models', { name: 'N'.repeat(1_000) }),
        addedLater: { z: 1, a: 0.00004 },
      };
      await store.putTask(taskDir, task);
      sameText(await store.findTask(taskDir), task, 'findTask');
    },
  },
  {
    name: 'hits',
    rule: 4,
    title: 'a search returns each event whole, with its links, its large content and its unknown fields',
    needs: ['search'],
    run: async ({ store }) => {
      const stored = {
        id: 'content',
        type: 'lab:content',
        timestamp: null,
        data: { text: 'walrus five', base64: 'QUJD'.repeat(50_000), input: { a: 1 }, output: [2] },
      } as CapturedEvent;
      await beginDispatch(store, [...rich, stored]);
      const hits = await optionalMethod(store, 'searchEvents')('walrus', { taskDir });
      const byPosition = hits.toSorted((one, other) => one.position - other.position);
      sameText(
        byPosition.map(({ event }) => event),
        [...rich, stored],
        'the events of a search',
      );
    },
  },
  {
    name: 'last-activity',
    rule: null,
    title: 'the last activity is the time of the last event, whose time may be the earliest or not recorded',
    run: async ({ store }) => {
      await beginDispatch(store, [sampleEvent('event-0')]);
      for (const [id, timestamp] of [
        ['early', '2001-01-01T00:00:00.000Z'],
        ['none', null],
        ['late', '2031-01-01T00:00:00.000Z'],
      ] as const) {
        await store.appendEvent(taskDir, dispatchId, { ...sampleEvent(id), timestamp });
        const [listed] = (await store.listDispatches({ taskDir })).dispatches;
        sameContent(listed?.lastActiveAt, timestamp, `the last activity after the event ${id}`);
      }
    },
  },
];

const rewriteCases: readonly NamedCase[] = [
  {
    name: 'rewrite-keeps',
    rule: 4,
    title:
      'a rewrite keeps each field, the order of keys, small numbers, unknown types and times that are not recorded',
    needs: ['rewrite'],
    run: async ({ store }) => {
      await store.createDispatch(taskDir, richEnvelope);
      await store.appendEvents(taskDir, dispatchId, rich);
      const notice = { ...rich[1], id: 'notice', cause: ['event-2'] } as CapturedEvent;
      await rewrite(store, {
        event: (event) => structuredClone(event),
        envelope: (envelope) => structuredClone(envelope),
        notice: () => notice,
      });
      await hasEvents(store, [...rich, notice], 'after a rewrite that changed nothing');
      await hasEnvelope(store, richEnvelope, 'after a rewrite that changed nothing');
      const changed = (event: CapturedEvent) => ({
        ...event,
        data: { zz: 0.00004, text: `new ${event.id}`, aa: { y: 1, b: 1e-7 } },
      });
      const next = { ...richEnvelope, cost: 0.00003, role: 'other' };
      await rewrite(store, { event: changed, envelope: () => next });
      await hasEvents(store, [...rich, notice].map(changed), 'after a rewrite');
      await hasEnvelope(store, next, 'after a rewrite');
    },
  },
  {
    name: 'rewrite-removes',
    rule: 4,
    title: 'what a rewrite removes or makes null is gone: keys of an event, of its data and of the envelope',
    needs: ['rewrite'],
    run: async ({ store }) => {
      await store.createDispatch(taskDir, richEnvelope);
      await store.appendEvents(taskDir, dispatchId, rich);
      const bare = ({ id, type, timestamp }: CapturedEvent): CapturedEvent => ({
        id,
        type,
        timestamp,
        data: { only: 1 },
      });
      const next = { ...prepared.envelope, title: null, cost: null };
      await rewrite(store, { event: bare, envelope: () => next });
      await hasEvents(store, rich.map(bare), 'after a rewrite that removes');
      await hasEnvelope(store, next, 'after a rewrite that removes');
    },
  },
  {
    name: 'rewrite-of-large-content',
    rule: 4,
    title: 'a text of 10 MB is kept by an append and by a rewrite, and removed by one',
    needs: ['rewrite'],
    run: async ({ store }) => {
      const base64 = 'QUJDRA=='.repeat(1_300_000);
      const content = {
        ...sampleEvent('content'),
        type: 'content:stored',
        timestamp: null,
        data: { sha256: 'x', size: 1, base64 },
      } as CapturedEvent;
      await beginDispatch(store, [sampleEvent('before'), content]);
      const stored = async () =>
        (await store.readEvents(taskDir, dispatchId, { after: 0, limit: 1 })).events[0]?.data.base64;
      assert.ok((await stored()) === base64, 'the text of 10 MB is another one');
      await rewrite(store, { event: (event) => (event.id === 'before' ? { ...event, data: {} } : event) });
      assert.ok((await stored()) === base64, 'the text of 10 MB is another one after a rewrite');
      await rewrite(store, { event: (event) => ({ ...event, data: { base64: '' } }) });
      sameContent(await stored(), '', 'the text that a rewrite emptied');
    },
  },
  {
    name: 'refused-rewrite',
    rule: null,
    title: 'a rewrite whose function changes its argument and then fails has changed nothing',
    needs: ['rewrite'],
    run: async ({ store }) => {
      await store.createDispatch(taskDir, richEnvelope);
      await store.appendEvents(taskDir, dispatchId, rich);
      const failure = new Error('refused by the caller');
      await assert.rejects(
        async () =>
          rewrite(store, {
            envelope: (envelope) => Object.assign(envelope, { title: 'changed' }),
            event: (event) => {
              Object.assign(event.data, { text: 'changed' });
              if (event.id === 'event-2') throw failure;
              return event;
            },
          }),
        failure,
      );
      await hasEvents(store, rich, 'after a rewrite that failed');
      await hasEnvelope(store, richEnvelope, 'after a rewrite that failed');
    },
  },
  {
    name: 'rewrite-unfindable',
    rule: null,
    title:
      'words that a rewrite removed are found nowhere: not in nested data, not in the envelope, and not in the stored bytes',
    needs: ['rewrite'],
    run: async ({ store, ...fixture }) => {
      const words = ['zyzzyva', 'quokka', 'axolotl'];
      const event = {
        ...sampleEvent('event-0'),
        data: { text: 'zyzzyva', deep: { list: ['quokka', { more: 'axolotl' }] } },
      };
      await store.createDispatch(taskDir, { ...prepared.envelope, title: 'zyzzyva quokka' });
      await store.appendEvents(taskDir, dispatchId, [
        sampleEvent('first', 'kept'),
        event,
        { ...event, id: 'event-1' },
      ]);
      const kept = (one: CapturedEvent) => (one.id === 'first' ? one : { ...one, data: { text: 'gone' } });
      for (const word of words)
        sameContent((await store.searchEvents?.(word, { taskDir }))?.length ?? 2, 2, `the hits of ${word}`);
      const { remains } = await rewrite(store, {
        event: kept,
        envelope: (envelope) => ({ ...envelope, title: null }),
      });
      for (const word of words)
        sameContent((await store.searchEvents?.(word)) ?? [], [], `the hits of ${word} after a rewrite`);
      await remainsOf(store);
      const left = (await store.removeRemains?.()) ?? remains;
      await store.releaseDispatch(taskDir, dispatchId);
      await store.close();
      if (left.length === 0) await keepsNone(fixture, words, 'a rewrite');
    },
  },
  {
    name: 'delete-unfindable',
    rule: null,
    title:
      'what a deletion removed is found nowhere: not by a search, not in a listing or the record of its task, and not in the stored bytes',
    needs: ['deleteDispatch'],
    run: async ({ store, ...fixture }) => {
      const words = ['zyzzyva', 'quokka', 'axolotl', 'numbat'];
      await store.createDispatch(taskDir, { ...prepared.envelope, dispatchId: 'another' });
      await store.appendEvents(taskDir, 'another', [sampleEvent('first', 'kept')]);
      await store.createDispatch(taskDir, { ...prepared.envelope, title: 'zyzzyva' });
      const data = { text: 'quokka', deep: [{ more: 'axolotl' }] };
      await store.appendEvents(taskDir, dispatchId, [{ ...sampleEvent('event-0'), data }]);
      await store.updateDispatch(taskDir, dispatchId, { structuredResult: 'numbat' });
      await store.listDispatches();
      for (const word of words) await store.searchEvents?.(word);
      await optionalMethod(store, 'deleteDispatch')(taskDir, dispatchId);
      for (const word of words)
        sameContent((await store.searchEvents?.(word)) ?? [], [], `the hits of ${word} after a deletion`);
      const { dispatches } = await store.listDispatches();
      sameContent(
        dispatches.map((one) => one.dispatchId),
        ['another'],
        'the dispatches after a deletion',
      );
      await remainsOf(store);
      const left = (await store.removeRemains?.()) ?? [];
      await store.releaseDispatch(taskDir, 'another');
      await store.close();
      if (left.length === 0) await keepsNone({ ...fixture, damage: undefined }, words, 'a deletion');
    },
  },
];

/** No stored byte has a word that was removed. The store is closed. */
async function keepsNone(
  { bytes, damage, capabilities }: Pick<CaseContext, 'bytes' | 'damage' | 'capabilities'>,
  words: readonly string[],
  what: string,
): Promise<void> {
  if (capabilities.durability === 'memory') return;
  if (bytes === undefined && damage === undefined)
    lacksMeans(
      `what ${what} removes is not stored`,
      'the fixture has no `bytes`, which gives all that is stored',
    );
  const stored = Buffer.from((await bytes?.()) ?? (await damage?.(taskDir, dispatchId))?.bytes ?? []);
  assert.ok(stored.includes('kept'), 'the stored bytes are not text');
  for (const word of words)
    assert.ok(
      !stored.includes(word),
      `after ${what} the stored bytes still have ${word}, and no remains name it`,
    );
}

/** Rich data in rare operations. */
export const richCases = caseFamily('rich', [...keptCases, ...rewriteCases]);
