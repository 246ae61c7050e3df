import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { partsDifference } from '../../packages/datasets/test/game-streams/parts-difference.ts';
import { partMappings, partShapes, partsGame } from '../../packages/datasets/test/game-streams/parts-game.ts';
import { createTextSplitter } from '../../packages/views/src/index.ts';
import { runFacts } from './run-facts.ts';

/**
 * Plays random games whose agents speak, think and act in one text, and looks for each planted word in the streams, the packets for judges and the
 * dialog. Then splits 20 MB of usual turns, and parses the records that hold them. Writes the figures into `parts.json`. Exits with 1 if a word
 * is where it must not be, or is missing.
 *
 *     nice -n 19 pnpm campaign:parts --planted 100000
 */
const { values } = parseArgs({ options: { planted: { type: 'string', default: '10000' } } });
const wanted = Number(values.planted);
if (!Number.isSafeInteger(wanted) || wanted < 1)
  throw new TypeError('--planted must be a whole number from 1.');

const shapes = Object.fromEntries(
  partShapes.map((shape) => [shape, { games: 0, said: 0, thought: 0, whispered: 0 }]),
);
let [seeds, planted, wrong] = [0, 0, 0];
const times = speed();
const started = performance.now();
while (planted < wanted) {
  seeds += 1;
  for (const problem of partsDifference(seeds)) {
    wrong += 1;
    process.stderr.write(`${problem}\n`);
  }
  const { shape, truth } = partsGame(seeds);
  const counts = shapes[shape];
  if (counts === undefined) throw new TypeError(`${shape} is not counted.`);
  counts.games += 1;
  counts.said += truth.said.length;
  counts.thought += truth.thought.length;
  counts.whispered += truth.whispered.length + truth.perhaps.length;
  planted += truth.thought.length + truth.whispered.length + truth.perhaps.length;
}
const figures = {
  ...{ seeds, planted, wrong, shapes },
  seconds: Math.round((performance.now() - started) / 1_000),
  speed: times,
  ...runFacts('parts'),
};
writeFileSync(new URL('parts.json', import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
process.stdout.write(`${JSON.stringify(figures)}\n`);
if (wrong > 0) process.exitCode = 1;

/** Milliseconds of processor time for 20 MB: to split the texts of turns, and to parse the JSON lines of their events. The medians of 21. */
function speed() {
  const sentence =
    'I think that Bob is not who he says he is, and that Ann saw it.\nHe was quiet on "day two". ';
  const turn = (at: number) => {
    const thinking = `${at} ${sentence.repeat(20)}`;
    return `<thinking>${thinking}</thinking>\n<speak>${at} ${sentence}</speak>`;
  };
  const texts = Array.from({ length: 10_000 }, (_, at) => turn(at));
  const records = texts.map((text, at) =>
    JSON.stringify({
      id: `e${at}`,
      type: 'agent:text',
      timestamp: '2026-01-01T00:00:00.000Z',
      data: { text },
    }),
  );
  const split = createTextSplitter(partMappings.tags.parts ?? {});
  const runs = Array.from({ length: 21 }, () => ({
    splitMs: timeOf(() => texts.forEach((text) => void split(text))),
    parseMs: timeOf(() => records.forEach((record) => void JSON.parse(record))),
  }));
  const median = (of: 'splitMs' | 'parseMs') =>
    runs.map((run) => run[of]).sort((one, other) => one - other)[10];
  return { megabytes: texts.join('').length / 1e6, splitMs: median('splitMs'), parseMs: median('parseMs') };
}

function timeOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return Math.round((user + system) / 100) / 10;
}
