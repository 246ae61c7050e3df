import { encodeEvent, parseEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { sessionFormats } from '../src/index.ts';
import { bookClubV1, bookClubV2, inexactLines, logOf, now, recordsIn } from './make.ts';
import { type RecordShape, randomRecords } from './random-records.ts';

const dialects = [
  {
    format: sessionFormats['session-v1'],
    bookClub: bookClubV1,
    shape: { entryType: undefined, substanceKey: 'utterance_ref', causeKey: 'caused_by', hasSource: true },
  },
  {
    format: sessionFormats['session-v2'],
    bookClub: bookClubV2,
    shape: {
      entryType: 'transcript_entry',
      substanceKey: 'substance',
      causeKey: 'cause',
      hasSource: false,
    } satisfies RecordShape,
  },
];

describe.each(dialects)('$format.id', ({ format, bookClub, shape }) => {
  it('gives the same records when a session is read and written', () => {
    const { events, report } = format.read(logOf(...bookClub), { now });
    const { text, leftOut, diagnostics } = format.write(events);
    expect(recordsIn(text)).toEqual(bookClub);
    expect({ leftOut, diagnostics }).toEqual({ leftOut: {}, diagnostics: [] });
    expect(report.records).toBe(bookClub.length);
    expect(report.diagnostics.map(({ code, line }) => [code, line])).toEqual(
      inexactLines[format.id].map((line) => ['reference_not_exact', line]),
    );
  });

  it('gives the same records for 300 random logs, with events that a store accepts', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const records = randomRecords(randomFrom(seed), shape);
      const { events } = format.read(logOf(...records), { now });
      const stored = events.map((event) => parseEvent(JSON.parse(encodeEvent(parseEvent(event)))));
      expect(new Set(stored.map(({ id }) => id)).size, `ids of seed ${seed}`).toBe(stored.length);
      const { text, leftOut, diagnostics } = format.write(stored);
      expect(recordsIn(text), `seed ${seed}`).toEqual(recordsIn(logOf(...records)));
      expect({ leftOut, diagnostics }, `seed ${seed}`).toEqual({ leftOut: {}, diagnostics: [] });
    }
  });

  it('reads written records as the same events', () => {
    const first = format.read(logOf(...bookClub), { now });
    const second = format.read(format.write(first.events).text, { now });
    expect(second).toEqual(first);
  });
});
