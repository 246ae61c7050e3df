/**
 * Measures the start of the built command beside the start of bare Node. A second built command, such as that of another
 * commit, can be named: `node benchmarks/start.ts PATH/TO/dist/bin.js`. The commands take turns.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openDispatchStore } from '@hansard/dispatch';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded } from './report.ts';
import { sampleEvent } from './sample-events.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

const tasks = 300;
const rounds = 21;
const most: Readonly<Record<string, number>> = { '--help': 4, ls: 6 };

const built = fileURLToPath(new URL('../apps/harness/dist/bin.js', import.meta.url));
if (!existsSync(built)) throw new Error(`${built} does not exist: run \`pnpm build\` first.`);
const commands = { built, ...(process.argv[2] === undefined ? {} : { other: process.argv[2] }) };

const folder = temporaryFolder('bench-start');
const store = openDispatchStore(await openStore('store-jsonfile', folder));
for (let number = 0; number < tasks; number += 1) {
  const slug = `task-${number}`;
  const taskDir = `lab/tasks/${slug}`;
  await store.putTask(taskDir, {
    slug,
    name: slug,
    project: 'lab',
    status: 'open',
    created: '2026-03-01T09:30:00.000Z',
  });
  const dispatch = await store.beginDispatch(taskDir, { role: 'agent', model: 'model-1' });
  await dispatch.append(sampleEvent(number));
  await dispatch.update({ cost: 0.01 });
  await dispatch.end({ status: 'completed' });
}
await store.close();

/** Node's cache of compiled code is in a folder of its own: nothing else has filled it. */
const env = { ...process.env, TMPDIR: folder };

function start(args: readonly string[]): number {
  const begin = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
  return microsecondsSince(begin) / 1_000;
}

const contenders = [
  { command: 'bare Node', run: '', args: ['--eval', '0'] },
  ...Object.entries(commands).flatMap(([command, path]) =>
    Object.keys(most).map((run) => ({ command, run, args: [path, run] })),
  ),
].map((contender) => ({ ...contender, samples: [] as number[] }));
for (let round = 0; round <= rounds; round += 1) {
  for (const { args, samples } of contenders) {
    const milliseconds = start(args);
    // The first round fills the compile cache.
    if (round > 0) samples.push(milliseconds);
  }
}
const bare = median(contenders[0]?.samples ?? []);
for (const { command, run, samples } of contenders) {
  const milliseconds = median(samples);
  const result = { benchmark: 'start', command, run, tasks, milliseconds: rounded(milliseconds) };
  const atMost = most[run];
  if (atMost === undefined) report(result);
  else report({ ...result, ofBareNode: rounded(milliseconds / bare) }, [{ key: 'ofBareNode', atMost }]);
}
rmSync(folder, { recursive: true });
