import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { type CapturedEvent, type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { preview, sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  holdsEvents,
  optionalMethod,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { caseFamily, type NamedCase } from '../../run/conformance-case.ts';

const text = (events: readonly CapturedEvent[], to: string): CapturedEvent[] =>
  events.map((event) => ({ ...event, data: { text: to } }));

const toNew = {
  envelope: <Envelope>(envelope: Envelope): Envelope => ({ ...envelope, title: 'new', role: 'new' }),
  event: (event: CapturedEvent) => ({ ...event, data: { text: 'new words' } }),
};

/** Makes a call again that a busy store refused for now. */
async function unlessBusy<Answer>(call: () => Answer): Promise<Awaited<Answer>> {
  for (let tries = 0; ; tries += 1)
    try {
      return await call();
    } catch (error) {
      const isBusy = storeErrors.is(error, 'STORE_UNAVAILABLE') && error.isTransient;
      if (!isBusy || tries === 100) throw error;
    }
}

/** Calls `read` again and again until the change has ended, and then once more. */
async function beside(change: () => unknown, read: () => Promise<void>): Promise<void> {
  let hasEnded = false;
  const changed = (async () => change())().finally(() => {
    hasEnded = true;
  });
  // An error of the change is reported below.
  changed.catch(() => {});
  while (!hasEnded) {
    await read();
    await setImmediate();
  }
  await changed;
  await read();
}

const rewriteCases: readonly NamedCase[] = [
  {
    name: 'reads-beside-a-rewrite',
    rule: null,
    title: 'each read beside a rewrite has the old content or the new one, and never the old one again',
    needs: ['rewrite'],
    run: async ({ store }) => {
      const old = text(sampleEvents(40), 'old words');
      await beginDispatch(store, old);
      let isNew = false;
      const check = (what: string, texts: readonly unknown[], expected: number) => {
        const forms = new Set(texts);
        assert.ok(
          forms.size === 1 && texts.length === expected,
          `${what} beside a rewrite has ${texts.length} items of ${preview([...forms])}`,
        );
        const [form] = forms;
        assert.ok(form === 'new' || !isNew, `${what} has the old content after a read had the new one`);
        isNew ||= form === 'new';
      };
      const texts = (events: readonly CapturedEvent[]) =>
        events.map(({ data }) => String((data as { text?: string }).text).split(' ')[0]);
      await beside(
        () => unlessBusy(() => optionalMethod(store, 'rewriteDispatch')(taskDir, dispatchId, toNew)),
        async () => {
          check(
            'getDispatchEvents',
            texts(await unlessBusy(() => store.getDispatchEvents(taskDir, dispatchId))),
            40,
          );
          const envelope = await unlessBusy(() => store.getDispatchEnvelope(taskDir, dispatchId));
          check('getDispatchEnvelope', [envelope?.title ?? 'old'], 1);
          check(
            'readEvents',
            texts((await unlessBusy(() => store.readEvents(taskDir, dispatchId, { last: 40 }))).events),
            40,
          );
          const [listed] = (await unlessBusy(() => store.listDispatches({ taskDir }))).dispatches;
          check('listDispatches', [listed?.envelope?.title ?? 'old'], 1);
        },
      );
      assert.ok(isNew, 'the new content after a rewrite');
    },
  },
  {
    name: 'appends-beside-a-rewrite',
    rule: 2,
    title:
      'what is appended beside a rewrite, to its dispatch or another one, is stored if it was acknowledged',
    needs: ['rewrite'],
    run: async ({ store }) => {
      const old = text(sampleEvents(20), 'old words');
      await beginDispatch(store, old);
      await store.createDispatch(taskDir, sampleEnvelope('OTHER'));
      await store.appendEvents(taskDir, 'OTHER', old);
      let acknowledged = 0;
      const added: CapturedEvent[] = [];
      const rewritten = (async () => optionalMethod(store, 'rewriteDispatch')(taskDir, dispatchId, toNew))();
      for (let count = 0; count < 3; count += 1) {
        const event = sampleEvent(`added-${count}`, 'new words');
        added.push(event);
        await unlessBusy(() => store.appendEvent(taskDir, 'OTHER', event));
        try {
          await unlessBusy(() => store.appendEvent(taskDir, dispatchId, event));
          acknowledged += 1;
        } catch (error) {
          // A store may refuse an append meanwhile.
          assert.ok(
            storeErrors.is(error, 'STORE_LOCKED') || storeErrors.is(error, 'STORE_UNAVAILABLE'),
            String(error),
          );
          break;
        }
      }
      await rewritten;
      await setImmediate();
      await holdsEvents(store, [...text(old, 'new words'), ...added.slice(0, acknowledged)]);
      const other = await store.getDispatchEvents(taskDir, 'OTHER');
      sameContent(
        other,
        [...old, ...added.slice(0, other.length - old.length)],
        'the log of another dispatch',
      );
      assert.ok(
        other.length >= old.length + acknowledged,
        'an acknowledged event of another dispatch is lost',
      );
    },
  },
  {
    name: 'updates-beside-a-rewrite',
    rule: null,
    title: 'an update beside a rewrite and the rewrite both have their effect',
    needs: ['rewrite'],
    run: async ({ store }) => {
      await beginDispatch(store, sampleEvents(5));
      const update = (async () =>
        unlessBusy(() => store.updateDispatch(taskDir, dispatchId, { cost: 0.5 })))();
      const rewrite = (async () => optionalMethod(store, 'rewriteDispatch')(taskDir, dispatchId, toNew))();
      await Promise.all([update, rewrite]);
      await setImmediate();
      const { cost, title } = (await store.getDispatchEnvelope(taskDir, dispatchId)) ?? {};
      sameContent([cost, title], [0.5, 'new'], 'the cost of the update and the title of the rewrite');
    },
  },
];

const deletionCases: readonly NamedCase[] = [
  {
    name: 'append-beside-a-deletion',
    rule: 1,
    title: 'a deletion beside an append leaves nothing, also for a new dispatch with the same id',
    needs: ['deleteDispatch'],
    run: async ({ store }) => {
      await beginDispatch(store, sampleEvents(3));
      const append = (async () => store.appendEvents(taskDir, dispatchId, sampleEvents(2, 'late')))().catch(
        (error: unknown) => {
          assert.ok(storeErrors.is(error), String(error));
        },
      );
      const deletion = (async () =>
        unlessBusy(() => optionalMethod(store, 'deleteDispatch')(taskDir, dispatchId)))();
      await Promise.all([append, deletion]);
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
      sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), null, 'a deleted dispatch');
      await beginDispatch(store);
      await holdsEvents(store, []);
    },
  },
  {
    name: 'listings-beside-deletions',
    rule: 1,
    title: 'no listing, search or look for claims fails beside deletions, and each has what stays',
    needs: ['deleteDispatch'],
    run: async ({ store }) => {
      const ids = Array.from({ length: 24 }, (_, number) => `D-${number}`);
      const stays = ids.filter((_, number) => number % 2 === 1);
      for (const id of ids) {
        await store.createDispatch(taskDir, sampleEnvelope(id));
        await store.appendEvent(taskDir, id, sampleEvent('word', 'walrus'));
        await store.createDispatch(`lab/${id}`, sampleEnvelope(id));
      }
      const has = (what: string, found: ReadonlySet<unknown>, places: readonly string[]) =>
        assert.ok(
          places.every((place) => found.has(place)),
          `${what} beside deletions misses a dispatch that stays`,
        );
      const remove = optionalMethod(store, 'deleteDispatch');
      await beside(
        async () => {
          for (const [number, id] of ids.entries())
            if (number % 2 === 0) {
              await unlessBusy(() => remove(taskDir, id));
              await unlessBusy(() => remove(`lab/${id}`, id));
              await setImmediate();
            }
        },
        async () => {
          const envelopes = await unlessBusy(() => store.getDispatchEnvelopes(taskDir));
          has('getDispatchEnvelopes', new Set(envelopes.map((one) => one.dispatchId)), stays);
          const { dispatches } = await unlessBusy(() => store.listDispatches());
          has('listDispatches', new Set(dispatches.map((one) => one.dispatchId)), stays);
          const tasks = await unlessBusy(() => store.listTasks());
          has(
            'listTasks',
            new Set(tasks.map((one) => one.taskDir)),
            stays.map((id) => `lab/${id}`),
          );
          const claims = await unlessBusy(() => store.findClaims?.(taskDir, ids));
          if (claims !== undefined)
            sameContent(
              stays.map((id) => claims[ids.indexOf(id)]?.isOwn),
              stays.map(() => true),
              'findClaims',
            );
          const hits = await unlessBusy(() => store.searchEvents?.('walrus', { taskDir }));
          if (hits !== undefined) has('searchEvents', new Set(hits.map((hit) => hit.dispatchId)), stays);
        },
      );
    },
  },
  {
    name: 'last-events-beside-appends',
    rule: 5,
    title: 'a page of the last events beside appends states the positions that its events have',
    run: async ({ store }) => {
      await beginDispatch(store, sampleEvents(3));
      await beside(
        async () => {
          for (let count = 3; count < 40; count += 1) {
            await unlessBusy(() => store.appendEvent(taskDir, dispatchId, sampleEvent(`event-${count}`)));
            await setImmediate();
          }
        },
        async () => {
          const { events, first, next } = await unlessBusy(() =>
            store.readEvents(taskDir, dispatchId, { last: 3 }),
          );
          sameContent(
            [events.map(({ id }) => id), next],
            [[0, 1, 2].map((index) => `event-${first + index}`), first + 2],
            'the places of the last events',
          );
        },
      );
    },
  },
];

const accented = 'lab/Café';
/** Places whose names are near that of the dispatch `D1` of `lab/task`. */
const near: ReadonlyArray<readonly [task: string, id: string]> = [
  ['lab/task', 'D10'],
  ['lab/task', 'd1'],
  ['lab/task', 'D1.x'],
  ['lab/task-2', 'D1'],
  ['lab/task/D1', 'D1'],
  ['lab', 'D1'],
  ['LAB/task', 'D1'],
  [accented.normalize('NFC'), 'D1'],
  [accented.normalize('NFD'), 'D1'],
];

/** Does something to one place, and checks that no neighbour has changed: its envelope, its events, and its claim. */
async function touches(
  store: DispatchStoreProvider,
  action: (place: [string, string]) => unknown,
  targets: ReadonlyArray<readonly [string, string]> = [
    ['lab/task', 'D1'],
    [accented.normalize('NFC'), 'D1'],
  ],
): Promise<void> {
  const places = [['lab/task', 'D1'] as const, ...near];
  const eventOf = ([task, id]: readonly [string, string]) => sampleEvent('word', `walrus of ${task} ${id}`);
  for (const place of places) {
    await store.createDispatch(place[0], sampleEnvelope(place[1], { title: place.join(' ') }));
    await store.appendEvent(...place, eventOf(place));
  }
  for (const target of targets) await action([...target]);
  for (const place of places) {
    if (targets.some(([task, id]) => task === place[0] && id === place[1])) continue;
    const name = place.join(' ');
    sameContent((await store.getDispatchEnvelope(...place))?.title, name, `the title of ${name}`);
    sameContent(await store.getDispatchEvents(...place), [eventOf(place)], `the events of ${name}`);
    // Its claim is still there.
    sameContent(
      await store.appendEvent(...place, sampleEvent('after')),
      1,
      `the position of an event of ${name}`,
    );
  }
}

const nameCases: readonly NamedCase[] = [
  {
    name: 'names-of-a-deletion',
    rule: 1,
    title: 'a deletion changes no dispatch whose name begins with its name or differs in case or form',
    needs: ['deleteDispatch'],
    run: ({ store }) => touches(store, (place) => optionalMethod(store, 'deleteDispatch')(...place)),
  },
  {
    name: 'names-of-a-rewrite',
    rule: 1,
    title: 'a rewrite changes no dispatch whose name begins with its name or differs in case or form',
    needs: ['rewrite'],
    run: ({ store }) => touches(store, (place) => optionalMethod(store, 'rewriteDispatch')(...place, toNew)),
  },
  {
    name: 'names-of-a-release',
    rule: 6,
    title: 'a release ends no claim of a dispatch whose name begins with its name or differs in case or form',
    run: ({ store }) => touches(store, (place) => store.releaseDispatch(...place)),
  },
  {
    name: 'names-of-a-broken-claim',
    rule: 6,
    title:
      'breaking a claim ends no claim of a dispatch whose name begins with its name or differs in case or form',
    needs: ['writers'],
    run: ({ store }) => touches(store, (place) => optionalMethod(store, 'breakClaim')(...place)),
  },
  {
    name: 'names-of-a-search',
    rule: null,
    title:
      'a search of a dispatch or a task finds nothing of another one whose name begins with its name or differs in case or form',
    needs: ['search'],
    run: async ({ store }) => {
      const search = optionalMethod(store, 'searchEvents');
      await touches(store, async () => {}, []);
      for (const [task, id] of [['lab/task', 'D1'] as const, ...near]) {
        const hits = await search('walrus', { taskDir: task, dispatchId: id });
        sameContent(
          hits.map((hit) => [hit.taskDir, hit.dispatchId]),
          [[task, id]],
          `the hits in ${task} ${id}`,
        );
        const ofTask = await search('walrus', { taskDir: task });
        sameContent(
          [...new Set(ofTask.map((hit) => hit.taskDir))],
          [task],
          `the tasks of the hits in ${task}`,
        );
      }
    },
  },
];

/** Calls, dispatches and tasks beside each other. */
export const neighbourCases = caseFamily('neighbours', [...rewriteCases, ...deletionCases, ...nameCases]);
