import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { root } from '../workspace.ts';
import { runFacts } from './run-facts.ts';

/**
 * Rehearses three releases into a registry on loopback (Verdaccio), in a clone of the last commit:
 * 1. the first release; a stranger installs it by name, and builds a store plugin from the template;
 * 2. a minor release with the same contracts: the plugin, which is not touched, runs with it;
 * 3. a release with the next contract version: the plugin is refused by its name, with what to do.
 *
 * Writes the transcript into `releases.json`. Exits with 1 at the first step that differs. It installs what others publish through the
 * registry that npm is configured to use, takes some ten minutes, and changes nothing outside its temporary folder.
 *
 *     nice -n 19 pnpm campaign:releases
 */
const verdaccio = '6.10.4';
const place = realpathSync(mkdtempSync(join(tmpdir(), 'hansard-releases-')));
const clone = join(place, 'clone');
const plugin = join(place, 'stranger/my-store');
const project = join(place, 'stranger/project');
const inherited = Object.entries(process.env).filter(([name]) => !/^p?npm_/i.test(name));
const environment: NodeJS.ProcessEnv = {
  ...Object.fromEntries(inherited),
  PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
  HOME: join(place, 'home'),
  CI: 'true',
  NO_COLOR: '1',
  TURBO_TELEMETRY_DISABLED: '1',
  NPM_CONFIG_USERCONFIG: join(place, 'home/.npmrc'),
};
const steps: { readonly step: string; readonly printed: readonly string[] }[] = [];

const others = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', cwd: root }).trim();
mkdirSync(join(place, 'home'));
let sessions = 0;
const { url, stop } = await startRegistry();
try {
  prepareClone();
  release('First release', null);
  buildStrangersPlugin();
  installCommand();
  record('The plugin records with the release that it was built with', useThePlugin(0));

  release('Minor release, same contracts', changeset('A line that users see.'));
  installCommand();
  record('The untouched plugin records with the next release', useThePlugin(0));

  edit(
    'packages/provider/src/contract-version.ts',
    'contractVersion = 1 as const',
    'contractVersion = 2 as const',
  );
  nextContract();
  release('Release with the next contract version', changeset('Contract version 2.'));
  installCommand();
  const refused = useThePlugin(1);
  expectIn(refused, 'Plugin store-example was written for version 1 of the Hansard contracts');
  record('The plugin is refused by name', refused);
  writeTranscript();
} finally {
  stop();
  rmSync(place, { recursive: true, force: true });
}

/** Runs a command to its end and gives what it printed. */
function run(cwd: string, command: string, args: readonly string[], expected = 0): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: environment,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: 900_000,
  });
  const printed = `${stdout}${stderr}`;
  if (status !== expected) throw new Error(`${command} ${args.join(' ')} exited with ${status}:\n${printed}`);
  return printed;
}

function pnpm(cwd: string, ...args: string[]): string {
  return run(cwd, 'npx', ['--yes', 'pnpm@12', ...args]);
}

function record(step: string, printed: string): void {
  const lines = printed.split('\n').map((line) => line.replaceAll(place, '…').trimEnd());
  steps.push({ step, printed: lines.filter((line) => line !== '') });
  process.stderr.write(
    `${step}\n${steps
      .at(-1)
      ?.printed.map((line) => `  ${line}\n`)
      .join('')}`,
  );
}

function expectIn(printed: string, words: string): void {
  if (!printed.includes(words)) throw new Error(`Expected "${words}" in:\n${printed}`);
}

function edit(path: string, from: string, to: string): void {
  const before = readFileSync(join(clone, path), 'utf8');
  if (!before.includes(from)) throw new Error(`${path} has no "${from}".`);
  writeFileSync(join(clone, path), before.replaceAll(from, to));
}

function prepareClone(): void {
  run(place, 'git', ['clone', '--quiet', '--no-hardlinks', root, clone]);
  pnpm(clone, 'install', '--frozen-lockfile', '--prefer-offline', '--registry', others);
  run(clone, 'git', ['config', 'user.name', 'Rehearsal']);
  run(clone, 'git', ['config', 'user.email', 'rehearsal@localhost']);
}

function changeset(words: string): string {
  return `---\n'@hansard/provider': minor\n---\n\n${words}\n`;
}

/** Versions, builds and publishes every public package, as a maintainer would. */
function release(step: string, content: string | null): void {
  if (content !== null) writeFileSync(join(clone, '.changeset/rehearsed.md'), content);
  pnpm(clone, 'run', 'version');
  run(clone, 'git', ['add', '--all']);
  run(clone, 'git', ['commit', '--quiet', '--message', step]);
  pnpm(clone, 'build');
  pnpm(clone, '--recursive', 'publish', '--registry', url, '--no-git-checks', '--access', 'public');
  const versions = new Set(
    JSON.parse(pnpm(clone, '--recursive', 'list', '--depth', '-1', '--json'))
      .filter((one: { readonly private?: boolean }) => one.private !== true)
      .map((one: { readonly version: string }) => one.version),
  );
  record(step, `versions: ${[...versions].join(', ')}`);
  if (versions.size !== 1) throw new Error('The packages do not have one version.');
}

/** As its README says: copy the template, install, build, run the kit. */
function buildStrangersPlugin(): void {
  mkdirSync(join(place, 'stranger'));
  cpSync(join(clone, 'packages/store-conformance/template'), plugin, {
    recursive: true,
    filter: (path) => !path.includes('node_modules') && !path.endsWith('/dist'),
  });
  run(plugin, 'npm', ['install', '--no-audit', '--no-fund']);
  const printed = run(plugin, 'npm', ['test']);
  record(
    'A stranger builds a store from the template',
    printed
      .split('\n')
      .filter((line) => /^. (tests|pass|fail) \d+/.test(line))
      .join('\n'),
  );
}

/** The newest command in a project of the stranger, whose configuration names the plugin. */
function installCommand(): void {
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "private": true, "type": "module" }\n');
  const config = { store: { plugin: '../my-store', config: { root: 'data' } } };
  writeFileSync(join(project, 'hansard.config.json'), JSON.stringify(config));
  run(project, 'npm', ['install', '--no-audit', '--no-fund', 'hansard@latest']);
}

/** Records a stream with the plugin's store, and lists it again; both refuse with `expected`. */
function useThePlugin(expected: number): string {
  const command = join(project, 'node_modules/.bin/hansard');
  const stream = join(clone, 'apps/harness/demo/tools-and-thinking.jsonl');
  const recorded = run(project, command, ['run', stream, '--task', 'a/b', '--quiet'], expected);
  const listed = run(project, command, ['ls', '--json'], expected);
  if (expected === 0) {
    if (!existsSync(join(project, 'data')))
      throw new Error('Another store than that of the plugin recorded.');
    sessions += 1;
    const found = listed.split('\n').filter((line) => line.startsWith('{')).length;
    if (found !== sessions) throw new Error(`ls printed ${found} sessions, expected ${sessions}:\n${listed}`);
  }
  return `${recorded}\n${run(project, command, ['ls'], expected)}`;
}

/** What a commit that raises the version changes besides the number: every plugin of ours names it. */
function nextContract(): void {
  const files = run(clone, 'git', [
    'grep',
    '-lE',
    '"apiVersion": 1|contract(:| =) 1',
    '--',
    'plugins/*/plugin.json',
    'apps/*/src/*.ts',
    'packages/*/src/*.ts',
    'plugins/*/src/*.ts',
  ])
    .trim()
    .split('\n');
  for (const file of files) {
    const before = readFileSync(join(clone, file), 'utf8');
    writeFileSync(
      join(clone, file),
      before.replaceAll('"apiVersion": 1', '"apiVersion": 2').replace(/(contract(?::| =)) 1/g, '$1 2'),
    );
  }
}

async function startRegistry(): Promise<{ readonly url: string; readonly stop: () => void }> {
  const home = join(place, 'registry');
  mkdirSync(home);
  const port = await freePort();
  const packages = `
storage: ${home}/storage
auth: { htpasswd: { file: ${home}/users, max_users: 10 } }
uplinks: { others: { url: '${others}' } }
packages:
  '@hansard/*': { access: $all, publish: $authenticated }
  'hansard': { access: $all, publish: $authenticated }
  '**': { access: $all, proxy: others }
log: { type: stdout, format: json, level: warn }
max_body_size: 100mb
`;
  writeFileSync(join(home, 'config.yaml'), packages);
  const address = `http://127.0.0.1:${port}`;
  const manifest = { private: true, dependencies: { verdaccio }, overrides: { 'node-fetch': '2.7.0' } };
  writeFileSync(join(home, 'package.json'), JSON.stringify(manifest));
  run(home, 'npm', ['install', '--no-audit', '--no-fund', '--registry', others]);
  const args = ['--config', join(home, 'config.yaml'), '--listen', `127.0.0.1:${port}`];
  const child = spawn(join(home, 'node_modules/.bin/verdaccio'), args, {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  });
  const stop = () => process.kill(-(child.pid as number));
  const token = await tokenOf(address, child);
  writeFileSync(
    join(place, 'home/.npmrc'),
    `registry=${address}/\n//127.0.0.1:${port}/:_authToken=${token}\n`,
  );
  return { url: address, stop };
}

/** Makes a user as soon as the registry answers. */
async function tokenOf(address: string, child: ReturnType<typeof spawn>): Promise<string> {
  const ended = once(child, 'exit').then(([code]) => `The registry ended with ${code}.`);
  const body = JSON.stringify({ name: 'rehearsal', password: 'only-on-loopback' });
  for (const until = Date.now() + 240_000; Date.now() < until; ) {
    const user = await fetch(`${address}/-/user/org.couchdb.user:rehearsal`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body,
    }).catch(() => null);
    if (user?.ok === true) return ((await user.json()) as { readonly token: string }).token;
    const died = await Promise.race([ended, new Promise<null>((resolve) => setTimeout(resolve, 500, null))]);
    if (died !== null) throw new Error(died);
  }
  throw new Error('The registry did not answer within 4 minutes.');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, 'close');
  return port;
}

function writeTranscript(): void {
  const transcript = {
    ...runFacts('releases'),
    registry: `Verdaccio ${verdaccio}`,
    steps,
  };
  writeFileSync(new URL('releases.json', import.meta.url), `${JSON.stringify(transcript, null, 2)}\n`);
}
