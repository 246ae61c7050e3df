// biome-ignore-all lint/suspicious/noTemplateCurlyInString: mutants replace pieces of sources.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SessionsFound } from '@hansard/compose/reading';
import { writeTrainingData } from '@hansard/datasets';
import {
  type DispatchStore,
  type ListedDispatch,
  openDispatchStore,
  openTaskSource,
  usageOf,
} from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { type CopyFinder, openCallEvents, sessionToCompare } from '@hansard/facts';
import { importLogs } from '@hansard/import';
import { createMemoryStore } from '@hansard/store-memory';
import { importMutated } from '@hansard/testing/mutants';
import { createLogIndex, JointLog } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import {
  CopiedSessions,
  cellsOf,
  currentRows,
  type OwnedEntry,
  ownedEntries,
  recordsOf,
} from './copied-sessions.ts';

const first = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const seeds = Number(process.env.HANSARD_SEEDS ?? 40);
const task = 'lab/copies';

/** Imports the files in stages, and in a random order at each. */
async function importGrowing(store: DispatchStore, made: CopiedSessions, folder: string): Promise<void> {
  const stages = 1 + made.below(3);
  for (let stage = 1; stage <= stages; stage += 1)
    for (const session of made.shuffled(made.sessions)) {
      const records = recordsOf(session);
      const shown = stage === stages ? records.length : made.below(records.length + 1);
      const path = join(folder, `${session.id}.jsonl`);
      // A file never shrinks, and one without a row of its own session is not known to be of it.
      if (stage < stages && shown < records.length && session.isOld) continue;
      writeFileSync(
        path,
        records
          .slice(0, Math.max(shown, written.get(path) ?? 0))
          .map((one) => `${JSON.stringify(one)}\n`)
          .join(''),
      );
      written.set(path, Math.max(shown, written.get(path) ?? 0));
      if ((written.get(path) ?? 0) === 0) continue;
      for await (const item of importLogs(store, [path], { task }))
        if (item.kind === 'failed') throw item.error;
    }
}

const written = new Map<string, number>();

interface World {
  readonly made: CopiedSessions;
  readonly store: DispatchStore;
  readonly listed: readonly ListedDispatch[];
}

async function inWorld<T>(seed: number, use: (world: World) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-copies-'));
  await using store = openDispatchStore(createMemoryStore());
  try {
    mkdirSync(folder, { recursive: true });
    const made = new CopiedSessions(seed);
    await importGrowing(store, made, folder);
    const listed: ListedDispatch[] = [];
    for await (const entry of store.dispatches()) if (!('error' in entry)) listed.push(entry);
    return await use({ made, store, listed });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const nameOf = ({ source }: DispatchEnvelope) => source?.files[0]?.name.replace('.jsonl', '');

async function usedCells(store: DispatchStore, dispatches: readonly ListedDispatch[]) {
  const { rows } = await usageOf(store, { by: ['day', 'model'], zone: 'utc', dispatches });
  const cells = rows.map(({ values, modelCalls, inputTokens, outputTokens }): [string, string] => [
    values.join(' '),
    `${modelCalls} calls, ${(inputTokens ?? 0) + (outputTokens ?? 0)}`,
  ]);
  return Object.fromEntries(
    cells.filter(([, cell]) => !cell.startsWith('0 ') && !cell.startsWith('null')).sort(),
  );
}

async function found(store: DispatchStore, text: string): Promise<number> {
  const search = new SessionsFound(store, {
    ...{ text, scope: null, limit: 5, withRecords: false, signal: new AbortController().signal },
    request: { isOpen: true } as never,
    onSession: async () => {},
    onIndexed: () => {},
  });
  let count = 0;
  for await (const { hits } of search.hits()) count += hits.length;
  return count;
}

/** The answers in rows, and those that are left out because they equal another one after an equal prompt. */
async function trained(store: DispatchStore): Promise<string[]> {
  const lines = writeTrainingData(await openTaskSource(store, task), { format: 'trl' });
  const ids: string[] = [];
  let next = await lines.next();
  for (; next.done !== true; next = await lines.next()) ids.push(JSON.parse(next.value).metadata.event_id);
  return [...ids, ...(next.value.dropped.duplicate?.first ?? [])].sort();
}

/** The answers that are still current in the session that has them first. */
function trainable(owned: readonly OwnedEntry[]): string[] {
  return owned
    .filter(({ entry }) => entry.kind === 'answer' || entry.kind === 'call')
    .filter(({ session, record }) => currentRows(session).some((row) => row.record === record))
    .map(({ record }) => String(record.uuid))
    .sort();
}

describe(`forks, copies and continuations (HANSARD_SEED=${first}, ${seeds} seeds)`, () => {
  it('count once in totals, days, searches, training rows and prompts, imported in any order and stage', async () => {
    for (let seed = first; seed < first + seeds; seed += 1)
      await inWorld(seed, async ({ made, store, listed }) => {
        const at = `HANSARD_SEED=${seed} HANSARD_SEEDS=1`;
        const owned = ownedEntries(made.sessions);
        expect(await usedCells(store, listed), at).toEqual(cellsOf(owned));
        // The envelopes are enough: an import has kept what is copied.
        const closed = listed.map(({ taskDir, dispatchId, envelope, lastActiveAt }) => ({
          ...{ taskDir, dispatchId, envelope, lastActiveAt },
          get log(): never {
            throw new Error(`The log of ${dispatchId} was read.`);
          },
        }));
        expect(await usedCells(store, closed), at).toEqual(cellsOf(owned));
        const seen = listed.filter(() => made.below(2) === 0);
        const names = new Set(seen.map(({ envelope }) => nameOf(envelope)));
        const some = made.sessions.filter(({ id }) => names.has(id));
        expect(await usedCells(store, seen), at).toEqual(cellsOf(ownedEntries(some)));
        for (const { entry } of [made.pick(owned), made.pick(owned)])
          if (entry.kind !== 'call')
            expect(await found(store, entry.word), `${at} ${entry.word}`).toBe(
              owned.filter(({ entry: { word } }) => word === entry.word).length,
            );
        expect(await trained(store), at).toEqual(trainable(owned));
        expect(await promptsIn(store, listed), at).toEqual(
          owned.flatMap(({ entry }) => (entry.kind === 'prompt' ? [entry.word] : [])).sort(),
        );
      });
  }, 600_000);
});

/** What is replaced in the comparison, once. */
const mutants: readonly (readonly [fault: string, piece: string, instead: string])[] = [
  [
    'only the first origin counts',
    "if (isReadableAs(event, 'session:fork') &&",
    "if (event.id === '' && isReadableAs(event, 'session:fork') &&",
  ],
  [
    'a session does not say where it continues',
    "if (event.type === 'system:continued_in' &&",
    "if (event.type === 'system:continued_out' &&",
  ],
  [
    'the greatest name has it',
    'sessionId <= this.#session(other).sessionId',
    'sessionId >= this.#session(other).sessionId',
  ],
  ['a fork without its origin is not a fork', 'this.#origins[one]?.size === 0 && ', ''],
  [
    'equal record ids prove nothing',
    'for (const name of reading.evidence) {',
    'for (const name of [] as string[]) {',
  ],
  [
    'equal message ids are enough',
    'related[session]} ${messageId}`;\n        const answer',
    '0} ${messageId}`;\n        const answer',
  ],
  [
    'content does not matter',
    'session === owner || areEqual(items, own)',
    'session === owner || items.length > 0',
  ],
  [
    'only the first equal part is looked for',
    'left = new Map([...left].filter(([session]) => !equal.some(([one]) => one === session)));',
    'left = new Map();',
  ],
  ['equal times prove nothing', 'if (timestamp !== null && content.size > 0)', 'if (timestamp === uuid)'],
  ['records have no place', '(one.item.names as string[]).push(`p:${one.place} ${messageId}`);', ';'],
  ['new versions are old ones', "version.startsWith('1.')", "version !== ''"],
  ['old versions are new ones', "version.startsWith('1.')", "version === ''"],
  [
    'calls are never copies',
    'if (original === undefined) {',
    'if (original === undefined || item.call !== undefined) {',
  ],
  ['the number of a block does not matter', '[`a:${key} ${name}`]', '[`a:${key}`]'],
];

const factsHome = join(import.meta.dirname, '../../../../packages/facts');

interface ReadWorld {
  readonly made: CopiedSessions;
  readonly read: readonly {
    readonly envelope: DispatchEnvelope;
    readonly events: readonly CapturedEvent[];
  }[];
}

let cached: Promise<ReadWorld[]> | null = null;

function worlds(): Promise<ReadWorld[]> {
  cached ??= (async () => {
    const all: ReadWorld[] = [];
    for (let seed = 1; seed <= 60; seed += 1)
      all.push(
        await inWorld(seed, async ({ made, store, listed }) => {
          const read = [];
          for (const { envelope } of listed) {
            const events = await store.getDispatchEvents(task, envelope.dispatchId);
            read.push({ envelope, events: [...events, ...openCallEvents(envelope, () => false)] });
          }
          return { made, read };
        }),
      );
    return all;
  })();
  return cached;
}

const compared = new Set([
  'user:message',
  'agent:text',
  'agent:tool_call',
  'agent:tool_result',
  'agent:inference',
]);

/** The first world in which a comparison of all sessions, or of every second one, is wrong. */
function wrongWorld(all: readonly ReadWorld[], Finder: typeof CopyFinder): number | null {
  const at = all.findIndex(({ made, read }) =>
    [0, 1].some((step) => {
      const seen = read.filter((_, number) => step === 0 || number % 2 === 0);
      const finder = new Finder();
      for (const { envelope, events } of seen) {
        finder.begin(sessionToCompare(envelope));
        for (const event of events) finder.add(event);
      }
      const copies = finder.find();
      const counted = seen.flatMap(({ envelope, events }) =>
        events
          .filter(
            ({ id, type }) =>
              compared.has(type) && !id.endsWith('.1') && !copies.get(envelope.dispatchId)?.copied.has(id),
          )
          .map(({ id }) => `${nameOf(envelope)} ${id}`),
      );
      const names = new Set(seen.map(({ envelope }) => nameOf(envelope)));
      const expected = ownedEntries(made.sessions.filter(({ id }) => names.has(id))).flatMap(
        ({ entry, session, record }) => [
          `${session.id} ${record.uuid}`,
          ...(entry.kind === 'answer' || entry.kind === 'call'
            ? [`${session.id} ${entry.messageId}:inference`]
            : []),
        ],
      );
      return counted.sort().join('\n') !== expected.sort().join('\n');
    }),
  );
  return at < 0 ? null : at + 1;
}

describe('the random copies', () => {
  it('are found by an unchanged copy of the comparison', async () => {
    const same = await importMutated(
      factsHome,
      ['copies.ts', 'class CopyFinder', 'class CopyFinder'],
      'copies.ts',
    );
    expect(wrongWorld(await worlds(), (same as { CopyFinder: typeof CopyFinder }).CopyFinder)).toBeNull();
  }, 300_000);

  it.each(mutants)(
    'are counted wrong where %s',
    async (_, piece, instead) => {
      const made = await importMutated(factsHome, ['copies.ts', piece, instead], 'copies.ts');
      expect(
        wrongWorld(await worlds(), (made as { CopyFinder: typeof CopyFinder }).CopyFinder),
      ).not.toBeNull();
    },
    300_000,
  );
});

async function promptsIn(store: DispatchStore, listed: readonly ListedDispatch[]): Promise<string[]> {
  const logs = [];
  for (const { envelope } of listed)
    logs.push({ envelope, index: createLogIndex(await store.getDispatchEvents(task, envelope.dispatchId)) });
  const words = new JointLog(logs)
    .dialog()
    .filter(({ copyOf, row }) => copyOf === null && row.event.type === 'user:message')
    .map(({ row }) => String(row.event.data.text));
  return words.sort();
}
