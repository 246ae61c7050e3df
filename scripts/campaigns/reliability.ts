import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  type Attack,
  type AttackedName,
  attackedNames,
  type StoreName,
  storeNames,
} from './reliability/attack.ts';
import { cuts, flips } from './reliability/byte-attacks.ts';
import { kills, namespaces, races, stopped } from './reliability/process-attacks.ts';
import { rewrites } from './reliability/rewrite-attacks.ts';
import {
  answers,
  connections,
  listeners,
  openings,
  servers,
  stopServer,
  tails,
} from './reliability/server-attacks.ts';
import { runFacts } from './run-facts.ts';

/**
 * Attacks the durable stores as their tests do, more often. Writes the figures into `reliability.json`, every ten seconds, so that an
 * interrupted campaign keeps what it did. Exits with 1 at the first loss, and prints the command that repeats it.
 *
 *     nice -n 10 pnpm campaign:reliability --only kills,flips --store sqlite --count 5000
 */
const attacks: Readonly<Record<string, (store: StoreName) => Attack>> = {
  kills,
  cuts,
  flips,
  races,
  stopped,
  namespaces,
  answers,
  connections,
  servers,
  tails,
  openings,
  listeners,
  rewrites,
};
/** The attacks of these stores only: files and write-ahead logs are damaged, or connections and servers. The others are those of each store but `redis`. */
const storesOf: Readonly<Record<string, readonly AttackedName[]>> = {
  cuts: ['jsonfile', 'sqlite'],
  flips: ['jsonfile', 'sqlite'],
  answers: ['postgres', 'redis'],
  connections: ['postgres', 'redis'],
  servers: ['postgres', 'redis'],
  tails: ['postgres', 'redis'],
  openings: ['postgres'],
  listeners: ['postgres', 'redis'],
};
const names = Object.keys(attacks).join(',');
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: names },
    store: { type: 'string', default: attackedNames.join(',') },
    count: { type: 'string' },
    seed: { type: 'string' },
  },
});
const resultsFile = new URL('reliability.json', import.meta.url);
const firstSeed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (!Number.isSafeInteger(firstSeed) || firstSeed < 0)
  throw new TypeError('--seed must be a whole number from 0.');
if (values.count !== undefined && !/^[1-9]\d*$/.test(values.count))
  throw new TypeError('--count must be a whole number from 1.');

for (const attack of values.only.split(','))
  for (const store of values.store.split(',')) {
    if (attacks[attack] === undefined) throw new TypeError(`There is no attack ${attack}: use ${names}.`);
    const known = attackedNames.find((name) => name === store);
    if (known === undefined)
      throw new TypeError(`There is no store ${store}: use ${attackedNames.join(',')}.`);
    if (!(storesOf[attack] ?? storeNames).includes(known)) continue;
    if (await run(attack, known, attacks[attack](known as StoreName))) continue;
    await stopServer();
    process.exit(1);
  }
await stopServer();

/** Makes rounds with consecutive seeds. @returns whether nothing was lost */
async function run(attack: string, store: AttackedName, { unit, count, round }: Attack): Promise<boolean> {
  const wanted = Number(values.count ?? count);
  const facts = runFacts('reliability');
  process.stderr.write(`${attack}, ${store}: seed ${firstSeed}, ${wanted} ${unit}\n`);
  const started = performance.now();
  const figures: Record<string, number> = {};
  const save = (failure: string | null = null) =>
    write(`${attack} ${store}`, {
      attack,
      store,
      figures,
      failure,
      firstSeed,
      seconds: Math.round((performance.now() - started) / 1_000),
      ...facts,
    });
  let savedAt = started;
  for (let seed = firstSeed; (figures[unit] ?? 0) < wanted; seed += 1) {
    try {
      for (const [name, number] of Object.entries(await round(seed)))
        figures[name] = (figures[name] ?? 0) + number;
    } catch (error) {
      const again = `pnpm campaign:reliability --only ${attack} --store ${store} --seed ${seed} --count 1`;
      process.stderr.write(`${error instanceof Error ? error.stack : error}\nRepeat it: ${again}\n`);
      save(again);
      return false;
    }
    if (performance.now() - savedAt < 10_000) continue;
    savedAt = performance.now();
    save();
  }
  save();
  process.stderr.write(`${attack}, ${store}: ${JSON.stringify(figures)}\n`);
  return true;
}

function write(key: string, campaign: object): void {
  const before = JSON.parse(readFileSync(resultsFile, 'utf8')) as Record<string, unknown>;
  // In one step, because other campaigns may write it too.
  const temporary = new URL(`reliability.${process.pid}.tmp`, import.meta.url);
  writeFileSync(temporary, `${JSON.stringify({ ...before, [key]: campaign }, null, 2)}\n`);
  renameSync(temporary, resultsFile);
}
