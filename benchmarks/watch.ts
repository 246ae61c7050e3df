/**
 * Measures `hansard watch` (built) with 2,000 known transcripts in a home folder of its own: a look that finds nothing new, the processor time and the
 * memory of an idle watcher, and how soon a change is stored. `node benchmarks/watch.ts MINUTES` sets the idle minutes (3).
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';
import { temporaryFolder } from './temporary-folder.ts';

const count = 2_000;
const minutes = Number(process.argv[2] ?? 3);
const built = fileURLToPath(new URL('../apps/harness/dist/bin.js', import.meta.url));
if (!existsSync(built)) throw new Error(`${built} does not exist: run \`pnpm build\` first.`);

const folder = temporaryFolder('bench-watch');
const env = { ...process.env, HOME: join(folder, 'home'), HANSARD_MACHINE: 'bench', TMPDIR: folder };

/** An answer and its prompt, some 1.5 KB. */
function rows(session: number, from: number): string {
  const id = `${String(session).padStart(8, '0')}-0000-4000-8000-000000000000`;
  const uuid = (row: number) => `${id.slice(0, 8)}-0000-4000-8000-${String(row).padStart(12, '0')}`;
  const usage = { input_tokens: 1_000, output_tokens: 50 };
  return [0, 1]
    .map((at) => {
      const row = from + at;
      const content = [{ type: 'text', text: 'answer '.repeat(80) }];
      const answer = { id: `msg_${session}_${row}`, role: 'assistant', model: 'claude-opus-4-6', content };
      const message =
        at === 0
          ? { role: 'user', content: 'prompt '.repeat(40) }
          : { ...answer, stop_reason: 'end_turn', usage };
      return `${JSON.stringify({
        ...{
          type: at === 0 ? 'user' : 'assistant',
          uuid: uuid(row),
          isSidechain: false,
          sessionId: id,
          message,
        },
        ...{ parentUuid: row === 0 ? null : uuid(row - 1), cwd: `/work/p${session % 40}` },
        timestamp: new Date(Date.UTC(2026, 2, 1) + session * 900_000 + row * 1_000).toISOString(),
      })}\n`;
    })
    .join('');
}

const place = (session: number) => {
  const project = join(folder, `home/.claude/projects/-work-p${session % 40}`);
  mkdirSync(project, { recursive: true });
  return join(project, `${String(session).padStart(8, '0')}-0000-4000-8000-000000000000.jsonl`);
};
for (let session = 0; session < count; session += 1)
  writeFileSync(place(session), [0, 2, 4, 6, 8].map((from) => rows(session, from)).join(''));

const watch = [built, 'watch', '--quiet', '--root', folder];

/** Milliseconds of processor time of one look, with the start of its process. */
function look(): number {
  const args = ['-c', 'TIMEFORMAT="%U %S"; time "$@"', 'bash', process.execPath, ...watch, '--once'];
  const { status, stderr } = spawnSync('bash', args, { env, encoding: 'utf8' });
  const [, user, system] = /^([\d.]+) ([\d.]+)$/m.exec(stderr) ?? [];
  if (status !== 0 || user === undefined) throw new Error(stderr);
  return 1_000 * (Number(user) + Number(system));
}

/** Processor seconds and resident megabytes of a process. */
function stateOf(pid: number | undefined): { seconds: number; megabytes: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { seconds: (Number(fields[11]) + Number(fields[12])) / 100, megabytes: Number(kilobytes) / 1_000 };
}

const first = look();
const nothingNew = median([look(), look(), look(), look(), look()]);

const watcher = spawn(process.execPath, watch, { env, stdio: 'inherit' });
await wait(15_000);
const begun = stateOf(watcher.pid);
await wait(minutes * 60_000);
const idle = stateOf(watcher.pid);

const store = openDispatchStore(openJsonFileStore({ root: join(folder, '.projects') }));
const latencies: number[] = [];
for (let change = 0; change < 20; change += 1) {
  const session = change * 7;
  const path = place(session);
  const ref = await refOf(path);
  const before = await (await store.openDispatch(ref)).count();
  const at = performance.now();
  appendFileSync(path, rows(session, 10 + 2 * change));
  while ((await (await store.openDispatch(ref)).count()) === before) await wait(10);
  latencies.push(performance.now() - at);
}
await wait(25_000);
const after = stateOf(watcher.pid);
watcher.kill('SIGTERM');
await once(watcher, 'exit');
await store.close();
rmSync(folder, { recursive: true });
report(
  {
    ...{ benchmark: 'watch', files: count, firstMs: rounded(first), nothingNewMs: rounded(nothingNew) },
    ...{ idleMinutes: minutes, idleSecondsIn20: rounded(((idle.seconds - begun.seconds) / minutes) * 20) },
    ...{ idleMegabytes: rounded(idle.megabytes), megabytesAfterChanges: rounded(after.megabytes) },
    ...{ storedAfterMs: rounded(median(latencies)), storedAtMostMs: rounded(Math.max(...latencies)) },
  },
  [
    { key: 'nothingNewMs', atMost: 300 },
    { key: 'idleSecondsIn20', atMost: 4 },
    { key: 'idleMegabytes', atMost: 80 },
    { key: 'storedAtMostMs', atMost: 2_000 },
  ],
);

async function refOf(path: string) {
  for await (const entry of store.dispatches())
    if (!('error' in entry) && entry.envelope.source?.path === path) return entry;
  throw new Error(`${path} is not imported.`);
}
