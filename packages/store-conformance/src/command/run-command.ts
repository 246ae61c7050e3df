import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { noCounts } from '../run/case-context.ts';
import type { RunnableCase } from '../run/conformance-case.ts';
import { type CaseResult, casesFor } from '../run/run-case.ts';
import type { StoreUnderTest } from '../run/store-under-test.ts';
import { CaseProcess, type RunOptions } from './case-process.ts';

interface Report extends CaseResult {
  readonly id: string;
  readonly rule: number | null;
  readonly title: string;
}

/** A command line that cannot be run. */
class UsageError extends Error {}

const options = {
  case: { type: 'string', multiple: true },
  seed: { type: 'string' },
  timeout: { type: 'string' },
  large: { type: 'boolean' },
  json: { type: 'boolean' },
  list: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

/** Runs the command `hansard-store-conformance`. Returns its exit code. */
export async function runCommand(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = readArguments(args);
    if (values.help) return print(help);
    if (values.version) return print(`${readVersion()}\n`);
    if (positionals.length !== 1)
      throw new UsageError(`Name one module, such as ./my-store.js. There are ${positionals.length}.`);
    const [module = ''] = positionals;
    const store = await loadStore(module);
    const cases = chooseCases(store, values.case);
    if (values.list) return print(cases.map(({ id, title }) => `${id}  ${title}\n`).join(''));
    const seed = readNumber('--seed', values.seed);
    const seconds = readNumber('--timeout', values.timeout);
    const options: RunOptions = {
      ...(seed !== undefined && { seed }),
      ...(seconds !== undefined && { caseLimitMs: seconds * 1_000 }),
      ...(values.large && { large: true }),
    };
    const reports = await runAll(
      cases,
      new CaseProcess(module, options, { ...store, ...options }.caseLimitMs),
      (report) => {
        if (!values.json) print(describe(report));
      },
    );
    const counts = count(reports);
    if (values.json)
      print(
        `${JSON.stringify({ counts, notCertified: notCertifiedIn(reports), cases: reports.map((one) => ({ ...one, error: textOf(one.error) })) }, null, 2)}\n`,
      );
    else
      print(
        `${notCertifiedIn(reports)
          .map(({ claim, reason }) => `NOT CERTIFIED  ${claim}: ${reason}\n`)
          .join(
            '',
          )}${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped, ${counts.gap} known gaps\n`,
      );
    return counts.failed === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\nRun hansard-store-conformance --help for examples.\n`);
    return 2;
  }
}

/** Runs the cases, and then looks whether their process ends by itself. */
async function runAll(
  cases: readonly RunnableCase[],
  process: CaseProcess,
  onReport: (report: Report) => void,
): Promise<readonly Report[]> {
  const reports: Report[] = [];
  const add = (report: Report) => {
    reports.push(report);
    onReport(report);
  };
  for (const { id, rule, title } of cases) add({ id, rule, title, ...(await process.run(id)) });
  if (await process.endsByItself()) return reports;
  const title = 'the process of the cases ends by itself when every store is closed';
  const error = 'Something of the store, such as a timer or a socket, keeps the process.';
  add({
    id: 'process/ends',
    rule: 9,
    title,
    status: 'failed',
    error,
    reason: null,
    notCertified: null,
    counts: noCounts(),
  });
  return reports;
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function readNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw new UsageError(`${option} must be a whole number, not ${JSON.stringify(text)}.`);
  return Number(text);
}

/** The default export of a module. */
export async function loadStore(path: string): Promise<StoreUnderTest> {
  const file = resolve(path);
  let module: { readonly default?: Partial<StoreUnderTest> };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new UsageError(`${file} cannot be imported: ${(error as Error).message}`);
  }
  const { default: store } = module;
  if (typeof store?.create !== 'function' || typeof store.capabilities !== 'object')
    throw new UsageError(`${file} needs a default export with capabilities and create().`);
  return store as StoreUnderTest;
}

/** The cases with these ids or of these families; all of them without a choice. */
function chooseCases(store: StoreUnderTest, chosen: readonly string[] | undefined): readonly RunnableCase[] {
  const all = gapsChecked(store);
  if (chosen === undefined) return all;
  const matches = (id: string, name: string) => id === name || id.startsWith(`${name.replace(/\/$/, '')}/`);
  const unknown = chosen.filter((name) => !all.some(({ id }) => matches(id, name)));
  if (unknown.length > 0)
    throw new UsageError(
      `No case or family for a store with these capabilities is called ${unknown.join(' or ')}.`,
    );
  return all.filter(({ id }) => chosen.some((name) => matches(id, name)));
}

function gapsChecked(store: StoreUnderTest): readonly RunnableCase[] {
  try {
    return casesFor(store);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** What the store claims and no case could test, each once. */
function notCertifiedIn(reports: readonly Report[]): { claim: string; reason: string }[] {
  const claims = new Map(reports.map(({ notCertified, reason }) => [notCertified, reason ?? '']));
  return [...claims].flatMap(([claim, reason]) => (claim === null ? [] : [{ claim, reason }]));
}

function describe({ id, title, status, error, reason }: Report): string {
  if (status === 'passed') return '';
  if (status === 'failed')
    return `FAILED  ${id}: ${title}\n${(textOf(error) ?? '').replace(/^/gm, '        ')}\n`;
  return `${status === 'gap' ? 'gap     ' : 'skipped '}${id}: ${reason}\n`;
}

function textOf(error: unknown): string | null {
  return error === null ? null : String(error);
}

function count(reports: readonly Report[]): Record<CaseResult['status'], number> {
  const counts = { passed: 0, failed: 0, skipped: 0, gap: 0 };
  for (const { status } of reports) counts[status] += 1;
  return counts;
}

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

/** The version of the package, above this file in the source and in the built package. */
function readVersion(): string {
  const path = import.meta.url.endsWith('.ts') ? '../../package.json' : '../package.json';
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).version;
}

const help = `Test a store against the rules of the Hansard store contract.

Usage: hansard-store-conformance MODULE [options]

MODULE is a file whose default export says how to open your store:

  export default {
    capabilities: { durability: 'process', writers: 'process', search: false,
                    watch: false, deleteDispatch: false, rewrite: false, integrity: 'none' },
    create: () => ({ store, reopen, dispose }),   // a new, empty store for each case
    knownGaps: { 'pages/beyond-the-end': 'not written yet' },
  };

Options:
  --case NAME      Run one case or one family, such as pages/walk or pages. Repeatable.
  --seed NUMBER    Repeat the random choices of an earlier run.
  --timeout N      Fail a case that runs longer than N seconds (120).
  --large          Use 1,000,000 events and 5,000 dispatches in the cases about sizes.
  --json           Print the results as one JSON object.
  --list           Print the cases that apply to the store, and run none.
  --version        Print the version.
  -h, --help       Print this help.

Examples:
  hansard-store-conformance ./my-store.js
  hansard-store-conformance ./my-store.js --case claims --case appends/order
  hansard-store-conformance ./my-store.js --case model --seed 1234567
  hansard-store-conformance ./my-store.js --json > results.json

Exit codes:
  0  Every case passed, was skipped, or failed as knownGaps says. A line NOT CERTIFIED
     names what the store claims and the fixture gives no means to test.
  1  A case failed, or a known gap passed.
  2  The command line or the module is wrong. No case ran.
`;
