/**
 * Measures `hansard blame` of a file in 1,000 sessions of 500 events, by the built command: where each session changed the file, and where every 50th
 * did and the others changed other files. In processor time, with the most resident memory; the first run makes the index of the names in the logs,
 * and the next ones use it. Run `pnpm build` first. `HANSARD_BENCH_SESSIONS` sets the number of sessions.
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
const counter = `import { readFileSync } from 'node:fs';
process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const resident = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1];
  process._rawDebug(JSON.stringify([(userCPUTime + systemCPUTime) / 1000, resident / 1024]));
});`;

for (const every of [1, 50]) await measure(every);

function eventsOf(session: number, file: string, content: string[]): NewEvent[] {
  const before = content.join('');
  content[session % lines] = `const value${session % lines} = ${session};\n`;
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

async function measure(every: number): Promise<void> {
  const folder = temporaryFolder('bench-blame');
  const file = join(folder, 'src', 'app.ts');
  mkdirSync(join(folder, 'src'));
  const content = Array.from({ length: lines }, (_, at) => `const value${at} = 0;\n`);
  {
    await using store = openDispatchStore(await openStore('store-jsonfile', folder));
    for (let session = 0; session < sessions; session += 1) {
      const isOfFile = session % every === 0;
      const events = isOfFile
        ? eventsOf(session, file, content)
        : eventsOf(session, join(folder, `src/other-${session}.ts`), [...content]);
      const startedAt = new Date(Date.parse('2026-03-01T09:30:00.000Z') + session * 60_000).toISOString();
      const options = { role: 'worker', startedAt, fidelity: 'full', cwd: folder } as const;
      await using dispatch = await store.beginDispatch(`benchmarks/tasks/blame-${session % 20}`, options);
      await dispatch.append(events);
      await dispatch.end({ status: 'completed' });
    }
  }
  writeFileSync(file, content.join(''));
  writeFileSync(join(folder, 'counter.mjs'), counter);
  const [first, ...next] = Array.from({ length: 4 }, () => taken(folder, file, every === 1));
  rmSync(folder, { recursive: true });
  report(
    {
      ...{
        benchmark: 'blame',
        sessions,
        changing: Math.ceil(sessions / every),
        events: sessions * (others + 3),
      },
      firstCpuMs: rounded(first?.cpu ?? Number.NaN),
      cpuMs: rounded(median(next.map(({ cpu }) => cpu))),
      megabytes: rounded(median(next.map(({ megabytes }) => megabytes))),
      attributed: first?.attributed ?? 0,
    },
    [{ key: 'cpuMs', atMost: 2_000 }],
  );
}

function taken(
  folder: string,
  file: string,
  isWhole: boolean,
): { cpu: number; megabytes: number; attributed: number } {
  const env = {
    ...process.env,
    HOME: folder,
    XDG_CACHE_HOME: '',
    HANSARD_ROOT: folder,
    TZ: 'UTC',
    NO_COLOR: '1',
  };
  const args = ['--import', join(folder, 'counter.mjs'), command, 'blame', file];
  const { stderr, stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  if (status !== 0) throw new Error(stderr);
  const [cpu, megabytes] = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as [number, number];
  if (isWhole && stdout.includes('not on record')) throw new Error('A line is not attributed.');
  const attributed = stdout.split('\n').filter((line) => /const value\d+ = \d/.test(line)).length;
  return { cpu, megabytes, attributed };
}
