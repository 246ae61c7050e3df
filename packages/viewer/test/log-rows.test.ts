import type { CapturedEvent, NewEvent } from '@hansard/events';
import { branchedLog, randomFrom, randomLog } from '@hansard/testing';
import { AgentNames, type Row, readFolds, readRows } from '@hansard/views';
import { expect, it } from 'vitest';
import { LogRows } from '../src/server/log-rows.ts';
import { openStore, taskDir } from './viewed.ts';

const count = 12_000;
const windowSize = 500;

/** A long log in which agents come all the time and get more names later, and the name of the speaker at each position: its first. */
async function renamed(seed: number) {
  const random = randomFrom(seed);
  const names: string[] = [];
  const speakers: (string | null)[] = [];
  const events = Array.from({ length: count }, (_, at): NewEvent => {
    const isNew = at % 1_000 === 0;
    const number = isNew ? names.length : Math.floor(random() * names.length);
    const agentId = `a${number}`;
    if (isNew || random() < 0.002) {
      const name = `${agentId} from ${at}`;
      if (isNew) names.push(name);
      speakers.push(null);
      return { type: 'agent:created', agentId, data: { name, languageModel: 'm' } };
    }
    speakers.push(names[number] ?? null);
    return { type: 'agent:text', agentId, data: { text: `text ${at}` } };
  });
  const store = await openStore();
  const dispatch = await store.beginDispatch(taskDir, { role: 'w', dispatchId: 'd1' });
  await dispatch.append(events);
  const log = await store.findDispatch({ taskDir, dispatchId: 'd1' });
  if (log === null) throw new Error('The dispatch is missing.');
  return { rows: new LogRows(log), stored: await store.getDispatchEvents(taskDir, 'd1'), speakers, random };
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, key: random() }))
    .sort((one, other) => one.key - other.key)
    .map(({ value }) => value);
}

/** The positions whose row has another name. */
function misnamed(rows: Awaited<ReturnType<LogRows['page']>>['rows'], speakers: readonly (string | null)[]) {
  return rows.flatMap(({ position, agent: { name } }) => {
    const known = speakers[position] ?? null;
    return known === null || name === known ? [] : [position];
  });
}

it.each([1, 2, 3])(
  'names agents by their first names, in whatever order parts are read (seed %i)',
  async (seed) => {
    const { rows, stored, speakers, random } = await renamed(seed);
    const starts = Array.from({ length: count / windowSize }, (_, at) => at * windowSize);
    for (const start of shuffled(starts, random)) await rows.page(start, windowSize);
    for (const start of shuffled(starts, random)) {
      const { rows: shown } = await rows.page(start, windowSize);
      expect(shown.length).toBeGreaterThan(windowSize / 2);
      expect(misnamed(shown, speakers)).toEqual([]);
    }
    // Names in the order in which they were learned would be found wrong.
    const learned = new AgentNames();
    for (const start of shuffled(starts, random))
      for (const event of stored.slice(start, start + windowSize)) learnCreated(learned, event);
    const last = await rows.page(count - windowSize, windowSize);
    const wrong = last.rows.map((row) => ({
      ...row,
      agent: { ...row.agent, name: learned.of(row.agent.agentId) },
    }));
    expect(misnamed(wrong, speakers).length).toBeGreaterThan(0);
  },
);

function learnCreated(names: AgentNames, event: CapturedEvent): void {
  if (event.type === 'agent:created') names.learn(event);
}

/** A window does not know all agents before it: those that no event creates, and how deep one is below another. */
function known({ missing: _, notKnown: __, agent: { depth: ___, ...agent }, ...row }: Row) {
  const heard = row.heard?.map((one) => ({ ...one, agent: one.agent.agentId }));
  const decisions = row.decisions?.map((one) => ({ ...one, agent: one.agent.agentId }));
  // Nor whether a result that is not near is anywhere in the log.
  const status = row.status === 'no result nearby' ? 'no result on record' : row.status;
  return { ...row, agent, heard, decisions, status };
}

/** The reach is short, so that a window has many events that its rows do not reach. */
it('windows of any size, in any order, have the rows of the whole log, each once', async () => {
  const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1e6));
  const random = randomFrom(seed);
  const reach = 7;
  for (let round = 0; round < 40; round += 1) {
    const store = await openStore();
    const dispatch = await store.beginDispatch(taskDir, { role: 'w', dispatchId: 'd1', fidelity: 'full' });
    await dispatch.append(randomLog(random, 50 + Math.floor(random() * 400)));
    if (random() < 0.5) await dispatch.end({ status: 'completed' });
    const log = await store.openDispatch(taskDir, 'd1');
    const hasEnded = log.envelope.status !== 'running';
    const whole: Row[] = [];
    for await (const row of readRows(log, { events: reach, hasEnded })) whole.push(row);
    const rows = new LogRows(log, { reach });
    // Names of agents that are created in parts that were not read are not known.
    for await (const { position, event } of log.events()) rows.learn(event, position);
    const count = await log.count();
    const size = 1 + Math.floor(random() * 60);
    const starts = Array.from({ length: Math.ceil(count / size) }, (_, at) => at * size);
    const pages = new Map<number, readonly Row[]>();
    for (const start of shuffled(starts, random)) pages.set(start, (await rows.page(start, size)).rows);
    const place = `HANSARD_SEED=${seed}, round ${round}`;
    expect(starts.flatMap((start) => pages.get(start) ?? []).map(known), place).toEqual(whole.map(known));
    await dispatch.release();
  }
});

it('rows of windows are folded as those of the whole log, whatever is open', async () => {
  for (let seed = 1; seed <= 4; seed += 1) {
    const { events } = branchedLog({ seed, length: 1_500 });
    const store = await openStore();
    const dispatch = await store.beginDispatch(taskDir, { role: 'w', dispatchId: `b${seed}` });
    await dispatch.append(events);
    const rows = new LogRows(dispatch, { reach: 40 });
    const folds = await rows.folds();
    if (folds === null) throw new Error('Nothing is folded.');
    expect(folds.folded.length).toBeGreaterThan(5);
    const stored = await store.getDispatchEvents(taskDir, `b${seed}`);
    for (const isOpen of [
      () => false,
      () => true,
      ({ position }: { position: number }) => position % 2 === 0,
    ]) {
      const whole: Row[] = [];
      for await (const row of readRows(listOf(stored), { events: 40 }))
        whole.push(...[folds.shown(row, isOpen) ?? []].flat());
      const pages: Row[] = [];
      for (let from = 0; from < events.length; from += 25)
        pages.push(...(await rows.page(from, 25, { folds, isOpen })).rows);
      expect(pages.map(({ position, events: own, kind }) => [position, own, kind])).toEqual(
        whole.map(({ position, events: own, kind }) => [position, own, kind]),
      );
    }
  }
});

it('folds are read again after an event that changes a branch, and not otherwise', async () => {
  const { events } = branchedLog({ seed: 3, length: 200 });
  const store = await openStore();
  const dispatch = await store.beginDispatch(taskDir, { role: 'w', dispatchId: 'grown' });
  const rows = new LogRows(dispatch);
  await dispatch.append(events.slice(0, 100));
  const before = await rows.folds();
  await rows.page(0, 100);
  expect(await rows.folds()).toBe(before);
  await dispatch.append(events.slice(100));
  await rows.page(100, 100);
  const stored = await store.getDispatchEvents(taskDir, 'grown');
  expect((await rows.folds())?.folded).toEqual((await readFolds(listOf(stored))).folded);
});

async function* listOf(events: readonly CapturedEvent[]): AsyncGenerator<readonly CapturedEvent[]> {
  yield events;
}
