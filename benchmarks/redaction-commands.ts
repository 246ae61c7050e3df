/**
 * Measures what redaction costs an import and two exports as whole commands, in processor time: the start of a process, and code that is
 * not yet compiled, included. Needs `pnpm build`. With a redactor and without take turns.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCorpusThere } from './corpus-transcripts.ts';
import { median } from './measure.ts';
import { here, writeSomeTranscript } from './redaction-works.ts';
import { report, rounded } from './report.ts';
import { temporaryFolder } from './temporary-folder.ts';

const megabytes = 6;
const rounds = 15;

const built = join(here, 'apps/harness/dist/bin.js');
if (!existsSync(built)) throw new Error(`${built} does not exist: run \`pnpm build\` first.`);

const folder = temporaryFolder('bench-redaction-commands');
const bytes = writeSomeTranscript(join(folder, 'session.jsonl'), megabytes * 1e6);
const configurations = { off: 'off.json', on: 'on.json' } as const;
writeFileSync(join(folder, configurations.off), '{"redact": false}');
writeFileSync(join(folder, configurations.on), '{}');

/** Writes the processor time of a process when it ends. */
const timer = `data:text/javascript,import { writeFileSync } from 'node:fs';
process.on('exit', () => writeFileSync('cpu.json', JSON.stringify(process.cpuUsage())));`;

/** Milliseconds of processor time. */
function run(variant: keyof typeof configurations, args: readonly string[]): number {
  const env = { ...process.env, HOME: folder, HANSARD_ROOT: folder };
  const command = ['--import', timer, built, ...args, '--config', configurations[variant]];
  const { status, stderr } = spawnSync(process.execPath, command, { cwd: folder, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
  const { user, system } = JSON.parse(readFileSync(join(folder, 'cpu.json'), 'utf8'));
  return (user + system) / 1e3;
}

const importInto = (task: string) => ['import', 'session.jsonl', '--task', `lab/${task}`, '--json'];
run('off', importInto('measured'));
const exportAs = (format: string) => (out: string) => [
  'export',
  'lab/measured',
  '--as',
  format,
  '--out',
  out,
];
const commands: Readonly<Record<string, (name: string) => readonly string[]>> = {
  import: importInto,
  'export session-v2': exportAs('session-v2'),
  'export html': exportAs('html'),
};
for (const [command, argsOf] of Object.entries(commands)) {
  const times = { off: [] as number[], on: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const variant of round % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const)) {
      const name = `${round}-${variant}`;
      const milliseconds = run(variant, argsOf(name));
      // The first round fills the compile cache.
      if (round > 0) times[variant].push(milliseconds);
      rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
  const [off, on] = [median(times.off), median(times.on)];
  report(
    {
      benchmark: 'redaction-commands',
      transcript: isCorpusThere ? 'corpus' : 'made',
      command,
      megabytes: rounded(bytes / 1e6),
      millisecondsOff: rounded(off),
      millisecondsOn: rounded(on),
      onToOff: rounded(on / off),
    },
    [{ key: 'onToOff', atMost: 1.15 }],
  );
}
rmSync(folder, { recursive: true });
