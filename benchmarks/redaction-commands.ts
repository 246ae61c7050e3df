/**
 * Measures what redaction costs an import, a run and two exports as whole commands, in processor time. This includes the start of a process, and
 * code that is not compiled yet. Needs `pnpm build`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processorTime, reportOnToOff, timesInTurns, type Variant } from './redaction-times.ts';
import { eventsOf, here, writeSomeTranscript } from './redaction-works.ts';
import { temporaryFolder } from './temporary-folder.ts';

const megabytes = 6;
const rounds = 41;

const built = join(here, 'apps/harness/dist/bin.js');
if (!existsSync(built)) throw new Error(`${built} does not exist: run \`pnpm build\` first.`);

const folder = temporaryFolder('bench-redaction-commands');
const bytes = writeSomeTranscript(join(folder, 'session.jsonl'), megabytes * 1e6);
const configurations: Readonly<Record<Variant, string>> = { off: 'off.json', on: 'on.json' };
const plugins = ['./replay'];
writeFileSync(join(folder, configurations.off), JSON.stringify({ plugins, redact: false }));
writeFileSync(join(folder, configurations.on), JSON.stringify({ plugins }));
await writeAgent(join(folder, 'replay'));

/** A plugin whose agent yields the events of the transcripts, one after another. */
async function writeAgent(plugin: string): Promise<void> {
  mkdirSync(plugin);
  const manifest = {
    id: 'replay',
    version: '1.0.0',
    description: 'An agent that yields recorded events.',
    provides: 'AgentProvider',
    entry: './index.mjs',
    apiVersion: 1,
  };
  const entry = `import { readFileSync } from 'node:fs';
const lines = readFileSync(new URL('events.jsonl', import.meta.url), 'utf8').trimEnd().split('\\n');
const agent = { contract: 1, async *run() { for (const line of lines) yield { kind: 'event', event: JSON.parse(line) }; } };
export default { id: 'replay', provides: 'AgentProvider', create: () => agent };`;
  const events = await eventsOf({ root: here, transcript: join(folder, 'session.jsonl'), folder });
  writeFileSync(join(plugin, 'plugin.json'), JSON.stringify(manifest));
  writeFileSync(join(plugin, 'index.mjs'), entry);
  writeFileSync(join(plugin, 'events.jsonl'), events.map((event) => `${JSON.stringify(event)}\n`).join(''));
}

/** Writes the processor time of a process when it ends. */
const timer = `data:text/javascript,import { writeFileSync } from 'node:fs';
process.on('exit', () => writeFileSync('cpu.json', JSON.stringify(process.cpuUsage())));`;

/** Milliseconds of processor time. */
function run(variant: Variant, args: readonly string[]): number {
  const env = { ...process.env, HOME: folder, HANSARD_ROOT: folder };
  const command = ['--import', timer, built, ...args, '--config', configurations[variant]];
  const { status, stderr } = spawnSync(process.execPath, command, { cwd: folder, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
  return processorTime(JSON.parse(readFileSync(join(folder, 'cpu.json'), 'utf8')));
}

const importInto = (task: string) => ['import', 'session.jsonl', '--task', `lab/${task}`, '--json'];
run('off', importInto('measured'));
const exportAs = (format: string) => (out: string) => [
  ...['export', 'lab/measured'],
  ...['--as', format, '--out', out],
];
const commands: Readonly<Record<string, (name: string) => readonly string[]>> = {
  import: importInto,
  run: (name) => [
    ...['run', 'Begin.', '--agent', 'replay', '--task', `lab/run-${name}`],
    ...['--fidelity', 'full', '--quiet', '--json'],
  ],
  'export session-v2': exportAs('session-v2'),
  'export html': exportAs('html'),
};
for (const [command, argsOf] of Object.entries(commands)) {
  // The first round fills the compile cache.
  const times = await timesInTurns(rounds, (variant, name) => {
    const milliseconds = run(variant, argsOf(name));
    rmSync(join(folder, name), { recursive: true, force: true });
    return milliseconds;
  });
  reportOnToOff('redaction-commands', command, bytes, times);
}
rmSync(folder, { recursive: true });
