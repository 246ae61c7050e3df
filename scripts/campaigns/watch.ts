import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type DispatchStore, openDispatchStore } from '../../packages/dispatch/src/index.ts';
import { importLogs } from '../../packages/import/src/index.ts';
import { randomFrom } from '../../packages/testing/src/index.ts';
import { openJsonFileStore } from '../../plugins/store-jsonfile/src/index.ts';
import { createMemoryStore } from '../../plugins/store-memory/src/index.ts';
import { root } from '../workspace.ts';
import { runFacts } from './run-facts.ts';

/**
 * Runs `hansard watch` as a process beside random changes of real files, and kills it every 200 changes. Sessions of Claude Code grow, begin, move, are
 * compressed, replaced and deleted; documents of Gemini CLI are written again. The truth is another store, into which every version of the files that
 * matters is imported at once. At the end both stores must be equal, and exactly the sessions without a file must be marked as gone. Prints the
 * figures, and writes them into `watch.json`. Exits with 1 at a difference.
 *
 *     nice -n 10 pnpm campaign:watch --changes 10000
 */
const { values } = parseArgs({
  options: { changes: { type: 'string', default: '1000' }, seed: { type: 'string', default: '37' } },
});
const changes = Number(values.changes);
const changesUntilKill = 200;
const random = randomFrom(Number(values.seed));
const below = (limit: number) => Math.floor(random() * limit);
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;

const place = mkdtempSync(join(tmpdir(), 'hansard-watch-campaign-'));
const home = join(place, 'home');
const claude = join(home, '.claude/projects');
const gemini = join(home, '.gemini/tmp/house/chats');
for (const folder of [claude, gemini]) mkdirSync(folder, { recursive: true });

interface Source {
  readonly id: string;
  readonly product: 'claude' | 'gemini';
  /** Null: deleted. */
  path: string | null;
  rows: number;
  /** How often it was replaced. */
  edition: number;
  texts: string[];
}

const sources: Source[] = [];
const counts: Record<string, number> = {};
const number = (digits: number, value: number) => String(value).padStart(digits, '0');
const timeOf = (row: number) => new Date(Date.UTC(2026, 2, 1, 9) + row * 1_000).toISOString();

function claudeRows({ id, edition }: Source, from: number, count: number): string {
  const uuid = (row: number) => `${id.slice(0, 8)}-000${edition % 10}-4000-8000-${number(12, row)}`;
  return Array.from({ length: count }, (_, at) => {
    const row = from + at;
    const message =
      row % 2 === 0
        ? { role: 'user', content: `prompt ${row} of ${id}` }
        : {
            id: `msg_${id}_${edition}_${row}`,
            role: 'assistant',
            model: 'claude-opus-4-6',
            content: [{ type: 'text', text: `answer ${row}` }],
            stop_reason: 'end_turn',
            usage: { input_tokens: 10 + row, output_tokens: 5 },
          };
    return `${JSON.stringify({
      ...{ type: row % 2 === 0 ? 'user' : 'assistant', uuid: uuid(row), isSidechain: false },
      ...{ parentUuid: row === 0 ? null : uuid(row - 1), cwd: '/work/shop', sessionId: id },
      ...{ timestamp: timeOf(row), message },
    })}\n`;
  }).join('');
}

function geminiDocument({ id, texts }: Source): string {
  const messages = texts.map((text, row) =>
    row % 2 === 0
      ? { id: `u${row}`, timestamp: timeOf(row), type: 'user', content: text }
      : {
          ...{ id: `g${row}`, timestamp: timeOf(row), type: 'gemini', content: text, model: 'gemini-3-pro' },
          tokens: { input: 10, output: 5, cached: 0, thoughts: 0, tool: 0, total: 15 },
        },
  );
  const facts = {
    sessionId: id,
    projectHash: 'house',
    startTime: timeOf(0),
    lastUpdated: timeOf(texts.length),
  };
  return JSON.stringify({ ...facts, messages });
}

/** Half of the programs replace a file by another one, and half write into it. */
function replace(path: string, content: string): void {
  if (random() < 0.5) writeFileSync(path, content);
  else {
    writeFileSync(`${path}.new`, content);
    renameSync(`${path}.new`, path);
  }
}

const live = (product?: Source['product']) =>
  sources.filter((one) => one.path !== null && (product === undefined || one.product === product));
const plain = () => live('claude').filter(({ path }) => path?.endsWith('.jsonl'));

/** The changes, with how often each is made. Those that take something away come after everything before was stored. */
const operations: readonly {
  name: string;
  weight: number;
  isSettledBefore: boolean;
  make: () => string | null;
}[] = [
  { name: 'append', weight: 60, isSettledBefore: false, make: append },
  { name: 'begin', weight: 10, isSettledBefore: false, make: begin },
  { name: 'move', weight: 6, isSettledBefore: false, make: move },
  { name: 'compress', weight: 4, isSettledBefore: false, make: compress },
  { name: 'rewrite', weight: 12, isSettledBefore: true, make: rewrite },
  { name: 'replace', weight: 3, isSettledBefore: true, make: replaceSession },
  { name: 'truncate', weight: 2, isSettledBefore: true, make: truncate },
  { name: 'delete', weight: 3, isSettledBefore: true, make: remove },
];

function append(): string | null {
  const some = plain();
  if (some.length === 0) return null;
  const source = pick(some);
  const count = 1 + below(4);
  appendFileSync(source.path as string, claudeRows(source, source.rows, count));
  source.rows += count;
  return source.path ?? source.id;
}

function begin(): string | null {
  const at = sources.length;
  const id = `${number(8, at)}-0000-4000-8000-${number(12, at)}`;
  const product = random() < 0.8 ? 'claude' : 'gemini';
  const path =
    product === 'claude'
      ? join(claude, `-work-${below(8)}`, `${id}.jsonl`)
      : join(gemini, `session-2026-03-01T09-00-${id.slice(0, 8)}.json`);
  const source: Source = { id, product, path, rows: 2, edition: 0, texts: ['Go.', 'Yes.'] };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, product === 'claude' ? claudeRows(source, 0, 2) : geminiDocument(source));
  sources.push(source);
  return source.path ?? source.id;
}

function move(): string | null {
  const some = live('claude');
  if (some.length === 0) return null;
  const source = pick(some);
  const path = join(claude, `-work-${below(8)}`, basename(source.path as string));
  mkdirSync(dirname(path), { recursive: true });
  renameSync(source.path as string, path);
  source.path = path;
  return source.path ?? source.id;
}

function compress(): string | null {
  const some = plain();
  if (some.length === 0) return null;
  const source = pick(some);
  const path = source.path as string;
  writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)));
  rmSync(path);
  source.path = `${path}.gz`;
  return source.path ?? source.id;
}

function rewrite(): string | null {
  const some = live('gemini');
  if (some.length === 0) return null;
  const source = pick(some);
  if (random() < 0.5) source.texts.push(`text ${source.texts.length}`, `answer ${below(1_000)}`);
  else source.texts[below(source.texts.length)] = `changed ${below(1_000_000)}`;
  replace(source.path as string, geminiDocument(source));
  return source.path ?? source.id;
}

/** The file gets another history of the same session. */
function replaceSession(): string | null {
  const some = plain();
  if (some.length === 0) return null;
  const source = pick(some);
  source.edition += 1;
  source.rows = 2 + below(4);
  replace(source.path as string, claudeRows(source, 0, source.rows));
  return source.path ?? source.id;
}

function truncate(): string | null {
  const some = plain().filter(({ rows }) => rows > 4);
  if (some.length === 0) return null;
  const source = pick(some);
  source.rows -= 1 + below(3);
  replace(source.path as string, claudeRows(source, 0, source.rows));
  return source.path ?? source.id;
}

function remove(): string | null {
  const some = live();
  if (some.length < 3) return null;
  const source = pick(some);
  rmSync(source.path as string);
  source.path = null;
  return source.path ?? source.id;
}

const bin = fileURLToPath(new URL('../../apps/harness/src/bin.ts', import.meta.url));
const env = { PATH: process.env.PATH, HOME: home, TZ: 'UTC', HANSARD_MACHINE: 'lab' };
const printed: string[] = [];
/** The last changes. */
const recent: string[] = [];

function startWatch(): ChildProcess {
  const args = ['--conditions=@hansard/source', bin, 'watch', '--quiet', '--root', place];
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr?.on('data', (text) => printed.push(String(text)));
  return child;
}

/** Handles, watches and kilobytes of a process. */
function resourcesOf({ pid }: ChildProcess): { handles: number; watches: number; kilobytes: number } {
  const at = (name: string) => `/proc/${pid}/${name}`;
  const handles = readdirSync(at('fd'));
  const info = handles.map((name) => readFileSync(at(`fdinfo/${name}`), 'utf8')).join('\n');
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(at('status'), 'utf8'))?.[1]);
  return { handles: handles.length, watches: info.match(/^inotify /gm)?.length ?? 0, kilobytes };
}

const store = openDispatchStore(openJsonFileStore({ root: join(place, '.projects') }));
const truth = openDispatchStore(createMemoryStore());
const latencies: number[] = [];

/** What the envelopes of a store say of each session: how far its log is counted, and with which figures. */
async function countedIn(
  some: DispatchStore,
): Promise<{ counted: Map<string, string>; gone: string[]; lost: number }> {
  const counted = new Map<string, string>();
  const gone: string[] = [];
  let lost = 0;
  for await (const entry of some.dispatches()) {
    if ('error' in entry) throw entry.error;
    const { folded, usage, source } = entry.envelope;
    counted.set(entry.dispatchId, JSON.stringify([folded?.through, folded?.eventId, usage]));
    if (source?.gone !== undefined) gone.push(source.path ?? '');
    else if (!existsSync(source?.path ?? '')) lost += 1;
  }
  return { counted, gone, lost };
}

/** Whether the store has what the truth has, names an existing file for each session, and marks those without one. */
async function isSettled(): Promise<boolean> {
  const [ours, theirs] = [await countedIn(store), await countedIn(truth)];
  if (ours.lost > 0 || ours.gone.length !== sources.length - live().length) return false;
  return (
    ours.counted.size === theirs.counted.size &&
    [...theirs.counted].every(([id, one]) => ours.counted.get(id) === one)
  );
}

async function settle(): Promise<void> {
  const begun = performance.now();
  const folders = [
    ...(live('claude').length > 0 ? [claude] : []),
    ...(live('gemini').length > 0 ? [gemini] : []),
  ];
  for await (const item of importLogs(truth, folders)) if (item.kind === 'failed') throw item.error;
  while (!(await isSettled())) {
    if (performance.now() - begun > 90_000) throw new Error(`Not stored in 90 s: ${await difference()}`);
    await wait(40);
  }
  latencies.push(performance.now() - begun);
}

async function difference(): Promise<string> {
  const [ours, theirs] = [await countedIn(store), await countedIn(truth)];
  const ids = [...theirs.counted].filter(([id, one]) => ours.counted.get(id) !== one);
  const others = ids.map(([id, one]) => `${id}: at once ${one}, watched ${ours.counted.get(id)}`);
  const more = [...ours.counted.keys()]
    .filter((id) => !theirs.counted.has(id))
    .map((id) => `${id} only here`);
  const wrong = ours.gone.filter((path) => live().some(({ id }) => path.includes(id.slice(0, 8))));
  const head = `lost ${ours.lost}, gone ${ours.gone.length} of ${sources.length - live().length}, in ${place}`;
  return [head, ...others, ...more, ...wrong, ...recent, ...printed].join('\n');
}

/** The sessions of a store: their events in order, and their figures. */
async function contentOf(some: DispatchStore): Promise<Map<string, string>> {
  const content = new Map<string, string>();
  for await (const entry of some.dispatches()) {
    if ('error' in entry) throw entry.error;
    const { usage, models, title, cwd, cost } = entry.envelope;
    const events = await some.getDispatchEvents(entry);
    // A session stays in the task of its first import, which can be that of a folder that it has left since.
    content.set(entry.dispatchId, JSON.stringify({ usage, models, title, cwd, cost, events }));
  }
  return content;
}

const started = performance.now();
let watcher = startWatch();
const resources: ReturnType<typeof resourcesOf>[] = [];
let kills = 0;
try {
  for (let change = 1; change <= changes; ) {
    const total = operations.reduce((sum, { weight }) => sum + weight, 0);
    let at = below(total);
    const operation = operations.find(({ weight }) => {
      at -= weight;
      return at < 0;
    });
    if (operation === undefined) continue;
    if (operation.isSettledBefore) await settle();
    const made = operation.make();
    if (made === null) continue;
    recent.push(`${change} ${operation.name} ${made}`);
    if (recent.length > 20) recent.shift();
    counts[operation.name] = (counts[operation.name] ?? 0) + 1;
    if (operation.isSettledBefore) {
      // A file that became shorter changes nothing that could be waited for.
      if (operation.name === 'truncate' || operation.name === 'replace') await wait(1_500);
      await settle();
    } else if (random() < 0.3) await wait(below(400));
    if (change % changesUntilKill === 0) {
      if (change % (5 * changesUntilKill) === 0) await settle();
      resources.push(resourcesOf(watcher));
      watcher.kill('SIGKILL');
      await once(watcher, 'exit');
      kills += 1;
      for (let more = below(5); more > 0; more -= 1) append();
      watcher = startWatch();
    }
    change += 1;
  }
  await settle();
  // It compares sessions when nothing has changed for ten seconds.
  await wait(15_000);
  resources.push(resourcesOf(watcher));
} finally {
  watcher.kill('SIGTERM');
  await once(watcher, 'exit');
}
const [ours, theirs] = [await contentOf(store), await contentOf(truth)];
const different = [...new Set([...ours.keys(), ...theirs.keys()])].filter(
  (key) => ours.get(key) !== theirs.get(key),
);
const marked = new Set<string>();
for await (const entry of store.dispatches())
  if (!('error' in entry) && entry.envelope.source?.gone !== undefined)
    marked.add(entry.envelope.source.path ?? '');
const gone = sources.filter(({ path }) => path === null).length;
latencies.sort((one, other) => one - other);
const figures = {
  ...runFacts('watch'),
  seed: Number(values.seed),
  changes,
  ...{ kinds: counts, kills, sessions: ours.size, gone, marked: marked.size, different: different.length },
  storedAfterMs: {
    median: Math.round(latencies[Math.floor(latencies.length / 2)] ?? 0),
    most: Math.round(latencies.at(-1) ?? 0),
  },
  afterFirst: resources[Math.min(resources.length - 1, Math.ceil(1_000 / changesUntilKill) - 1)],
  atEnd: resources.at(-1),
  seconds: Math.round((performance.now() - started) / 1_000),
};
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
for (const key of different.slice(0, 3))
  process.stdout.write(`${key}\n  watched ${ours.get(key)}\n  at once ${theirs.get(key)}\n`);
writeFileSync(new URL('watch.json', import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
await store.close();
await truth.close();
rmSync(place, { recursive: true, force: true });
if (different.length > 0 || gone !== marked.size || printed.length > 0) {
  process.stdout.write(printed.join(''));
  process.exitCode = 1;
}
