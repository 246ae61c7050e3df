import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { search } from '../../plugins/store-jsonfile/test/simulation/search.ts';
import {
  noSimulationCounts,
  type SimulationCounts,
} from '../../plugins/store-jsonfile/test/simulation/simulation.ts';
import { runFacts } from './run-facts.ts';

interface Figures extends SimulationCounts {
  readonly firstSeed: number;
  readonly schedules: number;
  readonly seconds: number;
}

/**
 * Simulates processes, a disk and clocks under store-jsonfile, as its test does, for many steps. Writes the figures into
 * `simulation.json`, every million steps, so that an interrupted campaign keeps what it ran. Exits with 1 and the shortest schedule if a
 * promise was broken.
 *
 *     nice -n 19 pnpm campaign:simulation --steps 100000000
 *     nice -n 19 pnpm campaign:simulation --steps 100000000 --continue    adds to the figures of before, from the next seed on
 */
const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '100000000' },
    seed: { type: 'string', default: '1' },
    durability: { type: 'string', multiple: true, default: ['process', 'disk'] },
    continue: { type: 'boolean', default: false },
  },
});
const resultsFile = new URL('simulation.json', import.meta.url);
const million = 1_000_000;
const steps = Number(values.steps) / values.durability.length;
const seed = Number(values.seed);
if (!Number.isSafeInteger(seed) || !(steps >= 1))
  throw new TypeError('--steps and --seed must be whole numbers from 1.');

for (const durability of values.durability) {
  if (durability !== 'process' && durability !== 'disk')
    throw new TypeError(`There is no durability ${durability}: use process or disk.`);
  const started = performance.now();
  const earlier = values.continue ? readFigures()[durability] : undefined;
  const before = earlier ?? { firstSeed: seed, schedules: 0, seconds: 0, ...noSimulationCounts };
  let schedules = 0;
  let nextAt = million;
  const write = (counts: SimulationCounts) => {
    const figures = {
      firstSeed: before.firstSeed,
      schedules: before.schedules + schedules,
      ...sumOf(before, counts),
      seconds: before.seconds + Math.round((performance.now() - started) / 1_000),
      ...runFacts('simulation'),
    };
    writeFileSync(resultsFile, `${JSON.stringify({ ...readFigures(), [durability]: figures }, null, 2)}\n`);
    process.stderr.write(`${durability}: ${figures.steps} of ${steps} steps, every promise held\n`);
  };
  const { found, counts } = search({
    processes: 3,
    dispatches: 2,
    leaseMs: 1_500,
    durability,
    firstSeed: before.firstSeed + before.schedules,
    steps: steps - before.steps,
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

function readFigures(): Record<string, Figures | undefined> {
  return JSON.parse(readFileSync(resultsFile, 'utf8'));
}

function sumOf(left: SimulationCounts, right: SimulationCounts): SimulationCounts {
  const names = Object.keys(noSimulationCounts) as (keyof SimulationCounts)[];
  return Object.fromEntries(
    names.map((name) => [name, (left[name] ?? 0) + right[name]]),
  ) as unknown as SimulationCounts;
}
