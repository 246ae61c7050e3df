import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { compareGame } from '../../packages/datasets/test/game-streams/compare-game.ts';
import { randomFrom } from '../../packages/testing/src/made-events.ts';
import { killSession, killWriters } from '../../plugins/comm-streams/test/kill-writers.ts';

/**
 * Writes random games as streams, reads them back and writes them again, for many seeds; then kills processes that write live streams and session
 * logs, of games and of sessions whose agents speak at once. Prints the figures as JSON. Exits with 1 if anything differed.
 *
 *     nice -n 19 pnpm campaign:streams --seeds 2000 --kills 200
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
  },
});
const [seeds, kills, first] = [values.seeds, values.kills, values.seed].map(Number) as [
  number,
  number,
  number,
];
const differences: string[] = [];
for (let seed = first; seed < first + seeds; seed += 1) {
  differences.push(...compareGame(seed));
  // So that Ctrl-C is seen.
  await setImmediate();
}
console.log(JSON.stringify({ campaign: 'streams read back', first, seeds, differences: differences.length }));
const killed = await killWriters(kills, randomFrom(first));
console.log(JSON.stringify({ campaign: 'writers killed', first, ...killed }));
const random = randomFrom(first);
for (let count = 0; count < kills; count += 10) {
  const { wrong, ...ofSession } = await killSession(Math.min(10, kills - count), random);
  killed.wrong.push(...wrong);
  console.log(JSON.stringify({ campaign: 'session killed', ...ofSession, wrong: wrong.length }));
}
for (const words of [...differences, ...killed.wrong].slice(0, 20))
  process.stderr.write(`${words.slice(0, 2_000)}\n`);
if (differences.length + killed.wrong.length > 0) process.exitCode = 1;
