/**
 * Counts the work of one steady append, row and listed dispatch, and prints it as JSON. No count depends on time or on the machine:
 *
 * - `files` and `functions`: the source files and functions of the repository that are entered. `calls`: how often, in all.
 * - `promises`: the promises that are created, the one of the `await` of the caller included.
 * - `fileOperations`: the calls of the file-system wrapper of the JSON-file store.
 *
 * Each is the least of several measurements: work that is due from time to time, such as a check of the claim, is not in it.
 */
import './frozen-time.ts';
import { createHook } from 'node:async_hooks';
import { rmSync } from 'node:fs';
import { Session as Inspector, type Profiler } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { openDispatchStore } from '@hansard/dispatch';
import { createIdSource, newEvent } from '@hansard/events';
import { createRedactor } from '@hansard/redaction';
import { openSession } from '@hansard/session';
import { RowReader } from '@hansard/views';
import { freezeTime, thawTime } from './frozen-time.ts';
import { sampleEnvelope, sampleEvent, taskDir, text } from './sample-events.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface SteadyWork {
  readonly files: number;
  readonly functions: number;
  readonly calls: number;
  readonly promises: number;
  readonly fileOperations: number;
}

type Work = () => unknown;

const repository = pathToFileURL(`${import.meta.dirname}/..`).href;
const measured = /\/(?:packages|plugins)\/[^/]+\/src\//;
const fileSystem = '/plugins/store-jsonfile/src/files.ts';
const repeats = 9;
const warmUp = 200;
/** Only this work, with the names of what it enters. */
const only = process.argv[2];

let promises = 0;
const hook = createHook({
  init(_, type) {
    if (type === 'PROMISE') promises += 1;
  },
});
const inspector = new Inspector();
inspector.connect();
await inspector.post('Profiler.enable');

async function steadyWork(run: Work): Promise<SteadyWork> {
  for (let done = 0; done < warmUp; done += 1) await run();
  const counts: SteadyWork[] = [];
  for (let done = 0; done < repeats; done += 1) counts.push(await countOnce(run));
  return counts.reduce(leastOf);
}

async function countOnce(run: Work): Promise<SteadyWork> {
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  freezeTime();
  await run();
  await inspector.post('Profiler.takePreciseCoverage');
  promises = 0;
  hook.enable();
  const answer = run();
  if (answer instanceof Promise) await answer;
  hook.disable();
  thawTime();
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  await inspector.post('Profiler.stopPreciseCoverage');
  return { ...entered(result), promises };
}

function entered(scripts: readonly Profiler.ScriptCoverage[]): Omit<SteadyWork, 'promises'> {
  let [files, functions, calls, fileOperations] = [0, 0, 0, 0];
  for (const { url, functions: all } of scripts) {
    if (!url.startsWith(repository) || !measured.test(url)) continue;
    const run = all.flatMap(({ functionName, ranges }) =>
      ranges[0] === undefined || ranges[0].count === 0 ? [] : { functionName, count: ranges[0].count },
    );
    if (run.length === 0) continue;
    const sum = run.reduce((total, { count }) => total + count, 0);
    files += 1;
    functions += run.length;
    calls += sum;
    if (url.endsWith(fileSystem)) fileOperations += sum;
    if (only !== undefined)
      console.error(
        url.slice(repository.length),
        ...run.map((entry) => `${entry.functionName}×${entry.count}`),
      );
  }
  return { files, functions, calls, fileOperations };
}

function leastOf(left: SteadyWork, right: SteadyWork): SteadyWork {
  return {
    files: Math.min(left.files, right.files),
    functions: Math.min(left.functions, right.functions),
    calls: Math.min(left.calls, right.calls),
    promises: Math.min(left.promises, right.promises),
    fileOperations: Math.min(left.fileOperations, right.fileOperations),
  };
}

const folder = temporaryFolder('steady-work');
const provider = await openStore('store-jsonfile', `${folder}/provider`);
provider.createDispatch(taskDir, sampleEnvelope('one'));
let position = 0;
const utterance = newEvent('agent:text', { text });

const facade = openDispatchStore(await openStore('store-jsonfile', `${folder}/facade`));
const dispatch = await facade.beginDispatch(taskDir, { role: 'worker' });
const redacting = openDispatchStore(await openStore('store-jsonfile', `${folder}/redacted`), {
  redact: createRedactor(),
});
const redacted = await redacting.beginDispatch(taskDir, { role: 'worker' });
const session = await openSession({
  store: facade,
  taskDir,
  model: { contract: 1, generate: () => Promise.reject(new Error('not called')) },
});
const { root } = session;
const said = () => newEvent('user:message', { text, source: { kind: 'user' } }, { agentId: root.agentId });
const reader = new RowReader();
const createId = createIdSource();

async function listingOf(count: number): Promise<SteadyWork> {
  for (let made = 0; made < count; made += 1) {
    const startedAt = `2026-03-01T09:${10 + made}:00.000Z`;
    const dispatchId = `dispatch-${made}`;
    const listed = await facade.beginDispatch(`listed-${count}`, { role: 'worker', dispatchId, startedAt });
    await listed.append(utterance);
    await listed.end({ status: 'completed' });
  }
  // What was read from a file that has just changed is not kept.
  await sleep(500);
  return steadyWork(() => facade.listDispatches({ taskDir: `listed-${count}` }));
}

/** What ten dispatches more cost a listing, divided by ten. */
async function listedDispatch(): Promise<SteadyWork> {
  const [few, many] = [await listingOf(10), await listingOf(20)];
  return {
    files: many.files,
    functions: many.functions,
    calls: (many.calls - few.calls) / 10,
    promises: (many.promises - few.promises) / 10,
    fileOperations: (many.fileOperations - few.fileOperations) / 10,
  };
}

const works = {
  provider: () => steadyWork(() => provider.appendEvent(taskDir, 'one', sampleEvent(position++))),
  facade: () => steadyWork(() => dispatch.append(utterance)),
  session: () => steadyWork(() => session.append([said()])),
  redacted: () => steadyWork(() => redacted.append(utterance)),
  row: () =>
    steadyWork(() => {
      reader.add({ id: createId(), timestamp: '2026-03-01T09:30:00.000Z', ...utterance });
      return [...reader.settled()];
    }),
  listed: listedDispatch,
};
const found: Record<string, SteadyWork> = {};
for (const [name, work] of Object.entries(works))
  if (only === undefined || only === name) found[name] = await work();
console.log(JSON.stringify(found));
await session.close();
await facade.close();
await redacting.close();
await provider.close();
rmSync(folder, { recursive: true });
