import type { DispatchStoreProvider } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { shrinkSteps } from '../src/cases/store/model.ts';
import { runStoreConformance } from '../src/index.ts';
import type { Step } from '../src/model/model-steps.ts';
import { createModelStore } from '../src/model/model-store.ts';
import { createRandom } from '../src/model/random.ts';
import { modelCapabilities } from './open-model.ts';

type Model = ReturnType<typeof createModelStore>;
type Fault = (model: Model) => Partial<DispatchStoreProvider>;

/** Stores with one fault, the most steps that are left when no single one can be removed, and the method that differs. */
const faults: ReadonlyArray<readonly [fault: string, most: number, last: RegExp, change: Fault]> = [
  [
    'accepts a conflict',
    4,
    /^appendEvent$/,
    (model) => ({
      appendEvent(taskDir, dispatchId, event) {
        const known = model.getDispatchEvents(taskDir, dispatchId).find(({ id }) => id === event.id);
        return model.appendEvent(taskDir, dispatchId, known ?? event);
      },
    }),
  ],
  [
    'lists an empty task after its only dispatch was deleted',
    3,
    /^listTasks$/,
    (model) => {
      const deleted = new Set<string>();
      return {
        deleteDispatch(taskDir, dispatchId) {
          model.deleteDispatch(taskDir, dispatchId);
          deleted.add(taskDir);
        },
        listTasks: () => [...model.listTasks(), ...[...deleted].map((taskDir) => ({ taskDir, task: null }))],
      };
    },
  ],
  [
    'forgets claims when an event is appended to another dispatch',
    7,
    /^(appendEvents?|updateDispatch)$/,
    (model) => {
      let latest = '';
      return {
        appendEvents(taskDir, dispatchId, events) {
          const key = `${taskDir} ${dispatchId}`;
          const positions = model.appendEvents(taskDir, dispatchId, events);
          if (latest !== '' && latest !== key) model.releaseDispatch(taskDir, dispatchId);
          latest = key;
          return positions;
        },
      };
    },
  ],
];

async function shortestSteps(change: Fault, seed: number): Promise<readonly string[]> {
  const create = () => {
    const model = createModelStore();
    return { store: { ...model, ...change(model) } as DispatchStoreProvider, dispose: () => {} };
  };
  const capabilities = { ...modelCapabilities, durability: 'memory' as const };
  const [result] = await runStoreConformance({ capabilities, create, seed }, ['model/random-steps']);
  const message = String(result?.error);
  expect(message).toContain('The shortest steps that fail on a new store: ');
  return [...message.matchAll(/^ {2}\d+\. (\w+)\(/gm)].map(([, method = '']) => method);
}

describe('the shortest failing steps', () => {
  it.each(faults)(
    'show a store that %s by at most %d steps, the last of them %s',
    async (_, most, last, change) => {
      for (const seed of [1, 2, 3]) {
        const shortest = await shortestSteps(change, seed);
        expect(shortest.length).toBeLessThanOrEqual(most);
        expect(shortest.at(-1)).toMatch(last);
      }
    },
  );
});

describe('shrinkSteps', () => {
  const steps: readonly Step[] = Array.from({ length: 300 }, (_, index) => ({
    method: `m${index}`,
    args: [],
  }));
  /** Fails at the last of the needed steps, if all of them run in order. */
  const failsOn = (needed: readonly string[]) => async (candidate: readonly Step[]) => {
    let found = 0;
    for (const [index, { method }] of candidate.entries()) {
      if (method === needed[found]) found += 1;
      if (found === needed.length) return index + 1;
    }
    return null;
  };

  it('finds any few steps among three hundred', async () => {
    const random = createRandom(17);
    for (let round = 0; round < 40; round += 1) {
      const chosen = new Set(Array.from({ length: 1 + random.below(5) }, () => random.below(300)));
      const needed = [...chosen].sort((one, other) => one - other).map((index) => `m${index}`);
      const shortest = await shrinkSteps(steps, failsOn(needed));
      expect(shortest.map(({ method }) => method)).toEqual(needed);
    }
  });

  it('keeps of a batch only the events that are needed', async () => {
    const batch = { method: 'appendEvents', args: ['t', 'd', ['a', 'b', 'c', 'd']] };
    const shortest = await shrinkSteps([...steps, batch], async (candidate) => {
      const events = (candidate.at(-1)?.args[2] ?? []) as readonly string[];
      return events.includes('c') && events.includes('a') ? candidate.length : null;
    });
    expect(shortest).toEqual([{ method: 'appendEvents', args: ['t', 'd', ['a', 'c']] }]);
  });

  it('gives the steps back if they do not fail again', async () => {
    expect(await shrinkSteps(steps, async () => null)).toEqual(steps);
  });
});
