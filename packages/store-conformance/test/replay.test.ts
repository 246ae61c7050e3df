import { afterEach, describe, expect, it, vi } from 'vitest';
import { runStoreConformance } from '../src/index.ts';
import { createModelStore } from '../src/model/model-store.ts';
import { modelCapabilities } from './open-model.ts';

/** Wrong only if a page starts after position 8. */
function createWrongStore() {
  const model = createModelStore();
  return {
    ...model,
    readEvents: (...args: Parameters<typeof model.readEvents>) => {
      const page = model.readEvents(...args);
      return page.first > 8 ? { ...page, first: page.first + 1 } : page;
    },
  };
}

async function failureOfModelCase(seed?: number): Promise<string> {
  const store = {
    capabilities: { ...modelCapabilities, durability: 'memory' },
    create: () => ({ store: createWrongStore(), dispose: () => {} }),
    ...(seed === undefined ? {} : { seed }),
  } as const;
  const [result] = await runStoreConformance(store, ['model/random-steps']);
  return String(result?.error);
}

afterEach(() => vi.unstubAllEnvs());

describe('a failure of the model case', () => {
  it('reports the seed, the step, the shortest operations that fail and how to replay them', async () => {
    const message = await failureOfModelCase(42);
    expect(message).toMatch(/^Error: Step \d+ of the sequence with seed 42: /);
    expect(message).toContain("the outcome['answer']['first'] is ");
    const steps = message.split('\n').filter((line) => /^ {2}\d+\. /.test(line));
    expect(steps[0]).toContain('1. createDispatch(');
    expect(steps.at(-1)).toContain('. readEvents(');
    expect(steps.length).toBeLessThanOrEqual(13);
    expect(message).toContain('HANSARD_SEED=42');
  });

  it('is repeated step by step with the seed as option or in the environment', async () => {
    vi.stubEnv('HANSARD_SEED', '');
    const first = await failureOfModelCase();
    const seed = Number(/seed (\d+)/.exec(first)?.[1]);
    expect(await failureOfModelCase(seed)).toBe(first);
    vi.stubEnv('HANSARD_SEED', String(seed));
    expect(await failureOfModelCase()).toBe(first);
  });

  it('refuses a seed that is not a whole number', async () => {
    vi.stubEnv('HANSARD_SEED', 'abc');
    expect(await failureOfModelCase()).toContain('"abc"');
  });
});
