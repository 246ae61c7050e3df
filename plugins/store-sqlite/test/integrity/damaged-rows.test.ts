import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/index.ts';
import { temporaryPath } from '../temporary-store.ts';
import { checkDamage, damages } from './damage-rows.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 31));

describe('rows that were damaged by hand', () => {
  it.each(damages.map((damage) => [damage.name, damage] as const))(
    '%s: is refused with its place, the other events are read, and the loss can be accepted',
    (_, damage) => {
      for (let round = 0; round < 8; round += 1)
        try {
          checkDamage(openSqliteStore, temporaryPath(), damage, seed + round);
        } catch (cause) {
          expect.unreachable(`HANSARD_SEED=${seed + round}: ${cause instanceof Error ? cause.stack : cause}`);
        }
    },
  );
});
