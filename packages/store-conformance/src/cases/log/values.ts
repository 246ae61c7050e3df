import assert from 'node:assert/strict';
import type { CapturedEvent, DispatchStoreProvider, JsonObject, JsonValue } from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, holdsEvents, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEvent, sampleTask, valueEvent } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

const controlCharacters = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code))
  .filter((character) => /\p{Cc}/u.test(character))
  .join('');

const values: ReadonlyArray<readonly [name: string, what: string, data: JsonObject]> = [
  ['nul', 'the NUL character', { text: 'a\0b\0', '\0': 'key' }],
  ['control-characters', 'every control character', { text: controlCharacters, [controlCharacters]: 1 }],
  [
    'line-ends',
    'line ends of every kind, U+2028 and U+2029 among them',
    { text: 'a\nb\r\nc\rd\u2028e\u2029f\u0085' },
  ],
  ['emoji', 'emoji and other characters beyond 16 bits', { text: '🎈👩‍👩‍👧‍👦𝒳', '🗝': '\u{10ffff}' }],
  ['lone-surrogates', 'lone surrogates', { text: 'a\ud800b', list: ['\udc00', '\udc00\ud800'], '\udfff': 1 }],
  ['normal-forms', 'composed and decomposed letters', { text: 'é e\u0301 \ufeff', é: 1, 'e\u0301': 2 }],
  [
    'proto-keys',
    'own keys named __proto__ and constructor',
    JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":null},"in":[{"__proto__":1}],"toString":"x"}',
    ) as JsonObject,
  ],
  [
    'key-names',
    'keys that are empty, numbers, or quotes',
    { '': 1, '2': 'b', '1': 'a', '"': 2, '\\': 3, 'a.b': 4 },
  ],
  ['empty', 'empty objects, lists and strings', { object: {}, list: [], text: '', deep: [[], {}, [{}]] }],
  ['nulls', 'nulls in objects and lists', { nothing: null, list: [null, [null]], object: { nothing: null } }],
  [
    'numbers',
    'numbers at the limits of a double',
    {
      list: [
        0,
        -1,
        1.5,
        0.1,
        1e21,
        -1e-7,
        123456789012345680000,
        Number.MAX_SAFE_INTEGER,
        Number.MIN_SAFE_INTEGER,
        Number.MAX_VALUE,
        Number.MIN_VALUE,
        Number.EPSILON,
      ],
    },
  ],
  ['booleans', 'true and false beside 1 and 0', { list: [true, false, 1, 0, 'true', 'false'] }],
  [
    'json-in-text',
    'text that looks like JSON or like the end of a file',
    {
      text: '"}]}\n]}\n',
      list: ['{"id":"x"}', '\\u0000', '\\', '"', ',', '\n},\n{', "'; DROP TABLE events; --"],
    },
  ],
  ['deep', 'objects and lists nested 500 deep', deepValue(500)],
  [
    'wide',
    'an object with 10,000 keys',
    Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key ${i}`, i])),
  ],
  ['long-text', 'a text of 10 MB', { text: 'The length of a novel. '.repeat(450_000).slice(0, 10_000_000) }],
];

const allLinks: CapturedEvent = {
  id: 'with:all.links-1',
  type: 'agent:tool_result',
  v: 3,
  timestamp: '2026-03-01T09:00:00.999Z',
  agentId: 'agent_001',
  messageId: 'message-1',
  cause: ['event-1', 'event-2'],
  via: 'hook-1',
  follows: 'event-3',
  retracts: ['event-4', 'event-5'],
  data: { toolCallId: 'call-1', tool: 'Bash', status: 'completed', metadata: {} },
};

export const valueCases = caseFamily('values', [
  ...values.map(([name, what, data]) => ({
    name,
    rule: 4,
    title: `events keep ${what}`,
    run: async ({ store }: { readonly store: DispatchStoreProvider }) => {
      const events = [sampleEvent('before'), valueEvent('value', data), sampleEvent('after')];
      await beginDispatch(store);
      for (const event of events) await store.appendEvent(taskDir, dispatchId, event);
      await holdsEvents(store, events);
      // A retry must not change the strings either.
      await store.appendEvents(taskDir, dispatchId, events);
      sameContent(
        (await store.readEvents(taskDir, dispatchId, { last: 0 })).first,
        3,
        'the number of events, after the events were appended again',
      );
    },
  })),
  {
    name: 'links',
    rule: 4,
    title: 'all fields of an event are returned, and absent fields stay absent',
    run: async ({ store }) => {
      const { cause: _, ...withoutCause } = allLinks;
      const events = [
        allLinks,
        { ...withoutCause, id: 'with-substance', substance: allLinks.id },
        { ...withoutCause, id: 'one-cause', cause: 'event-1' },
        { ...withoutCause, id: 'list-of-one', cause: ['event-1'] },
        sampleEvent('bare'),
      ];
      await beginDispatch(store, events);
      await holdsEvents(store, events);
    },
  },
  {
    name: 'keys-of-newer-versions',
    rule: 4,
    title: 'fields that this version does not know stay, in events, envelopes and tasks',
    run: async ({ store }) => {
      const newer = { mood: { name: 'calm' }, __added: [1] };
      const event = { ...sampleEvent('newer'), ...newer };
      const envelope = { ...prepared.envelope, ...newer };
      const task = { ...sampleTask('route-models'), ...newer };
      await store.putTask(taskDir, task);
      await store.createDispatch(taskDir, envelope);
      await store.appendEvent(taskDir, dispatchId, event);
      await holdsEvents(store, [event]);
      await store.updateDispatch(taskDir, dispatchId, { cost: 1 });
      sameContent(
        await store.getDispatchEnvelopes(taskDir),
        [{ ...envelope, cost: 1 }],
        'getDispatchEnvelopes',
      );
      sameContent(await store.findTask(taskDir), task, 'findTask');
    },
  },
  {
    name: 'undefined-is-absent',
    rule: 4,
    title: 'a key that is undefined counts as absent, including in a retry',
    run: async ({ store }) => {
      const event = valueEvent('one', { text: 'x', note: undefined });
      await beginDispatch(store, [event]);
      await store.appendEvent(taskDir, dispatchId, valueEvent('one', { text: 'x' }));
      await store.appendEvent(taskDir, dispatchId, event);
      await holdsEvents(store, [valueEvent('one', { text: 'x' })]);
    },
  },
  {
    name: 'in-envelopes-and-tasks',
    rule: 4,
    title: 'envelopes and tasks keep any text and any result',
    run: async ({ store }) => {
      const text = 'a\0b\u2028\ud800🎈"\\\n]}';
      const structuredResult = Object.fromEntries(
        values.filter(([name]) => name !== 'long-text').map(([name, , data]) => [name, data as JsonValue]),
      );
      const envelope = {
        ...prepared.envelope,
        role: text,
        model: text,
        cwd: text,
        taskSlug: text,
        structuredResult,
      };
      const task = sampleTask('route-models', { name: text, project: text, status: text });
      await store.createDispatch(taskDir, envelope);
      await store.putTask(taskDir, task);
      sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), envelope, 'getDispatchEnvelope');
      sameContent(await store.getDispatchEnvelopes(taskDir), [envelope], 'getDispatchEnvelopes');
      sameContent(await store.listTasks(), [{ taskDir, task }], 'listTasks');
    },
  },
]);

function deepValue(depth: number): JsonObject {
  let value: JsonObject = { bottom: true };
  for (let level = 0; level < depth; level += 2) value = { in: [value] };
  return value;
}

const bom = '\ufeff';
const keptValues: ReadonlyArray<readonly [name: string, what: string, data: JsonObject]> = [
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
  ...keptValues.map(([name, what, data]) => ({
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
    name: 'time-not-recorded',
    rule: 4,
    title:
      'a time that is not recorded stays null, in events and envelopes, whatever times stand in the data',
    run: async ({ store }) => {
      const untimed = (id: string): CapturedEvent => ({
        ...sampleEvent(id),
        timestamp: null,
        data: { text: 'walrus', record: { timestamp: '2026-03-01T09:30:00.000Z' } },
      });
      const events = [untimed('first'), sampleEvent('timed'), untimed('last')];
      await beginDispatch(store, events);
      await holdsEvents(store, events);
      await store.updateDispatch(taskDir, dispatchId, { startedAt: null, completedAt: null });
      sameContent(
        await store.getDispatchEnvelope(taskDir, dispatchId),
        { ...prepared.envelope, startedAt: null, completedAt: null },
        'getDispatchEnvelope',
      );
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
