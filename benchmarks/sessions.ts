/** Measures how long it takes to load a session of 50 agents, to index its log, and to derive the dialog of two agents. */
import { rmSync } from 'node:fs';
import { openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { Session } from '@hansard/session';
import { createLogIndex, dialogOf } from '@hansard/views';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded } from './report.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

const taskDir = 'benchmarks/tasks/sessions';
const agents = Array.from({ length: 50 }, (_, number) => `agent_${String(number + 1).padStart(3, '0')}`);
const lengths = [10_000, 100_000] as const;
const rounds = 9;
const model = {
  contract: 1 as const,
  generate() {
    throw new Error('Nobody is asked here.');
  },
};

/** Agents that pass on what they heard: every other event is a delivery of the line before it. */
function conversation(length: number): NewEvent[] {
  const events: NewEvent[] = agents.map((agentId) =>
    newEvent('agent:created', { name: `name of ${agentId}` }, { id: `created-${agentId}`, agentId }),
  );
  for (let number = events.length; number < length; number += 1) {
    const agentId = agents[number % agents.length] ?? '';
    const id = `line-${number}`;
    const text = `The ${number}th thing that was said at this table.`;
    if (number % 2 === 0) events.push(newEvent('agent:text', { text }, { id, messageId: id, agentId }));
    else {
      const heard = { text: `[Somebody]: ${text}`, source: { kind: 'agent' as const } };
      const substance = `line-${number - 1}`;
      events.push(newEvent('user:message', heard, { id, messageId: id, agentId, substance }));
    }
  }
  return events;
}

async function timed(work: () => unknown): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return microsecondsSince(start) / 1_000;
}

const folder = temporaryFolder('bench-sessions');
const store = openDispatchStore(await openStore('store-jsonfile', folder));
const samples = new Map<string, number[]>();
for (const length of lengths) {
  const dispatchId = `of-${length}`;
  const dispatch = await store.beginDispatch(taskDir, { dispatchId, role: 'session', fidelity: 'full' });
  await dispatch.append(conversation(length));
  await dispatch.release();
}
for (const length of lengths) {
  const dispatchId = `of-${length}`;
  const [first = '', second = ''] = agents;
  for (let round = 0; round < rounds; round += 1) {
    const events = await store.getDispatchEvents(taskDir, dispatchId);
    let index = createLogIndex([]);
    let session: Session | undefined;
    const works: Record<string, () => unknown> = {
      load: async () => {
        session = await Session.load({ store, taskDir, dispatchId, model });
      },
      index: () => {
        index = createLogIndex(events);
      },
      'dialog of two': () => dialogOf(index, [first, second]),
    };
    for (const [name, work] of Object.entries(works)) {
      const key = `${name} ${length}`;
      samples.set(key, [...(samples.get(key) ?? []), await timed(work)]);
    }
    // A dispatch has one session at a time.
    await session?.close();
  }
}
for (const [name, atMost] of [
  ['load', 200],
  ['index', 50],
  ['dialog of two', 50],
] as const) {
  const [short, long] = lengths.map((length) => median(samples.get(`${name} ${length}`) ?? []));
  const result = { benchmark: 'sessions', work: name, agents: agents.length };
  const milliseconds = rounded(short ?? Number.NaN);
  report({ ...result, events: lengths[0], milliseconds }, [{ key: 'milliseconds', atMost }]);
  const tenfold = rounded((long ?? Number.NaN) / (short ?? Number.NaN));
  report({ ...result, events: lengths[1], milliseconds: rounded(long ?? Number.NaN), ofOneTenth: tenfold }, [
    { key: 'ofOneTenth', atMost: 12 },
  ]);
}
await store.close();
rmSync(folder, { recursive: true });
