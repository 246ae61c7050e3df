import { errorsOf, refuses, sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  holdsEvents,
  optionalMethod,
  prepared,
  prepareStore,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleTask, startOfDay } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

export const taskCases = caseFamily('tasks', [
  {
    name: 'replaced',
    rule: null,
    title: 'putting a record again replaces all of it',
    run: async ({ store }) => {
      await store.putTask(taskDir, { ...sampleTask('route-models'), note: 'only in the first' } as never);
      const second = sampleTask('route-models', { name: 'Renamed', status: 'done' });
      await store.putTask(taskDir, second);
      sameContent(await store.findTask(taskDir), second, 'findTask');
      sameContent(await store.listTasks(), [{ taskDir, task: second }], 'listTasks');
    },
  },
  {
    name: 'with-and-without-record',
    rule: 1,
    title: 'every task with a record or a dispatch is listed, by taskDir',
    run: async ({ store }) => {
      const names = ['p/tasks/b', 'p/tasks/a b', 'p/tasks/a', 'P/tasks/z', 'p/tasks/a-b', 'p/tasks/B'];
      for (const [index, name] of names.entries()) {
        if (index % 3 !== 1) await store.putTask(name, sampleTask(name));
        if (index % 3 !== 0) await store.createDispatch(name, sampleEnvelope(`dispatch-${index}`));
      }
      const expected = names
        .map((name, index) => ({ taskDir: name, task: index % 3 === 1 ? null : sampleTask(name) }))
        .sort((one, other) => (one.taskDir < other.taskDir ? -1 : 1));
      sameContent(await store.listTasks(), expected, 'listTasks');
    },
  },
  {
    name: 'record-beside-dispatches',
    rule: 1,
    title:
      'a record that is put before, between or after dispatches does not change them, nor they the record',
    run: async ({ store }) => {
      await prepareStore(store);
      const task = sampleTask('route-models', { status: 'done' });
      await store.putTask(taskDir, task);
      await store.createDispatch(taskDir, sampleEnvelope('LATER', { startedAt: '2026-03-01T10:00:00.000Z' }));
      await store.updateDispatch(taskDir, 'LATER', { status: 'completed' });
      sameContent(await store.findTask(taskDir), task, 'findTask');
      await holdsEvents(store, prepared.events);
      const ids = (await store.getDispatchEnvelopes(taskDir)).map((envelope) => envelope.dispatchId);
      sameContent(ids, [dispatchId, 'LATER'], 'the dispatches');
    },
  },
  {
    name: 'dispatch-only',
    rule: 1,
    title: 'a task that has only dispatches has no record until one is put',
    run: async ({ store }) => {
      await beginDispatch(store);
      sameContent(await store.findTask(taskDir), null, 'findTask');
      await store.putTask(taskDir, prepared.task);
      sameContent(await store.listTasks(), [{ taskDir, task: prepared.task }], 'listTasks');
    },
  },
  {
    name: 'nested',
    rule: 8,
    title: 'nested tasks of any depth, with spaces and letters of any script, are separate',
    run: async ({ store }) => {
      const names = [
        'solo',
        'solo/inner',
        'solo/inner/tasks/innermost',
        'solo inner',
        'Forschung/Aufgaben/Größe ändern',
        '研究/任务/路由',
        'a.b/c_d-e/f (1), g & h',
        'constructor/__proto__',
        `${'long-'.repeat(25)}/x`,
      ];
      for (const [index, name] of names.entries()) {
        await store.putTask(name, sampleTask(`task-${index}`));
        await store.createDispatch(name, sampleEnvelope('SAME', { role: name }));
        await store.appendEvent(name, 'SAME', sampleEvent('same', name));
      }
      for (const [index, name] of names.entries()) {
        sameContent(await store.findTask(name), sampleTask(`task-${index}`), `findTask(${name})`);
        sameContent(await store.getDispatchEnvelopes(name), [sampleEnvelope('SAME', { role: name })], name);
        await holdsEvents(store, [sampleEvent('same', name)], { taskDir: name, dispatchId: 'SAME' });
      }
      const listed = (await store.listTasks()).map((listing) => listing.taskDir);
      sameContent(new Set(listed).size, names.length, 'the number of tasks');
      sameContent(
        names.filter((name) => !listed.includes(name)),
        [],
        'tasks that are not listed',
      );
    },
  },
  {
    name: 'keeps-a-copy',
    rule: 4,
    title: 'changing a record after it was put does not change what is stored',
    run: async ({ store }) => {
      const task = sampleTask('route-models');
      await store.putTask(taskDir, task);
      Object.assign(task, { name: 'changed' });
      sameContent(await store.findTask(taskDir), prepared.task, 'findTask');
    },
  },
]);

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `n${String(index).padStart(4, '0')}`);

export const listingCases = caseFamily('listings', [
  {
    name: 'many-dispatches',
    rule: 1,
    title: 'a task lists all of 1,005 dispatches',
    run: async ({ store }) => {
      const ids = numbered(1_005);
      for (const id of ids) await store.createDispatch(taskDir, sampleEnvelope(id, { status: 'completed' }));
      const listed = (await store.getDispatchEnvelopes(taskDir)).map((envelope) => envelope.dispatchId);
      sameContent(listed, ids, 'the dispatches');
    },
  },
  {
    name: 'many-tasks',
    rule: 1,
    title: 'a store lists all of 1,005 tasks',
    run: async ({ store }) => {
      const names = numbered(1_005);
      for (const name of names) await store.putTask(`lab/${name}`, sampleTask(name));
      const expected = names.map((name) => ({ taskDir: `lab/${name}`, task: sampleTask(name) }));
      sameContent(await store.listTasks(), expected, 'listTasks');
    },
  },
  {
    name: 'many-hits',
    rule: 1,
    title: 'a search with a limit above 1,000 finds all of 1,205 events',
    needs: ['search'],
    run: async ({ store }) => {
      const events = numbered(1_205).map((id) => sampleEvent(id, 'walrus'));
      await beginDispatch(store, events);
      const hits = await optionalMethod(store, 'searchEvents')('walrus', { taskDir, limit: 2_000 });
      sameContent(
        hits.map(({ event }) => event),
        events,
        'the events that were found',
      );
    },
  },
  {
    name: 'newest-hits',
    rule: null,
    title: 'a search with a limit returns the newest hits, by time, of all dispatches of the task',
    needs: ['search'],
    run: async ({ store }) => {
      for (const id of ['A', 'B']) await store.createDispatch(taskDir, sampleEnvelope(id));
      const at = (minute: number) =>
        startOfDay.replace('00:00.000', `${String(minute).padStart(2, '0')}:00.000`);
      for (let minute = 0; minute < 20; minute += 1)
        await store.appendEvent(taskDir, minute % 3 === 0 ? 'A' : 'B', {
          ...sampleEvent(`minute-${minute}`, 'walrus'),
          timestamp: at(minute),
        });
      for (const limit of [1, 4, 19, 20]) {
        const hits = await optionalMethod(store, 'searchEvents')('walrus', { taskDir, limit });
        const expected = Array.from({ length: limit }, (_, index) => `minute-${20 - limit + index}`);
        sameContent(
          hits.map(({ event }) => event.id),
          expected,
          `the hits with a limit of ${limit}`,
        );
      }
    },
  },
  {
    name: 'ended-dispatches',
    rule: 1,
    title: 'dispatches of every status are listed, and keep it',
    run: async ({ store }) => {
      const statuses = ['running', 'completed', 'aborted', 'crashed'] as const;
      const envelopes = statuses.map((status, index) => sampleEnvelope(`D${index}`, { status }));
      for (const envelope of envelopes) await store.createDispatch(taskDir, envelope);
      sameContent(await store.getDispatchEnvelopes(taskDir), envelopes, 'getDispatchEnvelopes');
    },
  },
  {
    name: 'ended-not-created-over',
    rule: 1,
    title:
      'an ended and released dispatch is not replaced by a new one, and a refused creation claims nothing',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const ended = await store.updateDispatch(taskDir, dispatchId, { status: 'crashed' });
      await store.releaseDispatch(taskDir, dispatchId);
      await refuses('STORE_DISPATCH_EXISTS', 'createDispatch', () =>
        store.createDispatch(taskDir, prepared.envelope),
      );
      sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), ended, 'getDispatchEnvelope');
      await holdsEvents(store, prepared.events);
      await refuses('STORE_LOCKED', 'appendEvent after a refused createDispatch', () =>
        store.appendEvent(taskDir, dispatchId, sampleEvent('late')),
      );
    },
  },
  {
    name: 'updates-at-once',
    rule: 4,
    title: 'updates of different fields that do not wait for each other are all written',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const updates = [
        { cost: 1 },
        { title: 'a title' },
        { model: 'model-b' },
        { botId: 'ada' },
        { cwd: '/' },
      ];
      const errors = await errorsOf(
        updates.map((one) => () => store.updateDispatch(taskDir, dispatchId, one)),
      );
      sameContent(errors.map(String), [], 'errors of the updates');
      sameContent(
        await store.getDispatchEnvelope(taskDir, dispatchId),
        Object.assign({}, prepared.envelope, ...updates),
        'getDispatchEnvelope',
      );
      await holdsEvents(store, prepared.events);
    },
  },
  {
    name: 'empty-and-zero',
    rule: 4,
    title: 'empty objects and lists, an empty text, zero and false are values of an envelope, never null',
    run: async ({ store }) => {
      await beginDispatch(store);
      for (const structuredResult of [{}, [], '', 0, false, [null], { a: {} }, null]) {
        const updates = {
          structuredResult,
          cost: 0,
          usage: { inputTokens: 0, outputTokens: 0 },
          models: [],
        };
        await store.updateDispatch(taskDir, dispatchId, updates);
        const expected = { ...prepared.envelope, ...updates };
        sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), expected, 'getDispatchEnvelope');
        sameContent(await store.getDispatchEnvelopes(taskDir), [expected], 'getDispatchEnvelopes');
      }
      const created = sampleEnvelope('OTHER', { structuredResult: {}, cost: 0, models: [] });
      await store.createDispatch(taskDir, created);
      sameContent(await store.getDispatchEnvelope(taskDir, 'OTHER'), created, 'a created envelope');
    },
  },
  {
    name: 'many-updates',
    rule: 4,
    title: 'an envelope has the last of 300 updates of each field, between appends',
    run: async ({ store }) => {
      await beginDispatch(store);
      const events = [];
      for (let turn = 0; turn < 300; turn += 1) {
        await store.updateDispatch(
          taskDir,
          dispatchId,
          turn % 2 === 0 ? { cost: turn } : { title: `turn ${turn}` },
        );
        if (turn % 50 !== 0) continue;
        events.push(sampleEvent(`turn-${turn}`));
        await store.appendEvent(taskDir, dispatchId, sampleEvent(`turn-${turn}`));
      }
      const expected = { ...prepared.envelope, cost: 298, title: 'turn 299' };
      sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), expected, 'getDispatchEnvelope');
      await holdsEvents(store, events);
    },
  },
  {
    name: 'records-at-once',
    rule: 4,
    title: 'of records that are put at the same time, one is stored, completely',
    run: async ({ store }) => {
      const records = ['a', 'b', 'c'].map((name) =>
        sampleTask('route-models', { name: name.repeat(20_000), project: name, status: name }),
      );
      const errors = await errorsOf(records.map((record) => () => store.putTask(taskDir, record)));
      sameContent(errors.map(String), [], 'errors of putTask');
      const stored = await store.findTask(taskDir);
      sameContent(
        stored,
        records.find(({ project }) => project === stored?.project),
        'findTask',
      );
    },
  },
]);
