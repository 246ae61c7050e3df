import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startServer } from '@hansard/testing/postgres';
import { search as searchPostgres } from '../../plugins/store-postgres/test/simulation/search.ts';
import { search as searchSqlite } from '../../plugins/store-sqlite/test/simulation/search.ts';
import { runFacts } from './run-facts.ts';

/**
 * Simulates processes that share a database of store-sqlite or store-postgres, as their tests do, for many steps. Writes the figures into
 * `lease-simulation.json` again and again, so that an interrupted campaign keeps what it ran. Exits with 1 and the shortest schedule
 * if a promise was broken.
 *
 *     nice -n 19 pnpm campaign:leases --store sqlite --steps 10000000
 */
const { values } = parseArgs({
  options: {
    store: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    steps: { type: 'string', default: '10000000' },
    seed: { type: 'string', default: '1' },
  },
});
const steps = Number(values.steps);
const firstSeed = Number(values.seed);
if (!Number.isSafeInteger(firstSeed) || !(steps >= 1))
  throw new TypeError('--steps and --seed must be whole numbers from 1.');

const resultsFile = new URL('lease-simulation.json', import.meta.url);
const writeEvery = steps / 100;
const base = { processes: 3, dispatches: 2, leaseMs: 1_500, firstSeed, steps } as const;

type Counts = { readonly steps: number } & Readonly<Record<string, number>>;

/** Writes the figures of a store whenever it has made a hundredth of the steps. */
class Writer {
  readonly #store: string;
  readonly #started = performance.now();
  #schedules = 0;
  #nextAt = writeEvery;

  constructor(store: string) {
    this.#store = store;
  }

  readonly onProgress = (counts: Counts): void => {
    this.#schedules += 1;
    if (counts.steps < this.#nextAt) return;
    this.#nextAt = counts.steps + writeEvery;
    this.write(counts);
  };

  write(counts: Counts): void {
    const figures = {
      firstSeed,
      schedules: this.#schedules,
      ...counts,
      seconds: Math.round((performance.now() - this.#started) / 1_000),
      ...runFacts('leases'),
    };
    const before = JSON.parse(readFileSync(resultsFile, 'utf8'));
    writeFileSync(resultsFile, `${JSON.stringify({ ...before, [this.#store]: figures }, null, 2)}\n`);
    process.stderr.write(`${this.#store}: ${counts.steps} of ${steps} steps, every promise held\n`);
  }
}

for (const store of values.store) {
  const writer = new Writer(store);
  const { onProgress } = writer;
  const server = store === 'postgres' ? await startServer(['deadlock_timeout=20ms']) : null;
  const { found, counts } =
    server === null
      ? searchSqlite({ ...base, onProgress })
      : await searchPostgres({ ...base, url: server.url(), schema: 'simulation', onProgress });
  await server?.stop();
  if (found === null) writer.write(counts);
  else {
    process.stderr.write(`${found}\n`);
    process.exitCode = 1;
  }
}
