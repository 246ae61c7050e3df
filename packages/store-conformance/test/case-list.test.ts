import { describe, expect, it } from 'vitest';
import { defineStoreConformance, type StoreConformanceCase, storeConformanceCases } from '../src/index.ts';
import { modelCapabilities, openModel } from './open-model.ts';

describe('the list of cases', () => {
  it('names each case once, as family/name', () => {
    const ids = storeConformanceCases.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z]+\/[a-z]+(-[a-z]+)*$/);
  });

  it('has cases for each of the nine rules', () => {
    const rules = new Set(storeConformanceCases.map(({ rule }) => rule));
    for (const rule of [1, 2, 3, 4, 5, 6, 7, 8, 9]) expect(rules).toContain(rule);
  });

  it('has a case that each flag of the capabilities decides', () => {
    const flags = new Set(storeConformanceCases.flatMap(({ needs }) => needs));
    expect([...flags].sort()).toEqual(Object.keys(modelCapabilities).sort());
  });

  it('becomes one test per case, titled with its id, for those that the capabilities choose', () => {
    const titles: string[] = [];
    defineStoreConformance({
      name: 'model',
      describe: (_, body) => body(),
      it: (title) => titles.push(title),
      capabilities: { ...modelCapabilities, durability: 'memory', deleteDispatch: false, rewrite: false },
      create: openModel,
    });
    const expected = storeConformanceCases
      .filter(({ needs }) => needs.length === 0)
      .map(({ id, title }: StoreConformanceCase) => `${id}: ${title}`);
    expect(titles).toEqual(expected);
  });
});
