import assert from 'node:assert/strict';
import type { CapturedEvent, DispatchStoreProvider, JsonObject } from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, holdsEvents, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEvent, sampleTask, valueEvent } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

const bom = '\ufeff';
const values: ReadonlyArray<readonly [name: string, what: string, data: JsonObject]> = [
  [
    'byte-order-marks',
    'byte order marks at the start of a text or a key',
    { [`${bom}a`]: `${bom}text`, b: bom },
  ],
  [
    'white-space',
    'white space at both ends of a text, and texts of nothing else',
    { text: '  a\t\n', tabs: '\t\t', line: '\n', ' key ': '\u00a0a\u3000', '': ' ' },
  ],
  ['no-data', 'data that is an empty object', {}],
  [
    'texts-like-values',
    'texts that look like a date, a number, null or base64',
    {
      list: [
        '2026-03-01T09:00:00.000Z',
        '2026-03-01',
        '1e3',
        '0123',
        '-0',
        'NaN',
        'null',
        'undefined',
        'true',
      ],
      more: ['/Date(1)/', 'aGVsbG8=', '0x10', '1n', '[object Object]', '{}', '[]', '""'],
    },
  ],
  [
    'placeholders',
    'texts that are placeholders, patterns or markup elsewhere',
    {
      list: [
        '$&',
        '$1',
        '$$',
        '%s %d %%',
        '$' + '{x}',
        '{{x}}',
        ':name',
        '?',
        '?1',
        '@p1',
        '\\1',
        '\\n',
        '\\x00',
      ],
      markup: ['</script>', '<!--', '&amp;', '-- ', '/*', '#', "''", '``'],
      $ref: '#/a',
      $date: 1,
      'a.b': { 'c.d': 1 },
      $set: {},
    },
  ],
  ['case-of-keys', 'keys and texts that differ only in their case', { a: 'x', A: 'X', ä: 1, Ä: 2 }],
  ['long-list', 'a list of 150,000 numbers', { list: Array.from({ length: 150_000 }, (_, index) => index) }],
  ['long-key', 'a key of 100,000 characters', { ['key '.repeat(25_000)]: 1 }],
];

export const keptValueCases = caseFamily('values', [
  ...values.map(([name, what, data]) => ({
    name,
    rule: 4,
    title: `events keep ${what}`,
    run: async ({ store }: { readonly store: DispatchStoreProvider }) => {
      const events = [valueEvent('first', data), sampleEvent('between'), valueEvent('last', data)];
      await beginDispatch(store);
      for (const event of events) await store.appendEvent(taskDir, dispatchId, event);
      await holdsEvents(store, events);
    },
  })),
  {
    name: 'order-of-keys',
    rule: 4,
    title: 'the keys of the data of an event keep their order at every depth',
    run: async ({ store }) => {
      const data = { zebra: 1, apple: { delta: 1, alpha: [{ y: 1, x: 2 }] }, mango: null, A: 1, '': 0 };
      await beginDispatch(store, [valueEvent('one', data)]);
      const reads = [
        (await store.getDispatchEvents(taskDir, dispatchId))[0],
        (await store.getRecentEvents(taskDir, dispatchId, 1))[0],
        (await store.readEvents(taskDir, dispatchId)).events[0],
      ];
      for (const event of reads)
        assert.equal(JSON.stringify(event?.data), JSON.stringify(data), 'the data as text');
    },
  },
  {
    name: 'times',
    rule: 4,
    title: 'times of any year keep their milliseconds, in events and envelopes',
    run: async ({ store }) => {
      const times = ['0001-01-01T00:00:00.000Z', '1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59.001Z'];
      const events: CapturedEvent[] = times.map((timestamp, index) => ({
        ...sampleEvent(`at-${index}`),
        timestamp,
      }));
      await beginDispatch(store, events);
      await holdsEvents(store, events);
      for (const startedAt of times) {
        await store.updateDispatch(taskDir, dispatchId, { startedAt, completedAt: startedAt });
        sameContent(
          await store.getDispatchEnvelope(taskDir, dispatchId),
          { ...prepared.envelope, startedAt, completedAt: startedAt },
          'getDispatchEnvelope',
        );
      }
    },
  },
  {
    name: 'byte-order-marks-elsewhere',
    rule: 4,
    title: 'envelopes and tasks keep byte order marks and white space',
    run: async ({ store }) => {
      const text = `${bom} a \n`;
      const envelope = {
        ...prepared.envelope,
        role: text,
        title: bom,
        model: ' ',
        structuredResult: { [text]: text },
      };
      const task = sampleTask('route-models', { name: text, project: bom });
      await store.createDispatch(taskDir, envelope);
      await store.putTask(taskDir, task);
      sameContent(await store.getDispatchEnvelopes(taskDir), [envelope], 'getDispatchEnvelopes');
      sameContent(await store.findTask(taskDir), task, 'findTask');
    },
  },
]);
