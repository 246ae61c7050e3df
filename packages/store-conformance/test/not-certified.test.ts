import { describe, expect, it } from 'vitest';
import { runStoreConformance, type StoreFixture, type StoreUnderTest } from '../src/index.ts';
import { openReference } from './open-reference.ts';
import { referenceCapabilities } from './reference/reference-store.ts';

/** The reference store with another durability and other parts of its fixture. */
function claiming(durability: 'process' | 'disk', parts: Partial<StoreFixture> = {}): StoreUnderTest {
  const capabilities = { ...referenceCapabilities, durability };
  return {
    capabilities,
    create: () => ({ ...openReference(() => ({ capabilities })), ...parts }),
  };
}

async function notCertified(store: StoreUnderTest, caseId: string) {
  const [result] = await runStoreConformance(store, [caseId]);
  return [result?.status, result?.notCertified ?? null, result?.reason ?? String(result?.error)];
}

describe('what a store claims', () => {
  it('is not certified without a means to test it', async () => {
    expect(await notCertified(claiming('disk'), 'power/appends')).toEqual([
      'skipped',
      "durability: 'disk'",
      'the fixture has no `losePower`, which loses power',
    ]);
    const { damage: _, ...others } = openReference();
    const withoutDamage = { ...claiming('process'), create: () => others };
    expect((await notCertified(withoutDamage, 'damage/cut')).slice(0, 2)).toEqual([
      'skipped',
      "integrity: 'checksum'",
    ]);
    expect((await notCertified(claiming('process'), 'killed/while-appending'))[1]).toMatch(
      /writers: 'dispatch'/,
    );
    expect((await notCertified(claiming('process', { hasServer: true }), 'network/cut'))[1]).toBe(
      'outages of the server',
    );
  });

  it('is not certified as removed without the stored bytes', async () => {
    for (const [caseId, what] of [
      ['rich/rewrite-unfindable', 'a rewrite'],
      ['rich/delete-unfindable', 'a deletion'],
    ] as const) {
      const { damage: _, bytes: __, ...rest } = openReference();
      expect(await notCertified({ ...claiming('process'), create: () => rest }, caseId)).toEqual([
        'skipped',
        `what ${what} removes is not stored`,
        'the fixture has no `bytes`, which gives all that is stored',
      ]);
      expect((await notCertified(claiming('process'), caseId)).slice(0, 2)).toEqual(['passed', null]);
    }
  });

  it('is nothing that could be missing where the store does not claim it', async () => {
    expect((await notCertified(claiming('process'), 'power/appends')).slice(0, 2)).toEqual(['skipped', null]);
    expect((await notCertified(claiming('process'), 'network/cut')).slice(0, 2)).toEqual(['skipped', null]);
    expect((await notCertified(claiming('process'), 'damage/cut')).slice(0, 2)).toEqual(['passed', null]);
  });

  it('is printed as claimed by the server if the author names its settings', async () => {
    const named = claiming('disk', { serverSettings: () => ({ fsync: 'on', sync: 'always' }) });
    expect(await notCertified(named, 'power/appends')).toEqual([
      'skipped',
      "durability: 'disk'",
      'claimed by the server, not certified here (fsync = on, sync = always)',
    ]);
    for (const settings of [{}, { fsync: '' }]) {
      const empty = claiming('disk', { serverSettings: () => settings as Record<string, string> });
      expect((await notCertified(empty, 'power/appends'))[0]).toBe('failed');
    }
  });
});
