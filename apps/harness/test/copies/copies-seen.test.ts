import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as compose from '@hansard/compose/reading';
import type * as datasets from '@hansard/datasets';
import { checkPacket } from '@hansard/datasets/checking';
import {
  copiedEvents,
  type DispatchStore,
  type ListedDispatch,
  openDispatchStore,
  openTaskSource,
} from '@hansard/dispatch';
import type { TaskSource } from '@hansard/events';
import { formatSpending, nothingSpent, type PriceTable, shortId } from '@hansard/facts';
import { type ImportItem, importLogs } from '@hansard/import';
import { createMemoryStore } from '@hansard/store-memory';
import { importMutated } from '@hansard/testing/mutants';
import type * as traces from '@hansard/traces';
import type * as viewer from '@hansard/viewer';
import { type Row, renderRow } from '@hansard/views';
import { afterAll, describe, expect, it } from 'vitest';
import type * as reader from '../../src/commands/show/reader/read-log.ts';
import type * as trial from '../../src/import/trial-import.ts';
import { CopiedSessions, currentRows, type MadeSession, ownedEntries, recordsOf } from './copied-sessions.ts';

const first = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const seeds = Number(process.env.HANSARD_SEEDS ?? 2);
/** The worlds in which a mutant must be noticed. */
const known = [1, 2, 3, 4, 5, 6];
const task = 'lab/copies';

const dollarPerToken: PriceTable = {
  ...{ name: 'test', version: '1', date: '2026-01-01' },
  priceOf: ({ model, usage }) => ({ model, usd: usage.inputTokens + usage.outputTokens }),
};

interface World {
  readonly made: CopiedSessions;
  readonly store: DispatchStore;
  readonly items: readonly ImportItem[];
  readonly listed: readonly ListedDispatch[];
}

const opened = new Map<number, Promise<World>>();
afterAll(async () => {
  for (const world of opened.values()) await (await world).store.close();
});

/** The sessions of a seed, imported at once in a random order. */
function worldOf(seed: number): Promise<World> {
  const world = opened.get(seed) ?? makeWorld(seed);
  opened.set(seed, world);
  return world;
}

async function makeWorld(seed: number): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-copies-seen-'));
  try {
    const made = new CopiedSessions(seed);
    const store = openDispatchStore(createMemoryStore());
    const items: ImportItem[] = [];
    for (const session of made.shuffled(made.sessions)) {
      const path = join(folder, `${session.id}.jsonl`);
      const lines = recordsOf(session).map((record) => `${JSON.stringify(record)}\n`);
      writeFileSync(path, lines.join(''));
      for await (const item of importLogs(store, [path], { task, prices: dollarPerToken })) items.push(item);
    }
    const listed: ListedDispatch[] = [];
    for await (const entry of store.dispatches()) if (!('error' in entry)) listed.push(entry);
    return { made, store, items, listed };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const nameOf = ({ envelope }: ListedDispatch) => envelope.source?.files[0]?.name.replace('.jsonl', '');

function dispatchOf({ listed }: World, session: MadeSession): ListedDispatch {
  const found = listed.find((entry) => nameOf(entry) === session.id);
  if (found === undefined) throw new Error(`${session.id} was not imported.`);
  return found;
}

/** The words that a session has copied, its own words, and its own words on the current branch. */
function wordsOf({ made }: World, session: MadeSession) {
  const owners = new Map(ownedEntries(made.sessions).map((one) => [one.entry.key, one.session]));
  const isOwn = ({ entry }: MadeSession['rows'][number]) => owners.get(entry.key) === session;
  const words = (rows: MadeSession['rows']) => rows.map(({ entry }) => entry.word);
  return {
    copied: words(session.rows.filter((row) => !isOwn(row))),
    current: words(currentRows(session).filter(isOwn)),
    origins: session.rows.filter((row) => !isOwn(row)).map(({ entry }) => owners.get(entry.key)?.id),
  };
}

const found = (text: string) => new Set(text.match(/\bw\d+x\b/g) ?? []);

/** What is wrong with a text that should have exactly the own words of a session. */
function wrongWords(world: World, session: MadeSession, text: string): string[] {
  const { copied, current } = wordsOf(world, session);
  const shown = found(text);
  return [
    ...copied.filter((word) => shown.has(word)).map((word) => `${word} is copied and shown`),
    ...current.filter((word) => !shown.has(word)).map((word) => `${word} is not shown`),
  ];
}

/** The line for the head of a session, as `show` has it. */
function hasHeadLine(world: World, session: MadeSession, text: string): boolean {
  const ids = wordsOf(world, session).origins;
  return world.made.sessions
    .filter(({ id }) => ids.includes(id))
    .map((origin) => shortId(dispatchOf(world, origin).dispatchId))
    .some((origin) =>
      new RegExp(`the first (?:[\\d,]+ events are those|event is that) of ${origin}`).test(text),
    );
}

const isFork = (world: World, session: MadeSession) => wordsOf(world, session).copied.length > 0;

/** Looks at all sessions of a world with one consumer of copies, and reports the first fault. */
type Look<Module> = (world: World, module: Module) => Promise<string | null>;

const inViewer: Look<typeof viewer> = async (world, { createViewer }) => {
  const made = createViewer({ store: world.store });
  const running = await made.start();
  try {
    const read = async (path: string) => {
      const headers = { cookie: `hansard-${running.port}=${made.token}` };
      return (await fetch(`http://127.0.0.1:${running.port}/api/${path}`, { headers })).text();
    };
    const { cost } = JSON.parse(await read(`tree?task=${encodeURIComponent(task)}`));
    if (cost !== costOf(world.made)) return `all cost ${cost}, not ${costOf(world.made)}`;
    for (const session of world.made.sessions) {
      const place = `d/${encodeURIComponent(task)}/${dispatchOf(world, session).dispatchId}`;
      const rowsOf = (open: string) => read(`${place}/rows?from=0&n=500&open=${open}`);
      const folded = await rowsOf('');
      const [wrong] = wrongWords(world, session, folded);
      if (wrong !== undefined) return `${session.id}: ${wrong}`;
      if (hasHeadLine(world, session, folded) !== isFork(world, session)) return `${session.id}: the head`;
      const all = found(await rowsOf('all'));
      if (session.rows.some(({ entry }) => !all.has(entry.word))) return `${session.id}: it does not open`;
    }
    return null;
  } finally {
    await running.close();
  }
};

const inReader: Look<typeof reader> = async (world, { ReadLog }) => {
  for (const session of world.made.sessions) {
    const options = { isDamaged: false, onChange: () => {} };
    const read = await ReadLog.open(world.store, dispatchOf(world, session), options);
    const rows: Row[] = [];
    for (let at = await read.step(-1, 1); at !== null; at = await read.step(at.place, 1)) rows.push(at.row);
    read.close();
    const text = rows.map((row) => renderRow(row, { full: true })).join('\n');
    const [wrong] = wrongWords(world, session, text);
    if (wrong !== undefined) return `${session.id}: ${wrong}`;
    if (hasHeadLine(world, session, text) !== isFork(world, session)) return `${session.id}: the head`;
  }
  return null;
};

interface Pages {
  writeTaskMarkdown(source: TaskSource, options?: object): AsyncIterable<string>;
  writeTaskPage(source: TaskSource, options?: object): AsyncIterable<string>;
}

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

const inPages: Look<Pages> = async (world, { writeTaskMarkdown, writeTaskPage }) => {
  for (const wholeUpTo of [10_000, 3]) {
    const source = await openTaskSource(world.store, task);
    const leftOut = new Map<string, number>();
    const onLeftOut = (kind: string, count: number) => leftOut.set(kind, (leftOut.get(kind) ?? 0) + count);
    const options = { wholeUpTo, onLeftOut };
    const text = await textOf(writeTaskMarkdown(source, options));
    const markdown = text
      .split('### What happened')
      .slice(1)
      .map((section) => section.split('\n##')[0] ?? '');
    const html = await textOf(writeTaskPage(source, { wholeUpTo }));
    for (const [at, { dispatchId }] of source.envelopes.entries()) {
      const session = world.made.sessions.find((one) => dispatchOf(world, one).dispatchId === dispatchId);
      if (session === undefined) return `${dispatchId} was not made`;
      const rows = markdown[at] ?? '';
      const [wrong] = wrongWords(world, session, rows);
      if (wrong !== undefined) return `${session.id}: ${wrong} (${wholeUpTo})`;
      if (hasHeadLine(world, session, rows) !== isFork(world, session)) return `${session.id}: the head`;
    }
    const forks = world.made.sessions.filter((session) => isFork(world, session));
    const counted = leftOut.get('events that a fork repeats') ?? 0;
    const copied = forks.reduce((sum, session) => sum + wordsOf(world, session).copied.length, 0);
    if (counted < copied) return `${counted} copied events are counted, of ${copied} at least`;
    const heads = html.match(/the first (?:[\d,]+ events are those|event is that) of /g) ?? [];
    // An edited answer divides the rows of a head.
    const isRight = forks.length === 0 ? heads.length === 0 : heads.length >= forks.length;
    if (!isRight) return `${heads.length} heads on the page, of ${forks.length}`;
  }
  return null;
};

const mapping = {
  turn: { events: ['game:*'] },
  gameEvents: { events: ['game:*'] },
  chat: { utterances: true },
  actions: { Read: { type: 'read', payload: { file: 'file_path' } } },
};

const inPackets: Look<typeof datasets> = async (
  { made, store, ...world },
  { parseGameMapping, writeJudgePackets },
) => {
  const source = await openTaskSource(store, task);
  for (const session of made.sessions) {
    const listed = dispatchOf({ made, store, ...world }, session);
    const { dispatchId } = listed;
    const copied = await copiedEvents(store, listed, listed.envelope);
    const own = { ...source, copiedEvents: async () => copied };
    const pack = async (of: Pick<TaskSource, 'readEvents' | 'copiedEvents'>) => {
      const files = new Map<string, string>();
      const open = (name: string) => ({
        write: async (text: string) => void files.set(name, (files.get(name) ?? '') + text),
      });
      await writeJudgePackets(of, dispatchId, open, parseGameMapping(mapping));
      return files;
    };
    const whole = await pack({ readEvents: source.readEvents });
    const files = await pack(own);
    const { copied: words } = wordsOf({ made, store, ...world }, session);
    for (const pass of ['external', 'internal']) {
      // There is no internal packet that would equal the external one.
      if (pass === 'internal' && !files.has('internal.manifest.json')) continue;
      const [lines, manifest] = [
        files.get(`${pass}.jsonl`) ?? '',
        files.get(`${pass}.manifest.json`) ?? '{}',
      ];
      const expected = [...found(whole.get(`${pass}.jsonl`) ?? '')].filter((word) => !words.includes(word));
      if (expected.sort().join() !== [...found(lines)].sort().join()) return `${session.id}: ${pass} lines`;
      const { events, excluded } = JSON.parse(manifest);
      const refs = new Set(lines.match(/"ref":"\w+"/g) ?? []);
      if (excluded.copied_events < words.length)
        return `${session.id}: ${excluded.copied_events} are counted`;
      if (refs.size + excluded.copied_events + excluded.events_without_line !== events)
        return `${session.id}: sum`;
      const checked = await checkPacket({
        ...{ lines, manifest, dispatchId, mapping, copied },
        readEvents: () => source.readEvents(dispatchId),
      });
      const [problem] = checked.problems;
      if (problem !== undefined) return `${session.id}: ${problem.message}`;
    }
  }
  return null;
};

const inComparisons: Look<typeof compose> = async (world, { compareSessions }) => {
  for (const session of world.made.sessions)
    for (const other of world.made.sessions) {
      const keys = new Set(other.rows.map(({ entry }) => entry.key));
      const shared = session.rows.filter(({ entry }) => keys.has(entry.key)).map(({ entry }) => entry.key);
      if (session === other || shared.length === 0) continue;
      const [one, two] = [dispatchOf(world, session), dispatchOf(world, other)];
      const { head, firstDifference: difference } = await compareSessions(
        world.store,
        one.dispatchId,
        two.dispatchId,
      );
      const at = `${session.id} ${other.id}`;
      if (head?.fold.of !== 'copies' || head.fold.events < shared.length) return `${at}: the head`;
      if (head.fold.origin !== (head.in === 'one' ? two : one).dispatchId) return `${at}: the origin`;
      if (difference === null || difference.same !== 0) return `${at}: ${difference?.same} are the same`;
      for (const [of, event] of [
        [session, difference.one],
        [other, difference.other],
      ] as const) {
        const last = of.rows.findLastIndex(({ entry }) => shared.includes(entry.key));
        const next = of.rows[last + 1]?.record.uuid;
        if (next !== undefined && event?.id.startsWith(String(next)) !== true)
          return `${at}: not from ${next}`;
      }
    }
  return null;
};

const inTraces: Look<typeof traces> = async ({ made, store }, { traceDispatches }) => {
  const source = await openTaskSource(store, task);
  const left = new Map<string, number>();
  const onLeftOut = (kind: string, count: number) => left.set(kind, (left.get(kind) ?? 0) + count);
  let spans = 0;
  const tokens: number[] = [];
  const shown = new Set<string>();
  for await (const record of traceDispatches(source, { content: 'events', onLeftOut })) {
    if (record.kind === 'log')
      for (const word of found(JSON.stringify([record.log.body, record.log.attributes]))) shown.add(word);
    if (record.kind !== 'span' || record.span.attributes['gen_ai.operation.name'] !== 'chat') continue;
    spans += 1;
    const used = record.span.attributes['gen_ai.usage.input_tokens'];
    if (typeof used === 'number') tokens.push(used);
  }
  const owned = ownedEntries(made.sessions);
  const calls = owned.filter(({ entry }) => entry.kind === 'answer' || entry.kind === 'call');
  if (spans !== calls.length) return `${spans} spans of ${calls.length} calls`;
  for (const { entry } of calls) {
    const at = tokens.indexOf(entry.tokens);
    if (at >= 0) tokens.splice(at, 1);
  }
  if (tokens.length > 0) return `${tokens.length} usages too many`;
  const missing = owned.filter(({ entry }) => !shown.has(entry.word));
  if (missing.length > 0) return `${missing.length} words have no record`;
  const copied = made.sessions.reduce((sum, { rows }) => sum + rows.length, 0) - owned.length;
  const counted = left.get('events copied from another session') ?? 0;
  return counted < copied ? `${counted} events are left out, of ${copied} at least` : null;
};

/** What all calls of the sessions cost, each once. */
function costOf({ sessions }: CopiedSessions): string | null {
  const calls = ownedEntries(sessions).filter(({ entry: { kind } }) => kind === 'answer' || kind === 'call');
  const usd = calls.reduce((sum, { entry: { tokens } }) => sum + 3 * tokens, 0);
  return formatSpending({ ...nothingSpent, estimatedUsd: usd });
}

const inTrials: Look<typeof trial> = async ({ made, store, items }, { Trial }) => {
  await using real = openDispatchStore(createMemoryStore());
  const dry = new Trial(store, real, join(tmpdir(), 'hansard-no-such-folder'));
  for (const item of items) if (item.kind === 'imported' || item.kind === 'unchanged') await dry.row(item);
  const [note = ''] = await dry.notes();
  const cost = costOf(made);
  const sessions = `${made.sessions.length} new session`;
  return note.includes(sessions) && note.includes(`which cost ${cost}`) ? null : `${note} not ${cost}`;
};

const packages = join(import.meta.dirname, '../../../../packages');
const homes = {
  viewer: join(packages, 'viewer'),
  pages: join(packages, 'pages'),
  datasets: join(packages, 'datasets'),
  compose: join(packages, 'compose'),
  traces: join(packages, 'traces'),
  harness: join(import.meta.dirname, '../..'),
};

interface Consumer {
  readonly name: string;
  readonly home: string;
  readonly entry: string;
  readonly look: Look<never>;
  readonly mutants: readonly (readonly [fault: string, file: string, piece: string, instead: string])[];
}

const consumers: readonly Consumer[] = [
  {
    ...{ name: 'the viewer', home: homes.viewer, entry: 'index.ts', look: inViewer },
    mutants: [
      ['looks at one session only', 'server/viewed-store.ts', '{ among: this.#store }', '{}'],
      [
        'sums up envelopes',
        'server/lenses/lens-routes.ts',
        'usageOf(store, { dispatches })',
        'usageOf(store, { dispatches: dispatches.map((one) => ({ ...one, envelope: { ...one.envelope, source: null } })) })',
      ],
      ['forgets the copies', 'server/log-rows.ts', 'reach }, copied)', 'reach }, null)'],
    ],
  },
  {
    ...{ name: 'the reader', home: homes.harness, entry: 'commands/show/reader/read-log.ts', look: inReader },
    mutants: [
      [
        'does not look for copies',
        'commands/show/reader/read-log.ts',
        '(source?.copies?.events ?? 0) > 0',
        'false',
      ],
      ['looks at one session only', 'commands/show/reader/read-log.ts', '{ among, reach,', '{ reach,'],
    ],
  },
  {
    ...{ name: 'a report', home: homes.pages, entry: 'index.ts', look: inPages },
    mutants: [
      [
        'of short sessions has copies',
        'dispatch-report.ts',
        'pages }, reach, copied);\n        yield',
        'pages }, reach);\n        yield',
      ],
      [
        'of long sessions has copies',
        'dispatch-report.ts',
        'if (copied === null && isCounted',
        'if (isCounted',
      ],
    ],
  },
  {
    ...{ name: 'a packet', home: homes.datasets, entry: 'index.ts', look: inPackets },
    mutants: [
      ['has the head', 'judging/judge-packets.ts', 'if (this.#copied.has(eventId)) return [];', ''],
      ['does not count the head', 'judging/judge-packets.ts', 'this.#copies += 1', 'this.#copies += 0'],
      [
        'counts the head twice',
        'judging/judge-packets.ts',
        'this.#events - this.#copies -',
        'this.#events -',
      ],
    ],
  },
  {
    ...{ name: 'a comparison', home: homes.compose, entry: 'reading.ts', look: inComparisons },
    mutants: [
      ['begins with the head', 'reading/compare-sessions.ts', ', shared?.after)', ')'],
      [
        'takes the origin for the fork',
        'reading/compare-sessions.ts',
        "in: isOne ? 'one'",
        "in: !isOne ? 'one'",
      ],
      [
        'begins with what the origin left',
        'reading/compare-sessions.ts',
        'after.clear();',
        'after.delete(position);',
      ],
    ],
  },
  {
    ...{ name: 'a trace', home: homes.traces, entry: 'index.ts', look: inTraces },
    mutants: [
      [
        'has the head of each fork',
        'trace-dispatches.ts',
        'if (copied.has(event.id)) {',
        'if (copied.has(event.type)) {',
      ],
      [
        'does not say what it leaves out',
        'trace-dispatches.ts',
        "options.onLeftOut?.('events copied from another session', 1);",
        '',
      ],
    ],
  },
  {
    ...{ name: 'a trial', home: homes.harness, entry: 'import/trial-import.ts', look: inTrials },
    mutants: [
      [
        'counts the head twice',
        'import/trial-import.ts',
        '(await copies.without(entry))?.envelope ?? entry.envelope',
        'entry.envelope',
      ],
    ],
  },
];

/** The first world in which a consumer of copies is wrong. Null: none. */
async function wrongWith(
  { look, home, entry }: Consumer,
  change: readonly [string, string, string],
  worlds: readonly number[],
) {
  const module = await importMutated(home, [...change], entry);
  for (const seed of worlds) {
    const wrong = await look(await worldOf(seed), module as never);
    if (wrong !== null) return `HANSARD_SEED=${seed}: ${wrong}`;
  }
  return null;
}

describe.each(consumers)(`$name of copied sessions (HANSARD_SEED=${first}, ${seeds} seeds)`, (consumer) => {
  it('has the own words of a session, and names the head that it repeats', async () => {
    const [[, file, piece] = ['', '', '']] = consumer.mutants;
    const worlds = [...known, ...Array.from({ length: seeds }, (_, at) => first + at)];
    expect(await wrongWith(consumer, [file, piece, piece], worlds)).toBeNull();
  }, 60_000);

  it.each(consumer.mutants)(
    'is caught if it %s',
    async (_, file, piece, instead) => {
      expect(await wrongWith(consumer, [file, piece, instead], known)).not.toBeNull();
    },
    60_000,
  );
});
