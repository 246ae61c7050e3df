import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { killSession, killWriters } from './kill-writers.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

describe(`the writer of live files (HANSARD_SEED=${seed})`, () => {
  it('that is killed again and again loses no line, and doubles and tears none', async () => {
    const { kills, wrong } = await killWriters(5, randomFrom(seed));
    expect([kills, wrong]).toEqual([5, []]);
  });

  it('has the session logs of several agents that speak at once as they are exported at the end, after any kills', async () => {
    const { kills, wrong } = await killSession(5, randomFrom(seed + 1));
    expect([kills, wrong]).toEqual([5, []]);
  });
});
