/** Measures how long it takes to load a session of 50 agents, to index its log, and to derive the dialog of two agents. */
import { rmSync } from 'node:fs';
import { openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { openSession, type Session } from '@hansard/session';
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

interface Sample {
  readonly elapsed: number;
  /** Of all threads. The load of the machine changes it less than the elapsed time. */
  readonly processor: number;
}

/** Milliseconds. */
async function timed(work: () => unknown): Promise<Sample> {
  const usage = process.cpuUsage();
  const start = process.hrtime.bigint();
  await work();
  const elapsed = microsecondsSince(start) / 1_000;
  const { user, system } = process.cpuUsage(usage);
  return { elapsed, processor: (user + system) / 1_000 };
}

const folder = temporaryFolder('bench-sessions');
const store = openDispatchStore(await openStore('store-jsonfile', folder));
const samples = new Map<string, Sample[]>();
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
        session = await openSession({ store, taskDir, dispatchId, model });
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
  const medianOf = (length: number, figure: keyof Sample) =>
    rounded(median((samples.get(`${name} ${length}`) ?? []).map((sample) => sample[figure])));
  const result = { benchmark: 'sessions', work: name, agents: agents.length };
  const figuresOf = (length: number) => ({
    events: length,
    milliseconds: medianOf(length, 'elapsed'),
    processorMilliseconds: medianOf(length, 'processor'),
  });
  const [short, long] = [figuresOf(lengths[0]), figuresOf(lengths[1])];
  report({ ...result, ...short }, [{ key: 'milliseconds', atMost }]);
  const ofOneTenth = rounded(long.milliseconds / short.milliseconds);
  report({ ...result, ...long, ofOneTenth }, [{ key: 'ofOneTenth', atMost: 12 }]);
}
await store.close();
rmSync(folder, { recursive: true });
