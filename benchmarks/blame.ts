/**
 * Measures `hansard blame` of a file that 1,000 sessions of 500 events changed, by the built command, which searches all logs of the store. In processor
 * time, with the most resident memory. Run `pnpm build` first. `HANSARD_BENCH_SESSIONS` sets the number of sessions.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

const sessions = Number(process.env.HANSARD_BENCH_SESSIONS ?? 1_000);
const lines = 400;
const others = 496;
const text = 'The route table has three candidates; the second one is cheaper at night. ';
const command = join(import.meta.dirname, '..', 'apps/harness/dist/bin.js');

const folder = temporaryFolder('bench-blame');
const file = join(folder, 'src', 'app.ts');
mkdirSync(join(folder, 'src'));
let content = Array.from({ length: lines }, (_, at) => `const value${at} = 0;\n`);

function eventsOf(session: number): NewEvent[] {
  const before = content.join('');
  content = content.with(session % lines, `const value${session % lines} = ${session};\n`);
  const call = { tool: 'Edit', toolCallId: `c${session}`, target: file, metadata: {} };
  const said = Array.from({ length: others }, (): NewEvent => ({ type: 'agent:text', data: { text } }));
  return [
    { type: 'user:message', data: { text: `Change line ${session % lines}.`, source: { kind: 'user' } } },
    ...said,
    { type: 'agent:tool_call', data: { ...call, input: { file_path: file } } },
    {
      type: 'agent:tool_result',
      data: {
        ...call,
        status: 'completed',
        output: 'done',
        changes: [{ path: file, before, after: content.join('') }],
      },
    },
  ];
}

{
  await using store = openDispatchStore(await openStore('store-jsonfile', folder));
  for (let session = 0; session < sessions; session += 1) {
    const startedAt = new Date(Date.parse('2026-03-01T09:30:00.000Z') + session * 60_000).toISOString();
    const options = { role: 'worker', startedAt, fidelity: 'full', cwd: folder } as const;
    await using dispatch = await store.beginDispatch(`benchmarks/tasks/blame-${session % 20}`, options);
    await dispatch.append(eventsOf(session));
    await dispatch.end({ status: 'completed' });
  }
}
writeFileSync(file, content.join(''));
writeFileSync(
  join(folder, 'counter.mjs'),
  `import { readFileSync } from 'node:fs';
process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const resident = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1];
  process._rawDebug(JSON.stringify([(userCPUTime + systemCPUTime) / 1000, resident / 1024]));
});`,
);

function taken(): { cpu: number; megabytes: number; attributed: number } {
  const env = { ...process.env, HOME: folder, HANSARD_ROOT: folder, TZ: 'UTC', NO_COLOR: '1' };
  const args = ['--import', join(folder, 'counter.mjs'), command, 'blame', file];
  const { stderr, stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  if (status !== 0) throw new Error(stderr);
  const [cpu, megabytes] = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as [number, number];
  const attributed = stdout.split('\n').filter((line) => /const value\d+ = \d/.test(line)).length;
  if (stdout.includes('not on record')) throw new Error('A line is not attributed.');
  return { cpu, megabytes, attributed };
}

const all = Array.from({ length: 3 }, taken);
rmSync(folder, { recursive: true });
report(
  {
    ...{ benchmark: 'blame', sessions, events: sessions * (others + 3) },
    cpuMs: rounded(median(all.map(({ cpu }) => cpu))),
    megabytes: rounded(median(all.map(({ megabytes }) => megabytes))),
    attributed: all[0]?.attributed ?? 0,
  },
  [{ key: 'cpuMs', atMost: 2_000 }],
);
