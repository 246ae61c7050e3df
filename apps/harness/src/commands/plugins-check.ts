import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { type InspectedPlugin, inspectPlugins } from '@hansard/plugin-loader';
import { contractVersion } from '@hansard/provider';
import type { Command } from 'commander';
import { printAnswer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';

/** The kit of each provider type: its package, its export, and the word for the provider in the name of a fixture. */
const kits: Readonly<Record<string, readonly [word: string, kit: string, exported: string]>> = {
  DispatchStoreProvider: ['store', '@hansard/store-conformance', ''],
  CommunicationProvider: ['communication', '@hansard/provider-conformance', 'communicationConformance'],
  AgentProvider: ['agent', '@hansard/provider-conformance', 'agentConformance'],
  LanguageModelProvider: ['model', '@hansard/provider-conformance', 'modelConformance'],
  ToolProvider: ['tool', '@hansard/provider-conformance', 'toolConformance'],
  HookProvider: ['hook', '@hansard/provider-conformance', 'hookConformance'],
  LogImporterProvider: ['importer', '@hansard/import-conformance', 'runImporterConformance'],
};

interface CaseReport {
  readonly id: string;
  readonly title: string;
  readonly status: 'passed' | 'failed' | 'skipped' | 'gap';
  readonly error: string | null;
  readonly reason: string | null;
}

interface KitReport {
  readonly cases: readonly CaseReport[];
  /** What the plugin states or its type offers, and the fixture gives no means to test. */
  readonly notCertified: readonly { readonly claim: string; readonly reason: string }[];
}

interface PluginReport extends KitReport {
  readonly id: string;
  readonly provides: string | null;
  readonly location: string;
  readonly kit: { readonly name: string; readonly version: string } | null;
  readonly counts: Readonly<Record<CaseReport['status'], number>>;
  /** Why no kit ran, or why the plugin is refused. */
  readonly error: { readonly code: string | null; readonly message: string } | null;
}

/** No kit can run: something is missing, which the advice names. */
class CannotRun extends Error {
  readonly advice: string;

  constructor(message: string, advice: string) {
    super(message);
    this.advice = advice;
  }
}

const help = `
Runs the conformance kit for the provider type of a plugin. The path is the folder of a plugin, or a folder whose subfolders are plugins. The kit is a package: it is loaded from the plugin or from the current folder. A fixture beside plugin.json, or in its folder test, opens the provider for the kit: WORD-under-test.js (or .mjs, .ts), where WORD is store, communication, agent, model, tool, hook or importer. docs/check-a-plugin.md in Hansard's repository has the kits and the fixtures. The code of the plugin runs.

A line NOT CERTIFIED names what the fixture gives no means to test.

Exit codes: 0 every case passed or was skipped, 1 a case failed or a plugin is refused, 2 a plugin, its fixture or its kit was not found.

Examples:
  hansard plugins check ./hansard-store-shelf
  hansard plugins check ./hansard-store-shelf --json
  hansard plugins check ./plugins --under-test test/my-hook.js`;

interface CheckOptions {
  readonly underTest?: string;
}

export const addCheck: AddCommand = (parent, context) => {
  const command = parent
    .command('check')
    .description('run the conformance kit for the type of a plugin')
    .argument('<path>', 'the folder of a plugin, or of several')
    .option('--under-test <file>', "the fixture, relative to the plugin's folder");
  withCommonOptions(command)
    .addHelpText('after', help)
    .action(async (path: string, { underTest }: CheckOptions, self: Command) => {
      // `plugins` has the common options, too, and takes them.
      const options: CommonOptions = self.optsWithGlobals();
      const folder = resolve(context.cwd, path);
      if (!existsSync(folder))
        throw new CliError(exitCode.usage, `${folder} does not exist.`, 'Name the folder of a plugin.');
      const reports: PluginReport[] = [];
      let missing: CannotRun | null = null;
      for (const plugin of await inspectPlugins(folder)) {
        try {
          reports.push(await checkPlugin(plugin, context.cwd, underTest));
        } catch (error) {
          if (!(error instanceof CannotRun)) throw error;
          missing ??= error;
          reports.push(reportOf(plugin, null, null, { code: null, message: error.message }));
        }
      }
      const bad = reports.filter(({ counts, error }) => counts.failed > 0 || error !== null);
      const failure =
        missing === null
          ? new CliError(
              exitCode.failed,
              `${bad.length} of ${reports.length} plugins do not keep their contract, or are refused.`,
              'The report above has the reasons.',
            )
          : new CliError(exitCode.usage, missing.message, missing.advice);
      await printAnswer(context, options, {
        rows: reports,
        text: reports.map(describe),
        failure: bad.length > 0 ? failure : null,
      });
    });
};

async function checkPlugin(
  plugin: InspectedPlugin,
  cwd: string,
  underTest: string | undefined,
): Promise<PluginReport> {
  const { id, provides, location, error } = plugin;
  if (error !== null) return reportOf(plugin, null, null, error);
  const found = kits[provides ?? ''];
  if (found === undefined)
    throw new CannotRun(
      `No kit tests a ${provides}, which plugin ${id} provides.`,
      `Kits exist for ${Object.keys(kits).join(', ')}.`,
    );
  const [word, name, exported] = found;
  const kit = findKit(name, location, cwd);
  const refusal = await otherVersion(kit, plugin);
  if (refusal !== null) return reportOf(plugin, kit, null, { code: null, message: refusal });
  const fixture = findFixture(word, location, underTest);
  const args =
    exported === '' ? [programOf(kit.entry), fixture, '--json'] : scriptFor(kit.entry, exported, fixture);
  return reportOf(plugin, kit, await runKit(args, location), null);
}

interface Kit {
  readonly name: string;
  readonly version: string;
  /** The path of its module. */
  readonly entry: string;
}

/** The kit that the plugin has installed, or the current folder. */
function findKit(name: string, location: string, cwd: string): Kit {
  for (const folder of [location, cwd]) {
    const require = createRequire(join(folder, 'kit.js'));
    try {
      const entry = require.resolve(name);
      return {
        name,
        entry,
        version: String(JSON.parse(readFileSync(require.resolve(`${name}/package.json`), 'utf8')).version),
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw new CannotRun(
    `The kit ${name} is not installed in ${location} or in ${cwd}.`,
    `Run npm install --save-dev ${name} in ${location}.`,
  );
}

/** Why this kit cannot judge the plugin: it tests the contracts of another version; null: it can. */
async function otherVersion({ name, version, entry }: Kit, { id }: InspectedPlugin): Promise<string | null> {
  const provider = createRequire(entry).resolve('@hansard/provider');
  const tested = (await import(pathToFileURL(provider).href)).contractVersion;
  if (tested === contractVersion) return null;
  return `The kit ${name} ${version} tests version ${tested} of the Hansard contracts, and plugin ${id} was written for version ${contractVersion}. Install the kit for version ${contractVersion}.`;
}

function findFixture(word: string, location: string, underTest: string | undefined): string {
  const names = ['js', 'mjs', 'ts'].map((extension) => `${word}-under-test.${extension}`);
  const places = underTest === undefined ? names.flatMap((name) => [name, join('test', name)]) : [underTest];
  const found = places.map((place) => resolve(location, place)).find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw new CannotRun(
    `${location} has no fixture ${underTest ?? `${names[0]}, there or in its folder test`}.`,
    'docs/check-a-plugin.md in the repository of Hansard has an example of each.',
  );
}

/** The command of the store kit, beside its module. */
function programOf(entry: string): string {
  return join(dirname(entry), `bin${extname(entry)}`);
}

/** Runs a kit without a command in a process of its own, and prints its report. Output of the plugin goes to standard error. */
const script = `
const [kitUrl, exported, fixtureUrl] = process.argv.slice(1);
console.log = console.error;
const kit = await import(kitUrl);
const { default: subject } = await import(fixtureUrl);
const isImporter = exported === 'runImporterConformance';
if (typeof (isImporter ? subject?.write : subject?.create) !== 'function')
  throw new TypeError('The fixture needs a default export with ' + (isImporter ? 'importer and write().' : 'create().'));
const cases = isImporter ? kit.importerConformanceCases : kit[exported].cases;
const results = isImporter ? await kit[exported](subject) : await kit[exported].run(subject);
const byId = new Map(results.map(({ id, error }) => [id, error]));
const situations = [...new Set(cases.map(({ scenario }) => scenario))];
const missing = situations.filter((one) => one !== undefined && one !== 'plain' && !subject.scenarios?.includes(one));
const report = {
  cases: cases.map(({ id, title, scenario }) => {
    const error = byId.get(id);
    if (error === undefined)
      return { id, title, status: 'skipped', error: null, reason: 'the fixture does not arrange ' + scenario };
    const reason = subject.knownGaps?.[id] ?? null;
    if (error === null) return { id, title, status: reason === null ? 'passed' : 'gap', error, reason };
    return { id, title, status: 'failed', error: String(error), reason: null };
  }),
  notCertified: missing.map((claim) => ({ claim, reason: 'the fixture does not arrange it' })),
};
process.stdout.write(JSON.stringify(report), () => process.exit(0));
`;

function scriptFor(entry: string, exported: string, fixture: string): readonly string[] {
  const urls = [entry, fixture].map((file) => pathToFileURL(file).href);
  return ['--input-type=module', '--eval', script, urls[0] ?? '', exported, urls[1] ?? ''];
}

/** Milliseconds: each case of a kit has a limit of its own. */
const longestRun = 30 * 60_000;

async function runKit(args: readonly string[], cwd: string): Promise<KitReport> {
  const child = spawn(process.execPath, [...process.execArgv, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: longestRun,
    killSignal: 'SIGKILL',
  });
  const [output, errors, [code, signal]] = await Promise.all([
    readText(child.stdout),
    readText(child.stderr),
    once(child, 'close') as Promise<[number | null, string | null]>,
  ]);
  try {
    return JSON.parse(output) as KitReport;
  } catch {
    const why =
      errors.trim().split('\n').slice(-12).join('\n') || `It ended with ${signal ?? `exit code ${code}`}.`;
    const error = `The kit did not report. ${why}`;
    const title = 'the kit runs to its end';
    return { cases: [{ id: 'kit/runs', title, status: 'failed', error, reason: null }], notCertified: [] };
  }
}

function reportOf(
  { id, provides, location }: InspectedPlugin,
  kit: Kit | null,
  report: KitReport | null,
  error: PluginReport['error'],
): PluginReport {
  const { cases = [], notCertified = [] } = report ?? {};
  const counts = { passed: 0, failed: 0, skipped: 0, gap: 0 };
  for (const { status } of cases) counts[status] += 1;
  return {
    ...{
      id,
      provides,
      location,
      kit: kit === null ? null : { name: kit.name, version: kit.version },
      counts,
      notCertified,
    },
    cases: cases.map(({ id: caseId, title, status, error: failure, reason }) => ({
      ...{ id: caseId, title, status, error: failure, reason },
    })),
    error: error === null ? null : { code: error.code, message: error.message },
  };
}

function describe({ id, provides, kit, counts, cases, notCertified, error }: PluginReport): string {
  const lines = [`${id}${provides === null ? '' : `, a ${provides}`}`];
  if (kit !== null) lines.push(`  kit ${kit.name} ${kit.version}`);
  if (error !== null)
    lines.push(`  REFUSED  ${error.code === null ? '' : `${error.code}: `}${error.message}`);
  for (const one of cases)
    if (one.status === 'failed')
      lines.push(
        `  FAILED  ${one.id}: ${one.title}`,
        ...(one.error ?? '').split('\n').map((line) => `          ${line}`),
      );
  for (const { claim, reason } of notCertified) lines.push(`  NOT CERTIFIED  ${claim}: ${reason}`);
  if (kit !== null && error === null)
    lines.push(
      `  ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped, ${counts.gap} known gaps`,
    );
  return lines.join('\n');
}
