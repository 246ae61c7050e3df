import { encodeEvent, isPlainObject, type JsonObject, type JsonValue, parseEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { sessionFormats } from '../src/index.ts';
import { bookClubV1, bookClubV2, inexactLines, logOf, recordsIn } from './make.ts';
import { type RecordShape, randomRecords } from './random-records.ts';

const dialects = [
  {
    id: 'session-v1' as const,
    format: sessionFormats['session-v1'],
    bookClub: bookClubV1,
    shape: { entryType: undefined, substanceKey: 'utterance_ref', causeKey: 'caused_by', hasSource: true },
  },
  {
    id: 'session-v2' as const,
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

describe.each(dialects)('$format.id', ({ id, format, bookClub, shape }) => {
  it('gives the same records when a session is read and written', () => {
    const { events, report } = format.read(logOf(...bookClub));
    const { text, leftOut, diagnostics } = format.write(events);
    expect(recordsIn(text)).toEqual(bookClub);
    expect({ leftOut, diagnostics }).toEqual({ leftOut: {}, diagnostics: [] });
    expect(report.records).toBe(bookClub.length);
    expect(report.diagnostics.map(({ code, line }) => [code, line])).toEqual(
      inexactLines[id].map((line) => ['reference_not_exact', line]),
    );
  });

  it('gives the same records for 300 random logs, with events that a store accepts', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const records = randomRecords(randomFrom(seed), shape);
      const { events } = format.read(logOf(...records));
      const stored = events.map((event) => parseEvent(JSON.parse(encodeEvent(parseEvent(event)))));
      expect(new Set(stored.map(({ id }) => id)).size, `ids of seed ${seed}`).toBe(stored.length);
      const { text, leftOut, diagnostics } = format.write(stored);
      expect(recordsIn(text), `seed ${seed}`).toEqual(recordsIn(logOf(...records)));
      expect({ leftOut, diagnostics }, `seed ${seed}`).toEqual({ leftOut: {}, diagnostics: [] });
    }
  });

  it('reads written records as the same events', () => {
    const first = format.read(logOf(...bookClub));
    const second = format.read(format.write(first.events).text);
    expect(second).toEqual(first);
  });
});

/** As Python's `json.dumps` writes a value, made by an independent way: JSON with a space inserted outside of texts. */
function pythonText(value: JsonValue, isAscii: boolean): string {
  let isInText = false;
  const text = JSON.stringify(value).replace(/\\.|["]|[,:]/gs, (found) => {
    if (found === '"') isInText = !isInText;
    return !isInText && (found === ',' || found === ':') ? `${found} ` : found;
  });
  return isAscii ? escaped(text) : text;
}

function escaped(text: string): string {
  let result = '';
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    result += unit > 126 ? `\\u${(0x10000 + unit).toString(16).slice(1)}` : text[at];
  }
  return result;
}

const styles: readonly [string, (value: JsonValue) => string][] = [
  ['json.dumps', (value) => pythonText(value, true)],
  ['json.dumps with ensure_ascii=False', (value) => pythonText(value, false)],
  ['JSON.stringify', (value) => JSON.stringify(value)],
  ['json.dumps with compact separators', (value) => escaped(JSON.stringify(value))],
];

describe.each(dialects)('a log of $format.id by another program', ({ format, shape }) => {
  it.each(styles)('comes back byte for byte, with its order of keys, as %s wrote it', (_, write) => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = randomFrom(seed);
      // A record of an unknown kind is kept as it is, and says nothing of the style.
      const records = randomRecords(random, shape)
        .filter(({ event_type: type, role }) =>
          type === shape.entryType ? role !== undefined : type === 'agent_created',
        )
        .map((record) => shuffled(record, random));
      const log = records.map((record) => `${write(record)}\n`).join('');
      const { events } = format.read(log);
      const stored = events.map((event) => parseEvent(JSON.parse(encodeEvent(event))));
      for (const isExtended of [false, true])
        expect(format.write(stored, { isExtended }).text, `seed ${seed}`).toBe(log);
    }
  });

  it('is read as the same events when it grows, in any style', () => {
    for (const [, write] of styles) {
      const records = randomRecords(randomFrom(7), shape);
      const log = records.map((record) => `${write(record)}\n`).join('');
      const whole = format.read(log).events;
      const part = log.slice(0, log.indexOf('\n', log.length / 2) + 1);
      const { events } = format.read(part);
      expect(events).toEqual(whole.slice(0, events.length));
    }
  });
});

/** With the keys of each object in another order. */
function shuffled(value: JsonObject, random: () => number): JsonObject {
  const entries = Object.entries(value)
    .map(([key, inner]) => [random(), key, inner] as const)
    .sort(([one], [other]) => one - other);
  return Object.fromEntries(
    entries.map(([, key, inner]) => [
      key,
      isPlainObject(inner) ? shuffled(inner as JsonObject, random) : (inner ?? null),
    ]),
  );
}
