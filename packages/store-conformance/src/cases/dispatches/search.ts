import assert from 'node:assert/strict';
import type { JsonObject } from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  optionalMethod,
  prepareStore,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, valueEvent } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

const spoken = [
  sampleEvent('one', 'the quick fox sleeps'),
  sampleEvent('two', 'a slow badger wakes'),
  sampleEvent('three', 'the fox and the badger talk'),
];

const longWord = 'wordwithoutend'.repeat(3);

/** Texts of many languages, by their position. */
const wordTexts: readonly JsonObject[] = [
  { text: 'Café crème' },
  { text: 'CAFE noir' },
  { text: "snake_case well-known it's v1.2.3" },
  { text: 'a b x of the end' },
  { text: `${longWord}one` },
  { text: `${longWord}two` },
  { text: 'q'.repeat(70) },
  { text: '한국어를 배우다' },
  { text: 'ພາສາລາວ' },
  { text: 'ភាសាខ្មែរ' },
  { text: 'မြန်မာစာ' },
  { text: 'οδος' },
  { text: 'Straße' },
  { text: 'Strasse' },
  { text: 'smørrebrød' },
  { text: 'smorrebrod' },
  { text: 'किताब' },
  { text: 'कताब' },
  {
    keyword: 1,
    count: 424_242,
    list: ['inlist', ['deeper']],
    base64: 'encodedword',
    signature: 'signedword',
  },
  { text: 'first half', more: 'second part' },
  { text: 'index' },
  { text: 'indexes' },
  { text: 'Ärger ПРИВЕТ' },
  { text: '漢字 abc漢字' },
  { text: 'cats' },
  { text: 'ดำเนินการเสร็จสิ้นแล้ว' },
];

/** Queries, and the positions of the texts that have all of their words. */
const wordQueries: ReadonlyArray<readonly [query: string, ...positions: number[]]> = [
  ['cafe', 0, 1],
  ['CAFÉ', 0, 1],
  ['cafe\u0301', 0, 1],
  ['creme', 0],
  ['caf'],
  ['snake', 2],
  ['case', 2],
  ['snake_case', 2],
  ['known', 2],
  ['known well', 2],
  ['it', 2],
  ['s', 2],
  ['2', 2],
  ['v1', 2],
  ['a', 3],
  ['b x', 3],
  ['the', 3],
  ['of the end', 3],
  ['not the'],
  [`${longWord}one`, 4],
  [longWord],
  ['q'.repeat(70), 6],
  ['한국어를', 7],
  ['한국어'],
  ['ລາວ', 8],
  ['ខ្មែរ', 9],
  ['မာစာ', 10],
  ['ΟΔΟΣ', 11],
  ['οδοσ', 11],
  ['STRASSE', 13],
  ['straße', 12],
  ['smørrebrød', 14],
  ['smorrebrod', 15],
  ['किताब', 16],
  ['कताब', 17],
  ['keyword'],
  ['424242'],
  ['inlist', 18],
  ['deeper inlist', 18],
  ['encodedword'],
  ['signedword'],
  ['agentword'],
  ['half part', 19],
  ['second first', 19],
  ['index', 20],
  ['indexes', 21],
  ['ärger', 22],
  ['ÄRGER привет', 22],
  ['漢字', 23],
  ['字漢'],
  ['字', 23],
  ['cat'],
  ['cats', 24],
  ['เสร็จ', 25],
  ['abc 漢', 23],
];

/** Words as `splitWords` of `@hansard/provider` splits them. Each store decides which texts it searches. */
export const searchCases = caseFamily('search', [
  {
    name: 'every-word',
    rule: null,
    title: 'a search finds the events that contain every word, newest last, each with its position',
    needs: ['search'],
    run: async ({ store }) => {
      await beginDispatch(store, spoken);
      const search = optionalMethod(store, 'searchEvents');
      const hits = (...positions: readonly number[]) =>
        positions.map((position) => ({ taskDir, dispatchId, position, event: spoken[position] }));
      sameContent(await search('fox', { taskDir }), hits(0, 2), 'a search for one word');
      sameContent(await search('badger fox', { taskDir }), hits(2), 'a search for two words');
      sameContent(await search('fox slow', { taskDir }), [], 'a search for words of different events');
      sameContent(await search('walrus', { taskDir }), [], 'a search for a word that nobody said');
    },
  },
  {
    name: 'places',
    rule: null,
    title: 'a search covers all dispatches of one task, or one of them, and no other task',
    needs: ['search'],
    run: async ({ store }) => {
      await beginDispatch(store, [sampleEvent('here', 'walrus here')]);
      const startedAt = '2026-03-02T09:00:00.000Z';
      await store.createDispatch(taskDir, sampleEnvelope('LATER', { startedAt }));
      const there = { ...sampleEvent('there', 'walrus there'), timestamp: startedAt };
      await store.appendEvents(taskDir, 'LATER', [sampleEvent('silent', 'nothing'), there]);
      await store.createDispatch(`${taskDir}-2`, sampleEnvelope('ELSEWHERE'));
      await store.appendEvent(`${taskDir}-2`, 'ELSEWHERE', sampleEvent('elsewhere', 'walrus elsewhere'));
      const search = optionalMethod(store, 'searchEvents');
      const here = { taskDir, dispatchId, position: 0, event: sampleEvent('here', 'walrus here') };
      const later = { taskDir, dispatchId: 'LATER', position: 1, event: there };
      sameContent(await search('walrus', { taskDir }), [here, later], 'a search of the task');
      sameContent(
        await search('walrus', { taskDir, dispatchId: 'LATER' }),
        [later],
        'a search of one dispatch',
      );
    },
  },
  {
    name: 'across-tasks',
    rule: null,
    title: 'a search without a task covers all tasks, newest last, and its limit keeps the newest of all',
    needs: ['search'],
    run: async ({ store }) => {
      const at = (minute: number) => `2026-03-01T09:${String(minute).padStart(2, '0')}:00.000Z`;
      const hits = Array.from({ length: 12 }, (_, minute) => ({
        taskDir: `lab/${minute % 4}`,
        dispatchId: `D${minute % 3}`,
        position: 0,
        event: { ...sampleEvent(`minute-${minute}`, 'walrus'), timestamp: at(minute) },
      }));
      for (const { taskDir: task, dispatchId: id, event } of hits.toReversed()) {
        await store.createDispatch(task, sampleEnvelope(id));
        await store.appendEvent(task, id, event);
      }
      const search = optionalMethod(store, 'searchEvents');
      sameContent(await search('walrus'), hits, 'a search of the store');
      sameContent(await search('walrus', { limit: 5 }), hits.slice(-5), 'the newest hits');
      sameContent(await search('badger'), [], 'a search for a word that nobody said');
    },
  },
  {
    name: 'time-not-recorded',
    rule: null,
    title: 'a search returns hits without a time before all others, and leaves them out first',
    needs: ['search'],
    run: async ({ store }) => {
      const texts = [null, '2026-03-01T09:00:00.000Z', null, '0001-01-01T00:00:00.000Z'];
      const hits = texts.map((timestamp, position) => ({
        taskDir,
        dispatchId,
        position,
        event: { ...sampleEvent(`event-${position}`, 'walrus'), timestamp },
      }));
      await beginDispatch(
        store,
        hits.map(({ event }) => event),
      );
      const search = optionalMethod(store, 'searchEvents');
      const expected = [0, 2, 3, 1].map((position) => hits[position]);
      sameContent(await search('walrus', { taskDir }), expected, 'every hit');
      for (const limit of [1, 2, 3])
        sameContent(await search('walrus', { limit }), expected.slice(-limit), `the newest ${limit}`);
    },
  },
  {
    name: 'limit',
    rule: null,
    title: 'a search returns at most as many hits as its limit, and 100 without a limit',
    needs: ['search'],
    run: async ({ store }) => {
      await beginDispatch(
        store,
        Array.from({ length: 120 }, (_, index) => sampleEvent(`event-${index}`, `walrus number ${index}`)),
      );
      const search = optionalMethod(store, 'searchEvents');
      for (const limit of [1, 7, 120, 500]) {
        const hits = await search('walrus', { taskDir, limit });
        assert.equal(hits.length, Math.min(limit, 120), `the number of hits with a limit of ${limit}`);
        const positions = hits.map(({ position }) => position);
        sameContent(
          positions,
          positions.toSorted((one, other) => one - other),
          'the order of the hits',
        );
      }
      sameContent((await search('walrus', { taskDir })).length, 100, 'the number of hits without a limit');
    },
  },
  {
    name: 'any-script',
    rule: null,
    title:
      'a word of a script without spaces is found inside a longer run, and a change of script ends a word',
    needs: ['search'],
    run: async ({ store }) => {
      const texts = [
        '明天下午三点开项目评审会议讨论排期',
        '修改youer服务端的计划',
        'データベースの接続エラーを直して',
        'ดำเนินการเสร็จสิ้นแล้ว',
      ];
      await beginDispatch(
        store,
        texts.map((text, at) => sampleEvent(`text-${at}`, text)),
      );
      const search = optionalMethod(store, 'searchEvents');
      const found: readonly (readonly [query: string, ...positions: number[]])[] = [
        ['项目', 0],
        ['会议 项目', 0],
        ['YOUER', 1],
        ['计', 1],
        ['接続エラー', 2],
        ['เสร็จ', 3],
        ['目项'],
        ['you'],
      ];
      for (const [query, ...positions] of found)
        sameContent(
          (await search(query, { taskDir })).map(({ position }) => position),
          positions,
          `the positions of the hits of ${query}`,
        );
    },
  },
  {
    name: 'words-of-every-language',
    rule: null,
    title: 'every store splits and compares words in the same way, in each language',
    needs: ['search'],
    run: async ({ store }) => {
      await beginDispatch(
        store,
        wordTexts.map((data, position) => ({
          ...valueEvent(`text-${position}`, data),
          agentId: 'agentword',
        })),
      );
      const search = optionalMethod(store, 'searchEvents');
      for (const [query, ...positions] of wordQueries)
        sameContent(
          (await search(query, { taskDir }))
            .map(({ position }) => position)
            .sort((one, other) => one - other),
          positions,
          `the positions of the hits of ${query}`,
        );
    },
  },
  {
    name: 'any-query',
    rule: null,
    title: 'a search reads any text as words, never as a command of its engine',
    needs: ['search'],
    run: async ({ store }) => {
      await beginDispatch(store, spoken);
      const search = optionalMethod(store, 'searchEvents');
      const queries = [
        '"',
        "'",
        '(',
        ')',
        '*',
        'fo*',
        '^fox',
        '-fox',
        '+fox',
        'fox AND',
        'AND',
        'OR',
        'NOT fox',
        'NEAR(fox badger)',
        'data:fox',
        'text : fox',
        '{a b}: fox',
        '"fox',
        'a" OR "b',
        '%',
        '_',
        '\\',
        '[',
        "'; DROP TABLE events; --",
        '\0',
        '🦊',
        '\ud800',
      ];
      for (const query of queries)
        assert.ok(
          Array.isArray(await search(query, { taskDir })),
          `a search for ${JSON.stringify(query)} gives a list`,
        );
      for (const query of ['walrus OR fox', 'NOT walrus', 'fo*'])
        sameContent(
          await search(query, { taskDir }),
          [],
          `a search for ${query}, of which no event has every word`,
        );
      sameContent((await search('fox', { taskDir })).length, 2, 'the number of hits afterwards');
    },
  },
  {
    name: 'retry-found-once',
    rule: 3,
    title: 'an event that was appended twice is found once, and a refused one is not found',
    needs: ['search'],
    run: async ({ store }) => {
      await prepareStore(store);
      const event = sampleEvent('one', 'walrus');
      await store.appendEvent(taskDir, dispatchId, event);
      await store.appendEvents(taskDir, dispatchId, [event]);
      const refused = [sampleEvent('new', 'walrus again'), sampleEvent('one', 'walrus changed')];
      await assert.rejects(async () => store.appendEvents(taskDir, dispatchId, refused));
      const hits = await optionalMethod(store, 'searchEvents')('walrus', { taskDir });
      sameContent(hits, [{ taskDir, dispatchId, position: 3, event }], 'a search');
    },
  },
]);
