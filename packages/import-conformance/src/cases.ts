import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type CapturedEvent, isPlainObject, type JsonObject } from '@hansard/events';
import type { LogImporterProvider } from '@hansard/provider';
import {
  type CaseInput,
  expectAsAtOnce,
  expectBalanced,
  expectTexts,
  hostileValues,
  importOnce,
} from './checks.ts';
import {
  importAll,
  now,
  openStore,
  pathsOf,
  reportsOf,
  type StoredDispatch,
  stateOf,
  storedIn,
  task,
} from './importing.ts';
import { otherFormats } from './other-formats.ts';
import { textsIn } from './random.ts';
import {
  bytesOfAll,
  filesAfter,
  isRewritten,
  namesOf,
  objectOf,
  placesIn,
  SourceFolder,
  valueAt,
  type WrittenRecord,
  withValue,
} from './written-source.ts';

/** A case as the kit runs it: a law, checked for one random source. */
export interface LawCase {
  readonly id: string;
  readonly title: string;
  check(input: CaseInput): Promise<void> | void;
}

type Records = readonly WrittenRecord[];

const withRecord = (
  records: Records,
  at: number,
  changed: (record: JsonObject) => JsonObject,
): WrittenRecord[] =>
  records.map((record, index) => {
    const object = index === at ? objectOf(record) : null;
    return object === null ? record : { ...record, text: JSON.stringify(changed(object)) };
  });

const inserted = (records: Records, at: number, text: string): WrittenRecord[] => [
  ...records.slice(0, at),
  { file: records[at - 1]?.file ?? '', text },
  ...records.slice(at),
];

const complete: readonly LawCase[] = [
  {
    id: 'complete/every-text',
    title: 'every text of the source is in an event, or its record is left out with a count',
    async check({ importer, records }) {
      expectTexts(await importOnce(importer, records), records);
    },
  },
  {
    id: 'complete/balance',
    title: 'records, bytes and files of the source are recorded or left out, and add up',
    async check({ importer, records, random }) {
      const isWhole = isRewritten(records) || random.chance(0.5);
      const all = isWhole ? records : inserted(records, 1 + random.below(records.length), '');
      const { reports } = await importOnce(importer, all);
      expectBalanced(reports);
      const sum = (unit: 'records' | 'bytes' | 'files') =>
        reports.reduce((total, { balance }) => total + balance[unit].in, 0);
      const sizes = [...filesAfter(all).values()].map(({ length }) => length);
      // A database has bytes that are of no row.
      const isDatabase = all.some(({ layout }) => typeof layout?.([]) === 'object');
      const bytes = isDatabase ? sum('bytes') : sizes.reduce((total, size) => total + size, 0);
      const counted = { records: sum('records'), bytes: sum('bytes'), files: sum('files') };
      assert.ok(counted.bytes > 0, 'The balance counts no bytes');
      const written = { records: records.length, bytes, files: sizes.length };
      assert.deepEqual(counted, written, 'The balance counts something else than the source has');
    },
  },
  {
    id: 'complete/unknown-kinds',
    title: 'a record of an unknown kind keeps its texts',
    async check({ importer, records, random }) {
      const at = random.below(records.length);
      const changed = withRecord(records, at, (record) => {
        const words = Object.entries(record).filter(
          ([, value]) => typeof value === 'string' && /^[A-Za-z_-]{2,30}$/.test(value),
        );
        if (words.length === 0) return record;
        return { ...record, [random.pick(words)[0]]: 'kit_unknown_kind' };
      });
      expectTexts(await importOnce(importer, changed), changed);
    },
  },
  {
    id: 'complete/unknown-fields',
    title: 'a field that the importer does not know is in an event',
    async check({ importer, records, random }) {
      const at = random.below(records.length);
      const changed = withRecord(records, at, (record) => ({ ...record, kit_unknown_field: random.text() }));
      expectTexts(await importOnce(importer, changed), changed);
    },
  },
  {
    id: 'complete/unknown-fields-within',
    title: 'a field that the importer does not know is in an event, at every level of a record',
    async check({ importer, records, random }) {
      let changed = records;
      for (const at of records.keys())
        changed = withRecord(changed, at, (record) => {
          const objects = placesIn(record).filter((place) => isPlainObject(valueAt(record, place)));
          if (objects.length === 0) return record;
          const place = random.pick(objects);
          const object = valueAt(record, place) as JsonObject;
          return withValue(record, place, { ...object, kit_unknown_field: random.text() }) as JsonObject;
        });
      expectTexts(await importOnce(importer, changed), changed);
    },
  },
  {
    id: 'complete/unknown-kinds-within',
    title: 'a part of an unknown kind keeps its texts, at every level of a record',
    async check({ importer, records, random }) {
      let changed = records;
      for (const at of records.keys())
        changed = withRecord(changed, at, (record) => {
          const kinds = placesIn(record).filter(
            (place) => place.length > 1 && /^(?:type|kind|subtype|status)$/.test(String(place.at(-1))),
          );
          if (kinds.length === 0 || random.chance(0.5)) return record;
          return withValue(record, random.pick(kinds), 'kit_unknown_kind') as JsonObject;
        });
      expectTexts(await importOnce(importer, changed), changed);
    },
  },
  {
    id: 'complete/damaged-lines',
    title: 'a damaged line keeps its text, and stops nothing',
    async check({ importer, records, random }) {
      const damaged = [
        `no JSON ${random.text()}`,
        `{"broken": "${random.text()}`,
        `"${random.text()}"`,
        '42',
      ].slice(isRewritten(records) ? 2 : 0);
      // At the end of a file, what is broken may be unfinished.
      const [main = ''] = namesOf(records);
      const own = records.filter(({ file }) => file === main);
      const others = records.filter(({ file }) => file !== main);
      const all = [...inserted(own, 1 + random.below(own.length - 1), random.pick(damaged)), ...others];
      const imported = await importOnce(importer, all);
      expectTexts(imported, all);
      expectBalanced(imported.reports);
    },
  },
  {
    id: 'complete/unknown-files',
    title: 'files and folders that it does not know change nothing',
    async check({ importer, records }) {
      const extra = new Map(
        ['kit-notes.txt', 'kit-folder/data.bin', 'kit-folder/deep/kit.json'].map((name) => [
          name,
          Buffer.from('{"kit":"unknown"}\0'),
        ]),
      );
      const beside = await importOnce(importer, records, (folder) => folder.put(extra));
      const alone = await importOnce(importer, records);
      assert.deepEqual(
        stateOf(beside.stored),
        stateOf(alone.stored),
        'Files beside the source change what is imported',
      );
    },
  },
];

/** Splits batches, and aborts after some events. */
function killedAfter(
  importer: LogImporterProvider,
  events: number,
  kill: AbortController,
): LogImporterProvider {
  let left = events;
  return {
    ...importer,
    open: async (source, context) =>
      (await importer.open(source, context)).map((log) => ({
        ...log,
        async *read(options) {
          for await (const batch of log.read(options))
            for (const event of batch) {
              yield [event];
              left -= 1;
              if (left <= 0) kill.abort();
            }
        },
        summary: () => log.summary(),
        ...(log.continueAfter === undefined ? {} : { continueAfter: () => null }),
      })),
  };
}

const grown: readonly LawCase[] = [
  {
    id: 'grown/every-cut',
    title: 'imported after each growth, cut at any byte, it is as imported at the end',
    async check({ importer, records, random }) {
      using folder = new SourceFolder();
      await using store = openStore();
      const [first, all] = [bytesOfAll(records.slice(0, 2)), bytesOfAll(records)];
      const cuts = Array.from({ length: 4 }, () =>
        random.chance(0.5)
          ? first + random.below(all - first + 1)
          : bytesOfAll(records.slice(0, 2 + random.below(records.length - 1))),
      );
      for (const [at, cut] of [...cuts.sort((a, b) => a - b), all].entries()) {
        const files = filesAfter(records, cut);
        folder.put(files, 1_700_000_000 + at);
        const there = records.filter(({ file }) => files.has(file));
        const items = await importAll(store, importer, pathsOf(importer, folder, there));
        const rewritten = reportsOf(items).reduce((sum, { rewrittenCount }) => sum + rewrittenCount, 0);
        assert.equal(rewritten, 0, `${rewritten} events have other content after ${cut} bytes than before`);
        await expectAsAtOnce(store, { importer, records: there }, `after ${cut} of ${all} bytes`, { folder });
      }
    },
  },
  {
    id: 'grown/any-order-of-files',
    title: 'files that appear later give the same as files that are there at once',
    async check({ importer, records, random }) {
      const others = namesOf(records).slice(1);
      if (others.length === 0) return;
      using folder = new SourceFolder();
      await using store = openStore();
      const files = filesAfter(records);
      const main = namesOf(records)[0] ?? '';
      const there = [main];
      const waiting = [...others];
      for (let at = 0; waiting.length > 0; at += 1) {
        folder.put(new Map([...files].filter(([name]) => there.includes(name))), 1_700_000_000 + at);
        const present = records.filter(({ file }) => there.includes(file));
        await importAll(store, importer, pathsOf(importer, folder, present));
        there.push(...waiting.splice(random.below(waiting.length), 1));
      }
      folder.put(files, 1_700_001_000);
      await importAll(store, importer, pathsOf(importer, folder, records));
      await expectAsAtOnce(store, { importer, records }, 'after files in another order', {
        folder,
        order: 'any',
      });
    },
  },
  {
    id: 'grown/killed',
    title: 'an import that was killed anywhere is completed by the next one',
    async check({ importer, records, random }) {
      using folder = new SourceFolder();
      await using store = openStore();
      folder.put(filesAfter(records));
      for (let at = 0; at < 2; at += 1) {
        const kill = new AbortController();
        const killed = killedAfter(importer, 1 + random.below(records.length), kill);
        await importAll(store, killed, pathsOf(importer, folder, records), { signal: kill.signal });
      }
      await importAll(store, importer, pathsOf(importer, folder, records));
      await expectAsAtOnce(store, { importer, records }, 'after two kills', { folder });
    },
  },
];

async function checkHostile({ importer, records, random }: CaseInput, fields: number): Promise<void> {
  for (let round = 0; round < 6; round += 1) {
    let changed = records;
    const touched = new Set<number>();
    const at = random.below(records.length);
    for (let field = 0; field < fields; field += 1) {
      const target = field === 0 || random.chance(0.5) ? at : random.below(records.length);
      touched.add(target);
      const value = random.pick(hostileValues);
      changed = withRecord(changed, target, (record) => {
        const places = placesIn(record);
        return places.length === 0 ? record : (withValue(record, random.pick(places), value) as JsonObject);
      });
    }
    const imported = await importOnce(importer, changed);
    expectBalanced(imported.reports);
    expectTexts(
      imported,
      changed.filter((_, index) => !touched.has(index)),
    );
  }
}

const hostile: readonly LawCase[] = [
  {
    id: 'hostile/one-field',
    title: 'a hostile value in any field stops no file, and loses no other record',
    check: (input) => checkHostile(input, 1),
  },
  {
    id: 'hostile/two-fields',
    title: 'two hostile values, in one record or two, stop no file and lose no other record',
    check: (input) => checkHostile(input, 2),
  },
];

const detection: readonly LawCase[] = [
  {
    id: 'detection/own-records',
    title: 'a source is recognised by every beginning of five records or more',
    check({ importer, records }) {
      const main = records.filter(({ file }) => file === records[0]?.file);
      for (let count = 5; count <= main.length; count += 1) {
        const [text = ''] = [...filesAfter(main.slice(0, count)).values()].map(String);
        const isCut = count < main.length;
        assert.ok(
          importer.detect({ path: main[0]?.file ?? '', text, isCut }),
          `The first ${count} records are not recognised`,
        );
      }
    },
  },
  {
    id: 'detection/other-formats',
    title: 'the sources of other formats are not taken',
    check({ importer }) {
      for (const [name, text] of Object.entries(otherFormats)) {
        if (name === importer.id) continue;
        for (const start of [text, text.split('\n').slice(0, 5).join('\n')])
          assert.ok(
            !importer.detect({ path: 'other.jsonl', text: start, isCut: false }),
            `A source of ${name} is taken for one of ${importer.id}`,
          );
      }
    },
  },
];

/** Everything below a folder: names, sizes, times and bytes. */
function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { size, mtimeMs } = lstatSync(path);
      return `${path} ${entry.isFile() ? `${size} ${mtimeMs} ${readFileSync(path, 'hex')}` : ''}`;
    })
    .sort();
}

const secret = 'kitsecret7c1f';
const secretLine = `{"${secret}": "${secret}"}\n`;

const source: readonly LawCase[] = [
  {
    id: 'source/not-written',
    title: 'an import writes nothing to the source, and nothing beside it',
    async check({ importer, records }) {
      using folder = new SourceFolder();
      await using store = openStore();
      folder.put(filesAfter(records));
      const before = listing(folder.above);
      await importAll(store, importer, pathsOf(importer, folder, records));
      assert.deepEqual(listing(folder.above), before, 'The import has changed files');
    },
  },
  {
    id: 'source/not-outside',
    title: 'a path in a record, or a link, leads to nothing outside of the source',
    async check({ importer, records, random }) {
      const outside = ['../secret.jsonl', './../secret.jsonl', '../../secret.jsonl'];
      let changed = records;
      const imported = await importOnce(importer, records, (folder) => {
        const path = join(folder.above, 'secret.jsonl');
        writeFileSync(path, secretLine);
        for (let planted = 0; planted < 8; planted += 1)
          changed = withRecord(changed, random.below(records.length), (record) => {
            const texts = placesIn(record).filter((place) => typeof valueAt(record, place) === 'string');
            if (texts.length === 0) return record;
            return withValue(
              record,
              random.pick(texts),
              random.pick([path, `file://${path}`, ...outside]),
            ) as JsonObject;
          });
        folder.put(filesAfter(changed));
        for (const at of new Set(namesOf(records).map((name) => dirname(join(folder.path, name)))))
          for (const name of ['kit-link.jsonl', 'agent-kit.jsonl']) symlinkSync(path, join(at, name));
      });
      const digest = createHash('sha256').update(secretLine).digest('hex');
      const stored = JSON.stringify(imported.stored);
      assert.ok(
        !stored.includes(secret) && !stored.includes(digest),
        'An event has what a file outside of the source holds',
      );
    },
  },
];

/** A source in which one record lacks a field. */
const withGaps = ({ records, random }: CaseInput): WrittenRecord[] => {
  const at = random.below(records.length);
  return records.map((record, index) => {
    const object = objectOf(record);
    if (object === null || index !== at) return record;
    const dropped = random.pick(Object.keys(object));
    return {
      ...record,
      text: JSON.stringify(Object.fromEntries(Object.entries(object).filter(([key]) => key !== dropped))),
    };
  });
};

const identity: readonly LawCase[] = [
  {
    id: 'identity/not-from-place',
    title: 'who and when come from the records, and not from the folder, the clock or the times of files',
    async check(input) {
      const { importer } = input;
      const records = withGaps(input);
      const states: { id: string; startedAt: string | null; events: readonly CapturedEvent[] }[][] = [];
      for (const [time, clock] of [
        [1_600_000_000, now],
        [1_650_000_000, now + 1e9],
      ] as const) {
        using folder = new SourceFolder();
        folder.put(filesAfter(records), time);
        await using store = openStore();
        await importAll(store, importer, pathsOf(importer, folder, records), { now: () => clock });
        const stored = await storedIn(store);
        states.push(
          stored.map(({ envelope, events }) => ({
            id: envelope.dispatchId,
            startedAt: envelope.startedAt,
            events,
          })),
        );
      }
      assert.deepEqual(
        states[1],
        states[0],
        'The same records give something else in another folder at another time',
      );
    },
  },
  {
    id: 'identity/ids-are-unique',
    title: 'each event has an id of its own, also where records are repeated or share an id',
    async check({ importer, records, random }) {
      const at = random.below(records.length);
      const again = [...records, records[at] as WrittenRecord];
      const all = withRecord(again, again.length - 1, (record) =>
        random.chance(0.5) ? record : { ...record, kit_unknown_field: random.text() },
      );
      const imported = await importOnce(importer, all);
      for (const { rewrittenCount } of imported.reports)
        assert.equal(rewrittenCount, 0, 'Two events have one id');
      expectTexts(imported, all);
      expectBalanced(imported.reports);
    },
  },
];

const deleted: readonly LawCase[] = [
  {
    id: 'deleted/stays-deleted',
    title: 'a session that was deleted does not come back, also after it has grown, until it is asked for',
    async check({ importer, records }) {
      using folder = new SourceFolder();
      await using store = openStore();
      const first = records.slice(0, Math.max(2, records.length - 2));
      folder.put(filesAfter(first));
      await importAll(store, importer, pathsOf(importer, folder, first));
      for (const { envelope } of await storedIn(store))
        await store.deleteDispatch({ taskDir: task, dispatchId: envelope.dispatchId });
      folder.put(filesAfter(records), 1_700_000_001);
      await importAll(store, importer, pathsOf(importer, folder, records));
      const texts = new Set(textsIn(JSON.stringify(await storedIn(store))));
      const back = first.flatMap(({ text }) => textsIn(text)).filter((text) => texts.has(text));
      assert.deepEqual(back, [], 'What was deleted is back');
      await importAll(store, importer, pathsOf(importer, folder, records), { again: true, reread: true });
      await expectAsAtOnce(store, { importer, records }, 'after it was asked for again', { folder });
    },
  },
];

/** Whether a source grows by being written again, so that a record of it can change. */
const rewritten: readonly LawCase[] = [
  {
    id: 'rewritten/changed-record',
    title: 'a record that has changed is another version of its events; the others come in once',
    async check({ importer, records, random }) {
      if (!isRewritten(records)) return;
      using folder = new SourceFolder();
      await using store = openStore();
      folder.put(filesAfter(records));
      await importAll(store, importer, pathsOf(importer, folder, records));
      const before = await storedIn(store);
      let changed = records;
      for (let change = 1; change <= 2; change += 1) {
        const at = 2 + random.below(records.length - 2);
        changed = withRecord(changed, at, (record) => {
          const texts = placesIn(record).filter(
            (place) => textsIn(String(valueAt(record, place))).length > 0,
          );
          if (texts.length === 0) return record;
          return withValue(record, random.pick(texts), random.text()) as JsonObject;
        });
        folder.put(filesAfter(changed), 1_700_000_000 + change);
        await importAll(store, importer, pathsOf(importer, folder, changed));
      }
      const after = await storedIn(store);
      for (const [number, { events }] of before.entries())
        assert.deepEqual(
          after[number]?.events.slice(0, events.length),
          events,
          'Recorded events have changed',
        );
      const once = await importOnce(importer, changed);
      // What is named by its content stays, although nothing names it any more.
      const isItem = ({ type }: CapturedEvent) => !type.endsWith(':stored');
      const eventsOf = (stored: readonly StoredDispatch[]) =>
        stateOf(stored.map(({ envelope, events }) => ({ envelope, events: events.filter(isItem) }))).map(
          ({ byAgent, created }) => ({ byAgent, created }),
        );
      assert.deepEqual(eventsOf(after), eventsOf(once.stored), 'The last versions differ from the source');
    },
  },
];

/** Every case, in the order in which they run. */
export const lawCases: readonly LawCase[] = [
  ...complete,
  ...grown,
  ...hostile,
  ...detection,
  ...source,
  ...identity,
  ...rewritten,
  ...deleted,
];
