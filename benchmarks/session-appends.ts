/**
 * Measures an append of a session beside an append of its dispatch object, on the JSON-file store: the same events, in
 * alternating rounds.
 */
import { rmSync } from 'node:fs';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openSession } from '@hansard/session';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded } from './report.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

const rounds = 400;
const perRound = 200;
const taskDir = 'benchmarks/tasks/session-appends';
const folder = temporaryFolder('bench-session-appends');
const store = openDispatchStore(await openStore('store-jsonfile', folder));
const session = await openSession({
  store,
  taskDir,
  model: { contract: 1, generate: () => Promise.reject(new Error('not called')) },
});
const { root } = session;
const dispatch = await store.beginDispatch(taskDir, { role: 'worker', fidelity: 'full' });
const eventOf = (text: string) =>
  newEvent('user:message', { text, source: { kind: 'user' } }, { agentId: root.agentId });

const works: Record<string, (text: string) => Promise<unknown>> = {
  'dispatch.append': (text) => dispatch.append([eventOf(text)]),
  'session.append': (text) => session.append([eventOf(text)]),
};
const samples = new Map<string, number[]>();
for (let round = 0; round < rounds; round += 1) {
  for (const [name, work] of Object.entries(works)) {
    const start = process.hrtime.bigint();
    for (let index = 0; index < perRound; index += 1) await work(`${'words '.repeat(40)}${round} ${index}`);
    samples.set(name, [...(samples.get(name) ?? []), microsecondsSince(start) / perRound]);
  }
}
const cost = (name: string) => median((samples.get(name) ?? []).slice(rounds / 3));
for (const name of Object.keys(works)) {
  report(
    {
      benchmark: 'session-appends',
      work: name,
      microseconds: rounded(cost(name)),
      ofDispatchAppend: rounded(cost(name) / cost('dispatch.append')),
    },
    name === 'session.append' ? [{ key: 'ofDispatchAppend', atMost: 1.3 }] : [],
  );
}
await session.close();
await dispatch.end({ status: 'completed' });
await store.close();
rmSync(folder, { recursive: true });
