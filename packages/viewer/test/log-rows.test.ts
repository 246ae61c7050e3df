import type { CapturedEvent, NewEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { AgentNames } from '@hansard/views';
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
