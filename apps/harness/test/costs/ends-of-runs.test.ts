import { openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { expectAgreement } from './expect-agreement.ts';
import { randomWork } from './random-work.ts';
import { endings, runTo } from './run-endings.ts';
import { faults, logsOf, spentBy, spentIn } from './spending-oracle.ts';

const taskDir = 'lab/tasks/route-models';
const seed = Number(process.env.HANSARD_SEED ?? 12);
const rounds = 6;
const names = Object.keys(endings);

/** A dispatch that ends in one way, with workers below it that end in others. */
async function familyThatEnds(name: string, random: () => number) {
  const store = openDispatchStore(createMemoryStore());
  const any = () => endings[names[Math.floor(random() * names.length)] ?? ''] ?? endings.completed;
  const ended = async (dispatchId: string, ending = any(), parentDispatchId?: string) => {
    if (ending === undefined) throw new Error(`There is no end ${name}.`);
    const parent = parentDispatchId === undefined ? {} : { parentDispatchId };
    const envelope = await runTo(ending, randomWork(random), { store, taskDir, dispatchId, ...parent });
    expect(envelope.status, dispatchId).toBe(ending.status);
  };
  await ended('root', endings[name]);
  await ended('worker-1', undefined, 'root');
  await ended('worker-2', undefined, 'root');
  await ended('worker-of-1', undefined, 'worker-1');
  return store;
}

describe('what a run and its workers spent, by the envelope, the tree, the view and the trace', () => {
  it.each(names)('is what the events add up to after a run that was %s', async (name) => {
    const random = randomFrom(seed + names.indexOf(name));
    let compared = 0;
    for (let round = 0; round < rounds; round += 1) {
      const store = await familyThatEnds(name, random);
      compared += await expectAgreement(store, taskDir, `HANSARD_SEED=${seed}, round ${round}`);
    }
    expect(compared).toBe(rounds * 4 * 6);
  });

  it('is what the events add up to after a dispatch that was left without an end', async () => {
    const random = randomFrom(seed);
    const store = openDispatchStore(createMemoryStore());
    for (let round = 0; round < rounds; round += 1) {
      await using dispatch = await store.beginDispatch(taskDir, {
        role: 'worker',
        dispatchId: `left-${round}`,
      });
      await dispatch.append(randomWork(random));
    }
    const logs = await logsOf(store, taskDir);
    expect(logs.map(({ envelope }) => envelope.status)).toEqual(Array(rounds).fill('aborted'));
    await expectAgreement(store, taskDir, `HANSARD_SEED=${seed}`);
  });

  it('would differ from the events for every wrong way to add them up', async () => {
    const random = randomFrom(seed);
    const stores = [];
    for (const name of names) stores.push(await familyThatEnds(name, random));
    const logs = (await Promise.all(stores.map((store) => logsOf(store, taskDir)))).flat();
    for (const fault of faults) {
      const wrong = logs.filter(
        ({ envelope, events }) =>
          JSON.stringify(sorted(spentIn(events, fault))) !== JSON.stringify(sorted(spentBy(envelope))),
      );
      expect(wrong.length, `${fault}, HANSARD_SEED=${seed}`).toBeGreaterThan(0);
    }
    const right = logs.filter(
      ({ envelope, events }) =>
        JSON.stringify(sorted(spentIn(events))) === JSON.stringify(sorted(spentBy(envelope))),
    );
    expect(right).toHaveLength(logs.length);
  });
});

const sorted = ({ cost, tokens, models }: ReturnType<typeof spentIn>) => [
  cost,
  tokens,
  Object.entries(models).sort(([one], [other]) => (one < other ? -1 : 1)),
];
