import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startServer } from '@hansard/testing/postgres';
import { contractFaults } from '@hansard/testing/simulation';
import { search as searchFiles } from '../../plugins/store-jsonfile/test/simulation/search.ts';
import { plantedFaults as faultsOfPostgres } from '../../plugins/store-postgres/test/simulation/planted-faults.ts';
import { search as searchPostgres } from '../../plugins/store-postgres/test/simulation/search.ts';
import { plantedFaults as faultsOfSqlite } from '../../plugins/store-sqlite/test/simulation/planted-faults.ts';
import { search as searchSqlite } from '../../plugins/store-sqlite/test/simulation/search.ts';
import { campaignVersion } from './run-facts.ts';

/**
 * Plants each fault into each store, and looks for it with random schedules, from seed 1 on. Writes `planted-faults.json`: for each fault the first
 * seed that finds it, and the steps until then. The tests run that seed.
 *
 *     nice -n 19 node --conditions=@hansard/source scripts/campaigns/planted-faults.ts --steps 1000000
 */
const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '1000000' },
    store: { type: 'string', multiple: true, default: ['jsonfile', 'sqlite', 'postgres'] },
  },
});
const steps = Number(values.steps);
const base = { processes: 3, dispatches: 2, leaseMs: 1_500, firstSeed: 1, steps, isShrunk: false } as const;

interface Row {
  readonly store: string;
  readonly fault: string;
  readonly from: 'contract' | 'code';
  readonly durability: 'process' | 'disk';
  /** Null: not found. */
  readonly seed: number | null;
  readonly steps: number;
  readonly said: string;
  readonly version: string;
}

const codeFaults = [
  ['missing sync', 'disk'],
  ['wall clock', 'process'],
  ['early rename', 'process'],
  ['late check', 'process'],
  ['kept copies', 'process'],
  ['removal by name', 'process'],
] as const;

const ofFiles = [
  ...contractFaults.map(({ name }) => ({ fault: name, from: 'contract', durability: 'process' }) as const),
  ...codeFaults.map(([fault, durability]) => ({ fault, from: 'code', durability }) as const),
];
const ofDatabase = (faults: readonly string[]) => [
  ...faults.map((fault) => ({ fault, from: 'code', durability: 'process' }) as const),
  ...contractFaults.map(({ name }) => ({ fault: name, from: 'contract', durability: 'process' }) as const),
];

const resultsFile = new URL('planted-faults.json', import.meta.url);
const isKept = ({ store }: Row) => !values.store.includes(store);
const rows = (JSON.parse(readFileSync(resultsFile, 'utf8')) as Row[]).filter(isKept);
const version = campaignVersion('planted-faults');
const add = (row: Omit<Row, 'version'>) => {
  rows.push({ ...row, version });
  process.stderr.write(
    `${row.store}: ${row.fault}: ${row.seed === null ? 'NOT FOUND' : `seed ${row.seed}`} in ${row.steps} steps\n`,
  );
  writeFileSync(resultsFile, `${JSON.stringify(rows, null, 2)}\n`);
};

if (values.store.includes('jsonfile'))
  for (const { fault, from, durability } of ofFiles) {
    const planted = from === 'code' ? { planted: fault } : { contractFault: fault };
    const { found, counts } = searchFiles({ ...base, ...planted, durability });
    add({
      store: 'jsonfile',
      fault,
      from,
      durability,
      seed: found?.seed ?? null,
      steps: counts.steps,
      said: found?.text.split('\n')[0]?.slice(0, 160) ?? '',
    });
  }
if (values.store.includes('sqlite'))
  for (const { fault, from, durability } of ofDatabase(faultsOfSqlite)) {
    const planted =
      from === 'code' ? { planted: fault as (typeof faultsOfSqlite)[number] } : { contractFault: fault };
    const { found, counts, schedules } = searchSqlite({ ...base, ...planted });
    add({
      store: 'sqlite',
      fault,
      from,
      durability,
      seed: found === null ? null : 1 + schedules,
      steps: counts.steps,
      said: found?.split('\n')[0]?.slice(0, 160) ?? '',
    });
  }
if (values.store.includes('postgres')) {
  const server = await startServer(['deadlock_timeout=20ms']);
  for (const { fault, from, durability } of ofDatabase(faultsOfPostgres)) {
    const planted =
      from === 'code' ? { planted: fault as (typeof faultsOfPostgres)[number] } : { contractFault: fault };
    const options = { ...base, ...planted, url: server.url(), schema: 'planted' };
    const { found, counts, schedules } = await searchPostgres(options);
    add({
      store: 'postgres',
      fault,
      from,
      durability,
      seed: found === null ? null : 1 + schedules,
      steps: counts.steps,
      said: found?.split('\n')[0]?.slice(0, 160) ?? '',
    });
  }
  await server.stop();
}
