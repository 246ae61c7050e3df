import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { raceForDispatch } from '../../../packages/store-conformance/src/cases/processes/processes.ts';
import {
  runStoreConformance,
  type StoreConformanceResult,
  type StoreUnderTest,
} from '../../../packages/store-conformance/src/index.ts';
import { openCase } from '../../../packages/store-conformance/src/run/case-context.ts';
import { jsonFileStoreCapabilities, openJsonFileStore } from '../../../plugins/store-jsonfile/src/index.ts';
import { censusOf as censusOfFiles } from '../../../plugins/store-jsonfile/test/census.ts';
import { openPostgresStore, type PostgresStoreOptions } from '../../../plugins/store-postgres/src/index.ts';
import { censusOf as censusOfSchema } from '../../../plugins/store-postgres/test/census.ts';
import { newSchema } from '../../../plugins/store-postgres/test/server/new-schema.ts';
import { openSqliteStore } from '../../../plugins/store-sqlite/src/index.ts';
import { censusOf as censusOfDatabase } from '../../../plugins/store-sqlite/test/census.ts';
import type { Attack, Figures, StoreName } from './attack.ts';
import { serverOfAttacks } from './server-attacks.ts';

/** Opens a store at a place: a folder, a file, or a schema of the server. In this process and in others. */
const stores = {
  jsonfile: {
    open: (root: string, leaseMs: number) => openJsonFileStore({ root, leaseMs }),
    module: new URL('../../../plugins/store-jsonfile/test/processes/open-store.ts', import.meta.url),
    argsOf: (root: string, leaseMs: number) => [root, leaseMs],
    placeIn: (folder: string) => folder,
    census: censusOfFiles,
  },
  sqlite: {
    open: (path: string, leaseMs: number) => openSqliteStore({ path, leaseMs }),
    module: new URL('../../../plugins/store-sqlite/test/processes/open-store.ts', import.meta.url),
    argsOf: (path: string, leaseMs: number) => [path, leaseMs],
    placeIn: (folder: string) => join(folder, 'hansard.sqlite'),
    census: censusOfDatabase,
  },
  postgres: {
    open: async (schema: string, leaseMs: number) => openPostgresStore(await onServer(schema, leaseMs)),
    module: new URL('../../../plugins/store-postgres/test/processes/open-store.ts', import.meta.url),
    argsOf: async (schema: string, leaseMs: number) => [await onServer(schema, leaseMs)],
    placeIn: () => newSchema(),
    census: async (schema: string) => censusOfSchema((await serverOfAttacks()).url(), schema),
  },
} as const;

async function onServer(schema: string, leaseMs: number) {
  return {
    url: (await serverOfAttacks()).url(),
    schema,
    leaseMs,
    connections: 4,
  } satisfies PostgresStoreOptions;
}

/** A store for the kit. When a case has ended, `verifyDispatch` checks every byte of each of its dispatches. */
function storeUnderTest(name: StoreName, leaseMs: number, seed: number) {
  const { open, module, argsOf, placeIn, census } = stores[name];
  const checked = { events: 0 };
  const store: StoreUnderTest = {
    // All of these stores have the same ones.
    capabilities: jsonFileStoreCapabilities,
    leaseMs,
    seed,
    create: async () => {
      const folder = mkdtempSync(join(tmpdir(), 'hansard-campaign-'));
      const place = placeIn(folder);
      return {
        store: await open(place, leaseMs),
        reopen: () => open(place, leaseMs),
        elsewhere: { module, args: await argsOf(place, leaseMs) },
        hasServer: name === 'postgres',
        census: () => census(place),
        dispose: async () => {
          const reader = await open(place, leaseMs);
          for (const { taskDir } of await reader.listTasks())
            for (const { dispatchId } of await reader.getDispatchEnvelopes(taskDir)) {
              const { damages, wholeEvents } = await reader.verifyDispatch(taskDir, dispatchId);
              assert.deepEqual(damages, [], `${dispatchId} is damaged`);
              checked.events += wholeEvents;
            }
          await reader.close();
          rmSync(folder, { recursive: true });
        },
      };
    },
  };
  return { store, checked };
}

/** Runs cases of the kit in turn, one in each round. */
function casesInTurn(
  name: StoreName,
  ids: readonly [string, ...string[]],
  leaseMs: number,
  figuresOf: (counts: StoreConformanceResult['counts']) => Figures,
): Attack['round'] {
  return async (seed) => {
    const id = ids[seed % ids.length] ?? ids[0];
    const { store, checked } = storeUnderTest(name, leaseMs, seed);
    const [result] = await runStoreConformance(store, [id]);
    if (result?.status !== 'passed')
      throw new Error(`${id}: ${result?.reason ?? result?.error}`, { cause: result?.error });
    return { ...figuresOf(result.counts), 'events verified': checked.events };
  };
}

const appends = ({ acknowledgedEvents, refused }: StoreConformanceResult['counts']): Figures => ({
  'events acknowledged': acknowledgedEvents,
  'calls refused as STORE_LOCKED': refused,
});

export function kills(name: StoreName): Attack {
  const ids = ['killed/while-appending', 'killed/while-updating', 'killed/while-creating'] as const;
  const round = casesInTurn(name, ids, 15_000, (counts) => ({
    'processes killed': counts.kills,
    'events acknowledged': counts.acknowledgedEvents,
  }));
  return { unit: 'processes killed', count: 1_000, round };
}

export function stopped(name: StoreName): Attack {
  const round = casesInTurn(name, ['processes/stopped-past-its-lease'], 600, (counts) => ({
    'writers stopped past their lease': counts.stops,
    'calls refused as STORE_LOCKED': counts.refused,
  }));
  return { unit: 'writers stopped past their lease', count: 200, round };
}

export function namespaces(name: StoreName): Attack {
  const round = casesInTurn(name, ['processes/another-namespace'], 5_000, (counts) => ({
    'writers beside another PID namespace': counts.kills,
    ...appends(counts),
  }));
  return { unit: 'writers beside another PID namespace', count: 100, round };
}

export function races(name: StoreName): Attack {
  return {
    unit: 'events acknowledged',
    count: 200_000,
    round: async (seed) => {
      const { store, checked } = storeUnderTest(name, 15_000, seed);
      const { context, counts, cleanUp } = await openCase(store);
      const errors: unknown[] = [];
      await raceForDispatch(context, 1_000).catch((error: unknown) => errors.push(error));
      errors.push(...(await cleanUp()));
      if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join('\n'));
      return { ...appends(counts), 'events verified': checked.events };
    },
  };
}
