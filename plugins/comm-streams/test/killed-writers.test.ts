import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { killWriters } from './kill-writers.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

describe(`the writer of live streams (HANSARD_SEED=${seed})`, () => {
  it('that is killed again and again loses no line, and doubles and tears none', async () => {
    const { kills, wrong } = await killWriters(3, randomFrom(seed));
    expect([kills, wrong]).toEqual([3, []]);
  });
});
