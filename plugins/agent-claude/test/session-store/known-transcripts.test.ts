import { expect, it } from 'vitest';
import { KnownTranscripts } from '../../src/session-store/transcript-writer.ts';

function transcript(uuids: number) {
  const startedAt = '2026-01-01T00:00:00.000Z';
  const names = Array.from({ length: uuids }, (_, n) => `uuid-${n}`);
  return { startedAt, position: -1, uuids: new Set(names), note: null };
}

it('lets go of the transcripts that were used longest ago when it knows too many uuids', () => {
  const known = new KnownTranscripts(30);
  for (const name of ['a', 'b', 'c']) known.keep(name, transcript(8));
  known.keep('a', transcript(8));
  known.keep('d', transcript(8));
  expect(['a', 'b', 'c', 'd'].filter((name) => known.get(name) !== null)).toEqual(['a', 'c', 'd']);
});

it('counts a transcript at what it has grown to, and a forgotten one no more', () => {
  const known = new KnownTranscripts(30);
  const growing = transcript(1);
  known.keep('a', growing);
  known.keep('b', transcript(8));
  for (let n = 0; n < 25; n += 1) growing.uuids.add(`more-${n}`);
  known.keep('a', growing);
  expect(known.get('b')).toBeNull();
  known.forget('a');
  for (const name of ['b', 'c', 'd']) known.keep(name, transcript(8));
  expect(['b', 'c', 'd'].every((name) => known.get(name) !== null)).toBe(true);
});

it('keeps the one in use, however long it is', () => {
  const known = new KnownTranscripts(30);
  known.keep('a', transcript(8));
  known.keep('b', transcript(1_000));
  expect(known.get('b')?.uuids.size).toBe(1_000);
  expect(known.get('a')).toBeNull();
});

it('is bounded in transcripts without uuids too', () => {
  const known = new KnownTranscripts(30);
  for (let n = 0; n < 100; n += 1) known.keep(`t-${n}`, transcript(0));
  expect(Array.from({ length: 100 }, (_, n) => known.get(`t-${n}`)).filter(Boolean)).toHaveLength(30);
});
