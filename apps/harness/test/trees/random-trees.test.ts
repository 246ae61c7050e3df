import { importMutated } from '@hansard/testing/mutants';
import { afterAll, describe, expect, it } from 'vitest';
import { type Fault, homeOf, type Mutated, mutated } from './tree-mutants.ts';
import { differenceIn, differenceOf, type ReadWorld, readers, readWorld } from './world-difference.ts';
import { WrittenWorld } from './written-world.ts';

const first = Number(process.env.HANSARD_SEED ?? 1);
const seeds = Number(process.env.HANSARD_SEEDS ?? 24);

const read = new Map<number, Promise<ReadWorld>>();
afterAll(async () => {
  for (const world of read.values()) await (await world).store.close();
});

function worldOf(seed: number): Promise<ReadWorld> {
  const world = read.get(seed) ?? readWorld(seed);
  read.set(seed, world);
  return world;
}

describe(`sessions that go back, fork, copy each other and have sub-agents (HANSARD_SEED=${first}, ${seeds} seeds)`, () => {
  it('have the paths, prompts, sums, hearings, training rows and hits that their writer kept, imported while they grew', async () => {
    for (let seed = first; seed < first + seeds; seed += 1) {
      const difference = seed > 100 ? await differenceIn(seed) : await differenceOf(await worldOf(seed));
      expect(difference, `HANSARD_SEED=${seed} HANSARD_SEEDS=1`).toBeNull();
    }
  });

  it('have every kind, and nearly every pair of kinds', () => {
    const kinds = new Set<string>();
    const pairs = new Set<string>();
    for (let seed = 1; seed <= 300; seed += 1)
      for (const session of new WrittenWorld(seed).sessions)
        for (const kind of session.kinds) {
          kinds.add(kind);
          for (const other of session.kinds) if (kind < other) pairs.add(`${kind}, ${other}`);
        }
    expect(kinds.size).toBe(25);
    // A session of Claude Code 1.x has no markers, agents and compactions, and is copied by that version alone.
    expect(pairs.size).toBeGreaterThan(240);
  });
});

/** The first of some worlds that is read wrong. */
async function wrongSeed(
  { home, entry, tools }: Mutated,
  fault: Fault,
  worlds: readonly number[],
): Promise<number | null> {
  const made = await importMutated(homeOf(home), fault, entry);
  const broken = { ...readers, ...tools(made as never) };
  for (const seed of worlds)
    try {
      const difference =
        home === 'claude'
          ? await differenceIn(seed, broken)
          : await differenceOf(await worldOf(seed), broken);
      if (difference !== null) return seed;
    } catch {
      return seed;
    }
  return null;
}

describe.each(mutated)('the random worlds, with a changed copy of $home', (one) => {
  it('are read right if nothing is changed', async () => {
    const [[, , file, piece] = ['', 0, '', '']] = one.faults;
    const worlds = new Set(one.faults.map(([, seed]) => seed));
    expect(await wrongSeed(one, [file, piece, piece], [...worlds])).toBeNull();
  });

  it.each(one.faults)('are read wrong if %s (seed %i)', async (_, seed, ...fault) => {
    expect(await wrongSeed(one, fault, [seed])).toBe(seed);
  });
});
