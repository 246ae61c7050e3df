import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { search } from '../../plugins/store-jsonfile/test/simulation/search.ts';
import type { SimulationCounts } from '../../plugins/store-jsonfile/test/simulation/simulation.ts';

/**
 * Simulates processes, a disk and clocks under store-jsonfile, as its test does, for many steps. Writes the figures into
 * `simulation.json`, every million steps, so that an interrupted campaign keeps what it ran. Exits with 1 and the shortest schedule if a
 * promise was broken.
 *
 *     nice -n 19 pnpm campaign:simulation --steps 100000000
 */
const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '100000000' },
    seed: { type: 'string', default: '1' },
    durability: { type: 'string', multiple: true, default: ['process', 'disk'] },
  },
});
const resultsFile = new URL('simulation.json', import.meta.url);
const million = 1_000_000;
const steps = Number(values.steps) / values.durability.length;
const firstSeed = Number(values.seed);
if (!Number.isSafeInteger(firstSeed) || !(steps >= 1))
  throw new TypeError('--steps and --seed must be whole numbers from 1.');

for (const durability of values.durability) {
  if (durability !== 'process' && durability !== 'disk')
    throw new TypeError(`There is no durability ${durability}: use process or disk.`);
  const started = performance.now();
  let schedules = 0;
  let nextAt = million;
  const write = (counts: SimulationCounts) => {
    const before = JSON.parse(readFileSync(resultsFile, 'utf8')) as Record<string, unknown>;
    const figures = {
      firstSeed,
      schedules,
      ...counts,
      seconds: Math.round((performance.now() - started) / 1_000),
      date: new Date().toISOString().slice(0, 10),
      commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
      machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${process.platform}, Node.js ${process.version}`,
    };
    writeFileSync(resultsFile, `${JSON.stringify({ ...before, [durability]: figures }, null, 2)}\n`);
    process.stderr.write(`${durability}: ${counts.steps} of ${steps} steps, every promise held\n`);
  };
  const { found, counts } = search({
    processes: 3,
    dispatches: 2,
    leaseMs: 1_500,
    durability,
    firstSeed,
    steps,
    onProgress: (counts) => {
      schedules += 1;
      if (counts.steps < nextAt) return;
      nextAt = counts.steps + million;
      write(counts);
    },
  });
  if (found === null) write(counts);
  else {
    process.stderr.write(`${found.text}\n`);
    process.exitCode = 1;
    break;
  }
}
