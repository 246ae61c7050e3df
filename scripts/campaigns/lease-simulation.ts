import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { search } from '../../plugins/store-sqlite/test/simulation/search.ts';
import type { SimulationCounts } from '../../plugins/store-sqlite/test/simulation/simulation.ts';

/**
 * Simulates processes that share a database of store-sqlite, as its test does, for many steps. Writes the figures into
 * `lease-simulation.json`, every million steps, so that an interrupted campaign keeps what it ran. Exits with 1 and the shortest schedule
 * if a promise was broken.
 *
 *     nice -n 19 pnpm campaign:leases --steps 10000000
 */
const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '10000000' },
    seed: { type: 'string', default: '1' },
  },
});
const steps = Number(values.steps);
const firstSeed = Number(values.seed);
if (!Number.isSafeInteger(firstSeed) || !(steps >= 1))
  throw new TypeError('--steps and --seed must be whole numbers from 1.');

const million = 1_000_000;
const started = performance.now();
let schedules = 0;
let nextAt = million;

function write(counts: SimulationCounts): void {
  const figures = {
    firstSeed,
    schedules,
    ...counts,
    seconds: Math.round((performance.now() - started) / 1_000),
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${process.platform}, Node.js ${process.version}`,
  };
  writeFileSync(
    new URL('lease-simulation.json', import.meta.url),
    `${JSON.stringify({ sqlite: figures }, null, 2)}\n`,
  );
  process.stderr.write(`${counts.steps} of ${steps} steps, every promise held\n`);
}

const { found, counts } = search({
  processes: 3,
  dispatches: 2,
  leaseMs: 1_500,
  firstSeed,
  steps,
  onProgress: (sofar) => {
    schedules += 1;
    if (sofar.steps < nextAt) return;
    nextAt = sofar.steps + million;
    write(sofar);
  },
});
if (found === null) write(counts);
else {
  process.stderr.write(`${found}\n`);
  process.exitCode = 1;
}
