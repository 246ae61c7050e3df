import { readFileSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { compareSeed } from '../../packages/session/test/truth/compare-seed.ts';
import { comparedKinds, noComparisons } from '../../packages/session/test/truth/compare-views.ts';
import { compareConcurrently } from '../../packages/session/test/truth/concurrent/compare-concurrently.ts';
import { type TruthStore, truthStores } from '../../packages/session/test/truth/concurrent/truth-store.ts';
import { runFacts } from './run-facts.ts';

/**
 * Compares the views with random sessions whose true course is known, as the truth test does, for many seeds and in each store.
 * Writes the figures of each store into `truth.json`, every 500 seeds, so that an interrupted campaign keeps what it compared. Exits with
 * 1 if a view was wrong. With `--concurrent`: sessions of several threads, with people, reviews, stops, kills, rewinds and budgets.
 *
 *     nice -n 19 pnpm campaign:truth --seeds 10000 --store memory --store sqlite
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    concurrent: { type: 'boolean', default: false },
    store: { type: 'string', multiple: true, default: truthStores },
  },
});
const resultsFile = new URL('truth.json', import.meta.url);
const seeds = Number(values.seeds);
if (!Number.isSafeInteger(seeds) || seeds < 1) throw new TypeError('--seeds must be a whole number from 1.');

for (const name of values.store) {
  const store = truthStores.find((known) => known === name);
  if (store === undefined) throw new TypeError(`There is no store ${name}: use ${truthStores.join(', ')}.`);
  await (values.concurrent ? compareAtOnce(store) : compareMany(store));
}

async function compareMany(store: TruthStore): Promise<void> {
  const facts = runFacts('truth');
  const started = performance.now();
  const found = noComparisons();
  let events = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    events += (await compareSeed(seed, store, found)).events.length;
    // Objects behind weak references are released only when the event loop turns.
    await setImmediate();
    if (seed % 500 !== 0 && seed !== seeds) continue;
    write(store, {
      seeds: seed,
      events,
      wrong: wrongIn(found),
      compared: Object.fromEntries(comparedKinds.map((kind) => [kind, found[kind].compared])),
      seconds: Math.round((performance.now() - started) / 1_000),
      ...facts,
    });
    process.stderr.write(`${store}: ${seed} of ${seeds} seeds, ${wrongIn(found)} wrong\n`);
  }
  const wrong = comparedKinds.flatMap((kind) => found[kind].wrong.map((words) => `${kind}: ${words}`));
  for (const words of wrong.slice(0, 20)) process.stderr.write(`${words}\n`);
  if (wrong.length > 0) process.exitCode = 1;
}

async function compareAtOnce(store: TruthStore): Promise<void> {
  const facts = runFacts('truth');
  const started = performance.now();
  const all = Array.from({ length: seeds }, (_, index) => index + 1);
  const { wrong } = await compareConcurrently(store, all, (seed, compared) => {
    const { counts, happened, events } = compared;
    if (seed % 500 !== 0 && seed !== seeds) return;
    const seconds = Math.round((performance.now() - started) / 1_000);
    const figures = {
      seeds: seed,
      events,
      wrong: compared.wrong.length,
      compared: counts,
      happened,
      seconds,
    };
    write(`${store}, at once`, { ...figures, ...facts });
    process.stderr.write(`${store}: ${seed} of ${seeds} seeds, ${compared.wrong.length} wrong\n`);
  });
  for (const words of wrong.slice(0, 20)) process.stderr.write(`${words}\n`);
  if (wrong.length > 0) process.exitCode = 1;
}

function write(store: string, figures: object): void {
  const before = JSON.parse(readFileSync(resultsFile, 'utf8')) as Record<string, unknown>;
  writeFileSync(resultsFile, `${JSON.stringify({ ...before, [store]: figures }, null, 2)}\n`);
}

function wrongIn(found: ReturnType<typeof noComparisons>): number {
  return comparedKinds.reduce((sum, kind) => sum + found[kind].wrong.length, 0);
}
