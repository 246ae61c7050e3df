import assert from 'node:assert/strict';
import type { DispatchStore } from '@hansard/dispatch';
import { balanceProblem, type JsonValue } from '@hansard/events';
import type { ImportReport } from '@hansard/import';
import type { LogImporterProvider } from '@hansard/provider';
import {
  importAll,
  openStore,
  pathsOf,
  reportsOf,
  type StoredDispatch,
  stateOf,
  storedIn,
} from './importing.ts';
import { type RandomChoices, textsIn } from './random.ts';
import { filesAfter, SourceFolder, type WrittenRecord } from './written-source.ts';

/** A random source, with the importer that reads it, and choices of the case's own. */
export interface CaseInput {
  readonly importer: LogImporterProvider;
  readonly records: readonly WrittenRecord[];
  readonly random: RandomChoices;
}

export interface ImportedOnce {
  readonly stored: readonly StoredDispatch[];
  readonly reports: readonly ImportReport[];
}

/** Imports a source once into a store of its own. `prepare` puts more beside it. */
export async function importOnce(
  importer: LogImporterProvider,
  records: readonly WrittenRecord[],
  prepare: (folder: SourceFolder) => void = () => {},
): Promise<ImportedOnce> {
  using folder = new SourceFolder();
  folder.put(filesAfter(records));
  prepare(folder);
  await using store = openStore();
  const items = await importAll(store, importer, pathsOf(importer, folder, records));
  return { stored: await storedIn(store), reports: reportsOf(items) };
}

/** Fails unless what is stored is what one import of the source gives. */
export async function expectAsAtOnce(
  store: DispatchStore,
  { importer, records }: Pick<CaseInput, 'importer' | 'records'>,
  what: string,
  { folder, order }: { readonly folder?: SourceFolder; readonly order?: 'any' } = {},
): Promise<void> {
  await using fresh = openStore();
  using own = new SourceFolder();
  if (folder === undefined) own.put(filesAfter(records));
  await importAll(fresh, importer, pathsOf(importer, folder ?? own, records));
  const [grown, once] = [stateOf(await storedIn(store), order), stateOf(await storedIn(fresh), order)];
  const withoutTimes = <T>(state: T): T =>
    JSON.parse(JSON.stringify(state).replace(/"modifiedAt":\d+/g, '"modifiedAt":0'));
  assert.deepEqual(
    withoutTimes(grown),
    withoutTimes(once),
    `${what}: the store differs from one import of the whole source`,
  );
}

/** Fails unless the balances add up. */
export function expectBalanced(reports: readonly ImportReport[]): void {
  for (const { balance, counts } of reports) {
    const problem = balanceProblem(balance);
    assert.equal(problem, null, `The balance does not add up: ${problem}`);
    assert.equal(
      counts.not_balanced,
      undefined,
      'The importer gives no balance, or one that does not add up',
    );
  }
}

/** Fails unless each text of some records is in what was stored. A record that was left out may lack its texts. */
export function expectTexts({ stored, reports }: ImportedOnce, records: readonly WrittenRecord[]): void {
  const kept = new Set(textsIn(JSON.stringify(stored)));
  const lost = records.filter(({ text }) => textsIn(text).some((one) => !kept.has(one)));
  const leftOut = reports.flatMap(({ balance }) => Object.values(balance.records.leftOut));
  const said = leftOut.reduce((sum, count) => sum + count, 0);
  const [first] = lost;
  const missing = textsIn(first?.text ?? '').filter((one) => !kept.has(one));
  assert.ok(
    lost.length <= said,
    `${lost.length} records have texts that no event has, and the balance leaves out ${said} records. One lacks ${missing.join(', ')}: ${first?.text}`,
  );
}

/** Values that no field expects. Some are valid in some fields. */
export const hostileValues: readonly JsonValue[] = [
  null,
  '',
  'two words / a slash',
  '\u0000\ud800\u2028é',
  'x'.repeat(300),
  '__proto__',
  'constructor',
  '../../../etc/passwd',
  -1,
  1.5,
  1e300,
  Number.MAX_SAFE_INTEGER,
  true,
  [],
  [null, [1], { type: 'text' }],
  {},
  JSON.parse('{"__proto__": 1, "constructor": "x", "toString": null}') as JsonValue,
  { type: 'text', text: 7 },
  '9999-12-31T23:59:59.999Z',
  '0000-01-01T00:00:00.000Z',
];
