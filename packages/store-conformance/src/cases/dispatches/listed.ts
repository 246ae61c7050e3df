import assert from 'node:assert/strict';
import type { DispatchEnvelope, DispatchStoreProvider, ListDispatchesOptions } from '@hansard/provider';
import { refuses, sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, optionalMethod, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent } from '../../checks/sample-data.ts';
import { chooseSeed, createRandom } from '../../model/random.ts';
import { caseFamily } from '../../run/conformance-case.ts';

/** In the order of their bytes. That of UTF-16 would put the last but one after the last. */
const tasks = ['lab', 'lab/a', 'lab/a b', 'lab/a/b', 'lab2', 'é', '\uff21', '😀'] as const;
const statuses = ['completed', 'running', 'crashed', 'aborted'] as const;

const at = (minute: number) => `2026-03-01T09:${String(minute).padStart(2, '0')}:00.000Z`;

interface Place {
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
}

/** Dispatches in the order of a listing: three times, each in every task with two ids. */
const places: readonly Place[] = [0, 7, 8].flatMap((minute) =>
  tasks.flatMap((task, index) =>
    ['A', 'a'].map((id, second) => {
      const status = statuses[(minute + index + second) % 4] as (typeof statuses)[number];
      return {
        taskDir: task,
        envelope: sampleEnvelope(`${id}-${minute}`, { startedAt: at(minute), status }),
      };
    }),
  ),
);

/** Creates them in an order that is neither that of a listing nor its reverse. */
async function fill(store: DispatchStoreProvider, all: readonly Place[] = places): Promise<void> {
  const step = 7;
  for (let first = 0; first < step; first += 1)
    for (let index = first; index < all.length; index += step) {
      const { taskDir: task, envelope } = all[index] as Place;
      await store.createDispatch(task, envelope);
    }
}

const nameOf = (task: string, id: string | null) => `${task} ${id}`;
const namesOf = (all: readonly Place[]) => all.map((one) => nameOf(one.taskDir, one.envelope.dispatchId));

/** The names of the dispatches of all pages. Between two pages, `between` is called. */
async function walk(
  store: DispatchStoreProvider,
  options: ListDispatchesOptions,
  between: (seen: readonly string[]) => Promise<void> = async () => {},
): Promise<string[]> {
  const names: string[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await store.listDispatches({ ...options, ...(after !== undefined && { after }) });
    const { limit = 1_000 } = options;
    assert.ok(page.dispatches.length <= limit, `a page has more than ${limit} dispatches`);
    if (page.next !== null)
      assert.equal(page.dispatches.length, limit, 'the length of a page with a next one');
    names.push(...page.dispatches.map((one) => nameOf(one.taskDir, one.dispatchId)));
    assert.ok(names.length < 5_000, 'the pages have no end');
    if (page.next === null) return names;
    after = page.next;
    await between(names);
  }
}

export const listedCases = caseFamily('listed', [
  {
    name: 'pages',
    rule: 1,
    title:
      'pages of any length, in both orders, have every dispatch of the store or of one task once, by start, task and id',
    run: async ({ store }) => {
      await fill(store);
      for (const limit of [1, 5, 16, places.length, undefined]) {
        const pages = limit === undefined ? {} : { limit };
        const what = `pages of ${limit ?? 'the default length'}`;
        sameContent(await walk(store, pages), namesOf(places), what);
        const newest = await walk(store, { ...pages, order: 'newest' });
        sameContent(newest, namesOf(places).reverse(), `${what}, newest first`);
        for (const task of tasks) {
          const inTask = namesOf(places.filter((one) => one.taskDir === task));
          sameContent(await walk(store, { ...pages, taskDir: task }), inTask, `${what} of ${task}`);
        }
      }
      sameContent(await store.listDispatches({ taskDir: 'none' }), { dispatches: [], next: null }, 'no task');
    },
  },
  {
    name: 'filters',
    rule: 1,
    title:
      'a listing has the dispatches with one of the statuses that started at a time or later, and no other',
    run: async ({ store }) => {
      await fill(store);
      const asked: ListDispatchesOptions[] = [
        { status: ['running'] },
        { status: ['crashed', 'completed'] },
        { status: [] },
        { startedSince: at(7) },
        { startedSince: '2026-03-01T09:07:00.001Z', status: ['aborted', 'running'] },
        { startedSince: at(7), status: ['completed'], taskDir: 'lab/a' },
        { startedSince: at(9) },
      ];
      for (const options of asked) {
        const expected = places.filter(
          ({ taskDir: task, envelope }) =>
            (options.taskDir === undefined || task === options.taskDir) &&
            (options.status === undefined || options.status.includes(envelope.status)) &&
            Date.parse(envelope.startedAt ?? '') >= Date.parse(options.startedSince ?? at(0)),
        );
        for (const limit of [1, 3, 1_000]) {
          const what = `the dispatches with ${JSON.stringify(options)}`;
          sameContent(await walk(store, { ...options, limit }), namesOf(expected), what);
          const newest = await walk(store, { ...options, limit, order: 'newest' });
          sameContent(newest, namesOf(expected).reverse(), `${what}, newest first`);
        }
      }
    },
  },
  {
    name: 'last-active',
    rule: 1,
    title: 'an entry has the envelope and the time of the last event, or of the start without events',
    run: async ({ store }) => {
      await beginDispatch(store);
      const entry = async () => (await store.listDispatches()).dispatches;
      const listed = { taskDir, dispatchId, envelope: prepared.envelope };
      sameContent(
        await entry(),
        [{ ...listed, lastActiveAt: prepared.envelope.startedAt }],
        'without events',
      );
      // The last event in append order, including when an earlier one has a later time.
      for (const minute of [5, 40, 20]) {
        await store.appendEvent(taskDir, dispatchId, {
          ...sampleEvent(`at-${minute}`),
          timestamp: at(minute),
        });
        sameContent(await entry(), [{ ...listed, lastActiveAt: at(minute) }], `after minute ${minute}`);
      }
      const envelope = await store.updateDispatch(taskDir, dispatchId, { status: 'completed', cost: 1 });
      await store.releaseDispatch(taskDir, dispatchId);
      sameContent(await entry(), [{ ...listed, envelope, lastActiveAt: at(20) }], 'after the end');
    },
  },
  {
    name: 'time-not-recorded',
    rule: 1,
    title:
      'a dispatch without a start comes before all others, is in no list from a time on, and has no last activity',
    run: async ({ store }) => {
      const untimed = ['A', 'b', 'c'].map((id) => ({
        taskDir: 'lab/a',
        envelope: sampleEnvelope(`${id}-none`, { startedAt: null, status: 'completed' }),
      }));
      const timed = places.filter((place) => place.taskDir === 'lab/a');
      await fill(store, [...timed, ...untimed]);
      const all = namesOf([...untimed, ...timed]);
      for (const limit of [1, 2, 4, 1_000])
        for (const scope of [{ taskDir: 'lab/a' }, {}]) {
          const what = `pages of ${limit}`;
          sameContent(await walk(store, { ...scope, limit }), all, what);
          sameContent(await walk(store, { ...scope, limit, order: 'newest' }), all.toReversed(), what);
          const since = { ...scope, limit, startedSince: '0000-01-01T00:00:00.000Z' };
          sameContent(await walk(store, since), namesOf(timed), `${what} from a time on`);
        }
      sameContent(
        (await store.getDispatchEnvelopes('lab/a')).map((envelope) => nameOf('lab/a', envelope.dispatchId)),
        all,
        'getDispatchEnvelopes',
      );
      const [first] = (await store.listDispatches({ limit: 1 })).dispatches;
      sameContent(first?.lastActiveAt ?? null, null, 'lastActiveAt without events');
      await beginDispatch(store, [{ ...sampleEvent('untimed'), timestamp: null }]);
      const [own] = (await store.listDispatches({ taskDir })).dispatches.filter(
        (one) => one.dispatchId === dispatchId,
      );
      sameContent(own?.lastActiveAt ?? null, null, 'lastActiveAt after an event without a time');
    },
  },
  {
    name: 'beside-new-ones',
    rule: 1,
    title: 'dispatches that are created between two pages neither repeat nor hide others',
    run: async ({ store, seed }) => {
      await fill(store);
      for (const order of ['oldest', 'newest'] as const) {
        const chosen = chooseSeed(seed);
        const random = createRandom(chosen);
        let created = 0;
        const seen = await walk(store, { limit: 3, order }, async () => {
          if (created >= 20) return;
          const task = tasks[random.below(tasks.length)] as string;
          const startedAt = at(random.below(20));
          await store.createDispatch(task, sampleEnvelope(`new-${order}-${created}`, { startedAt }));
          created += 1;
        });
        assert.equal(new Set(seen).size, seen.length, `a dispatch was listed twice, with the seed ${chosen}`);
        const known = seen.filter((name) => !name.includes('new-'));
        const expected = order === 'newest' ? namesOf(places).reverse() : namesOf(places);
        sameContent(known, expected, `the dispatches from before, ${order} first, with the seed ${chosen}`);
      }
    },
  },
  {
    name: 'beside-deletions',
    rule: 1,
    title: 'deletions between two pages, also of the last dispatch of a page, neither repeat nor hide others',
    needs: ['deleteDispatch'],
    run: async ({ store, seed }) => {
      const remove = optionalMethod(store, 'deleteDispatch');
      for (const order of ['oldest', 'newest'] as const) {
        const all = places.map((one) => ({ ...one, taskDir: `${order}/${one.taskDir}` }));
        await fill(store, all);
        const chosen = chooseSeed(seed);
        const random = createRandom(chosen);
        const left = new Map(all.map((one) => [nameOf(one.taskDir, one.envelope.dispatchId), one]));
        const deleted = new Set<string>();
        const gone = async (name: string | undefined) => {
          const place = left.get(name ?? '');
          if (name === undefined || place === undefined) return;
          await remove(place.taskDir, place.envelope.dispatchId);
          left.delete(name);
          deleted.add(name);
        };
        const seen = await walk(store, { limit: 4, order }, async (names) => {
          await gone(names.at(-1));
          await gone([...left.keys()][random.below(left.size)]);
        });
        assert.equal(new Set(seen).size, seen.length, `a dispatch was listed twice, with the seed ${chosen}`);
        const expected = namesOf(order === 'newest' ? all.toReversed() : all).filter((name) =>
          left.has(name),
        );
        sameContent(
          seen.filter((name) => !deleted.has(name)),
          expected,
          `the dispatches that stayed, ${order} first, with the seed ${chosen}`,
        );
        for (const name of [...left.keys()]) await gone(name);
      }
    },
  },
  {
    name: 'invalid-cursor',
    rule: 1,
    title: 'a cursor that is not the next of a page is STORE_INVALID_CURSOR',
    run: async ({ store }) => {
      await fill(store, places.slice(0, 3));
      for (const after of ['', '0', '-1', 'null', 'W10', 'x'.repeat(300), '{"taskDir":"lab"}', '\0', '😀'])
        await refuses('STORE_INVALID_CURSOR', `listDispatches after ${JSON.stringify(after)}`, () =>
          store.listDispatches({ after }),
        );
    },
  },
  {
    name: 'internal-tasks',
    rule: 1,
    title:
      'a listing of the whole store omits what is below _hansard, which has a listing of its own and can be read by its name',
    run: async ({ store }) => {
      const inbox = '_hansard/inbox/D1';
      const letter = sampleEnvelope('letter_1', {
        startedAt: at(1),
        completedAt: at(1),
        status: 'completed',
        letter: {
          from: 'letter_1',
          taskDir: 'lab',
          source: { kind: 'user' },
          text: 'Stop at the next lamp.',
        },
      });
      const beside = ['_hansardx', 'lab/_hansard/inbox'].map((task, index) => ({
        taskDir: task,
        envelope: sampleEnvelope('near', { startedAt: at(2 + index), status: 'completed' }),
      }));
      await fill(store, beside);
      await store.createDispatch(inbox, letter);
      sameContent(await walk(store, {}), namesOf(beside), 'the dispatches of the whole store');
      sameContent(
        await walk(store, { order: 'newest', limit: 1 }),
        namesOf(beside).reverse(),
        'page by page',
      );
      const tasksOf = (await store.listTasks()).map((listing) => listing.taskDir);
      sameContent(tasksOf, ['_hansardx', 'lab/_hansard/inbox'], 'the tasks');
      sameContent(await walk(store, { taskDir: inbox }), ['_hansard/inbox/D1 letter_1'], 'the named task');
      const other = '_hansard/inbox/D0';
      await store.createDispatch(other, { ...letter, dispatchId: 'letter_2', taskSlug: 'D0' });
      const internal = ['_hansard/inbox/D0 letter_2', '_hansard/inbox/D1 letter_1'];
      sameContent(await walk(store, { internal: true }), internal, 'what is below _hansard');
      sameContent(await walk(store, { internal: true, limit: 1 }), internal, 'its pages');
      sameContent(await store.getDispatchEnvelopes(inbox), [letter], 'the letters');
      sameContent(await store.getDispatchEnvelope(inbox, 'letter_1'), letter, 'the letter');
    },
  },
  {
    name: 'many-across-tasks',
    rule: 1,
    title: 'the first page of 1,205 dispatches in 5 tasks has 1,000 of them, and the next one the others',
    run: async ({ store }) => {
      const many = Array.from({ length: 1_205 }, (_, index) => ({
        taskDir: `lab/${index % 5}`,
        envelope: sampleEnvelope(`D${index}`, {
          startedAt: new Date(Date.parse(at(0)) + index).toISOString(),
          status: 'completed',
        }),
      }));
      await fill(store, many);
      const first = await store.listDispatches();
      sameContent(first.dispatches.length, 1_000, 'the length of the first page');
      sameContent(await walk(store, {}), namesOf(many), 'the dispatches');
      sameContent(await walk(store, { limit: 1_205 }), namesOf(many), 'the dispatches on one page');
    },
  },
]);
