import { type JsonObject, type JsonValue, parseEvent } from '@hansard/events';
import { createRedactor } from '@hansard/redaction';
import { randomFrom, sampleEvents } from '@hansard/testing';
import { describe, expect, it } from 'vitest';

const secret = 'AKIAQ5WHGCBRDUWXSHXI';
const eventOf = (data: JsonObject) => parseEvent({ ...sampleEvents['agent:text'], type: 'game:turn', data });
const seed = Number(process.env.SEED ?? 83);

describe('a text that a key has again in the next event', () => {
  it(`is redacted as if it came for the first time (seed ${seed})`, () => {
    const random = randomFrom(seed);
    const oneOf = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
    const texts = [
      '',
      'main',
      '/home/someone/project',
      secret,
      `in ${secret}`,
      'x'.repeat(300),
      'hG7k2Lq9Zt4Bv8',
    ];
    const keys = ['cwd', 'branch', 'password', 'a key', `of ${secret}`];
    const value = (depth: number): JsonValue => {
      const kind = random();
      if (kind < 0.6 || depth > 2) return oneOf(texts);
      if (kind < 0.7) return [oneOf(texts), value(depth + 1)];
      return Object.fromEntries(Array.from({ length: 2 }, () => [oneOf(keys), value(depth + 1)]));
    };
    const redactor = createRedactor();
    const sums = { changed: 0, same: 0 };
    for (let round = 0; round < 3_000; round += 1) {
      const event = eventOf(Object.fromEntries(Array.from({ length: 3 }, () => [oneOf(keys), value(0)])));
      const redacted = redactor.event(event);
      expect(redacted, `round ${round}`).toEqual(createRedactor().event(event));
      sums[redacted === event ? 'same' : 'changed'] += 1;
    }
    expect(Math.min(sums.changed, sums.same)).toBeGreaterThan(300);
  });

  it('is redacted after an event that was too deep to be searched', () => {
    const redactor = createRedactor();
    redactor.event(eventOf({ cwd: 'x', deep: { deeper: 'y' } }));
    let deep: JsonObject = {};
    for (let level = 0; level < 50_000; level += 1) deep = { deep };
    expect(() => redactor.event({ ...eventOf({}), data: { cwd: secret, deep } })).toThrow(RangeError);
    expect(redactor.event(eventOf({ cwd: secret })).data).toMatchObject({ cwd: '[REDACTED:aws-access-key]' });
  });
});
