import { readFileSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { differenceOf, readers, readWorld } from '../../apps/harness/test/trees/world-difference.ts';
import { runFacts } from './run-facts.ts';

/**
 * Compares what is read of random sessions of Claude Code with what their writer knows, as the test of trees does, for many seeds: sessions that go
 * back, fork and copy each other, imported while they grow. Writes the figures into `trees.json`, every 500 seeds, so that an interrupted campaign
 * keeps what it compared; `--first` continues. Exits with 1 if something was wrong.
 *
 *     nice -n 19 pnpm campaign:trees --seeds 10000
 */
const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '10000' }, first: { type: 'string', default: '1' } },
});
const resultsFile = new URL('trees.json', import.meta.url);
const [first, seeds] = [Number(values.first), Number(values.seeds)];
if (![first, seeds].every((number) => Number.isSafeInteger(number) && number > 0))
  throw new TypeError('--seeds and --first must be whole numbers from 1.');

interface Figures {
  readonly seeds: number;
  readonly sessions: number;
  readonly records: number;
  readonly wrong: number;
  readonly compared: Readonly<Record<string, number>>;
  /** In how many sessions each kind occurs. */
  readonly kinds: Readonly<Record<string, number>>;
  readonly pairs: number;
  readonly seconds: number;
}

const before = first === 1 ? null : (JSON.parse(readFileSync(resultsFile, 'utf8')) as Figures);
const compared = new Map(Object.entries(before?.compared ?? {}));
const kinds = new Map(Object.entries(before?.kinds ?? {}));
const pairs = new Set<string>();
let { sessions, records, wrong } = before ?? { sessions: 0, records: 0, wrong: 0 };
const started = performance.now();
const tools = { ...readers, onCompared: (what: string) => add(compared, what) };

for (let seed = first; seed < first + seeds; seed += 1) {
  const difference = await differenceAt(seed).catch((error: Error) => `${error.stack}`);
  if (difference !== null) {
    wrong += 1;
    process.stderr.write(`HANSARD_SEED=${seed}: ${difference}\n`);
  }
  // Objects behind weak references are released only when the event loop turns.
  await setImmediate();
  if (seed % 500 === 0 || seed === first + seeds - 1) write(seed);
}
if (wrong > 0) process.exitCode = 1;

async function differenceAt(seed: number): Promise<string | null> {
  const read = await readWorld(seed);
  await using _ = read.store;
  for (const { lines, agents, kinds: own } of read.made.sessions) {
    sessions += 1;
    records += lines.length + agents.reduce((sum, agent) => sum + agent.lines.length, 0);
    for (const kind of own) {
      add(kinds, kind);
      for (const other of own) if (kind < other) pairs.add(`${kind}, ${other}`);
    }
  }
  return await differenceOf(read, tools);
}

function write(seed: number): void {
  const inOrder = (map: ReadonlyMap<string, number>) => Object.fromEntries([...map].sort());
  const figures: Figures & ReturnType<typeof runFacts> = {
    ...{ seeds: seed, sessions, records, wrong, compared: inOrder(compared), kinds: inOrder(kinds) },
    pairs: Math.max(before?.pairs ?? 0, pairs.size),
    seconds: (before?.seconds ?? 0) + Math.round((performance.now() - started) / 1_000),
    ...runFacts('trees'),
  };
  writeFileSync(resultsFile, `${JSON.stringify(figures, null, 2)}\n`);
  process.stderr.write(`${seed} seeds, ${wrong} wrong\n`);
}

function add(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
