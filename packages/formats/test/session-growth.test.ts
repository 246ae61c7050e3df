import type { JsonObject } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { sessionFormats } from '../src/index.ts';
import type { SessionFormat } from '../src/session-formats.ts';
import { bookClubV1, bookClubV2, call, logOf } from './make.ts';
import { type RecordShape, randomRecords } from './random-records.ts';

const v2 = { entryType: 'transcript_entry', substanceKey: 'substance', causeKey: 'cause', hasSource: false };
const v1 = { entryType: undefined, substanceKey: 'utterance_ref', causeKey: 'caused_by', hasSource: true };

const logs: readonly [string, SessionFormat, JsonObject[], RecordShape][] = [
  ['session-v1', sessionFormats['session-v1'], bookClubV1, v1],
  ['session-v2', sessionFormats['session-v2'], bookClubV2, v2],
];

describe.each(logs)('a %s log that grows', (_, { read }, bookClub, shape) => {
  it('cut after any line of 15 random logs, gives a prefix of the events of the whole', () => {
    for (let seed = 1; seed <= 15; seed += 1) {
      const records = randomRecords(randomFrom(seed), shape);
      const whole = read(logOf(...records));
      for (let length = 1; length < records.length; length += 1) {
        const { events, origin } = read(logOf(...records.slice(0, length)));
        expect(events, `seed ${seed}, ${length} lines`).toEqual(whole.events.slice(0, events.length));
        expect(origin).toEqual(whole.origin);
      }
    }
  });

  it('cut within a line, gives the events of the complete lines before, and reports the cut', () => {
    const text = logOf(...bookClub);
    const whole = read(text).events;
    for (let end = text.indexOf('\n', text.indexOf('\n') + 1) + 1; end < text.length; end += 7) {
      const cut = text.slice(0, end);
      const { events, report } = read(cut);
      const lines = cut.split('\n').length - 1;
      expect(events, `${end} characters`).toEqual(whole.slice(0, events.length));
      const cuts = report.diagnostics.filter(({ code }) => code === 'unfinished').map(({ line }) => line);
      const isCut = !cut.endsWith('\n') && !cut.endsWith('}');
      if (isCut) expect(cuts, `${end} characters`).toEqual([lines + 1]);
    }
    expect(read(text.trimEnd()).events).toEqual(whole);
  });
});

describe('the ids of a log that grows', () => {
  it('stay the same when a later record claims one of them', () => {
    const { read } = sessionFormats['session-v2'];
    const entry = { event_type: 'transcript_entry', agent_id: 'agent_001', role: 'user', content: 'Hello' };
    const several = {
      ...entry,
      message_id: 'b',
      role: 'assistant',
      tool_calls: [call('k1', 'task', {}), call('k2', 'task', {})],
    };
    const first = read(logOf(several));
    const grown = read(
      logOf(several, { ...entry, message_id: 'b.1' }, { ...entry, message_id: 'c', cause: 'b.1' }),
    );
    expect(first.events.map(({ id }) => id)).toEqual(['b', 'b.1', 'b.2']);
    expect(grown.events.map(({ id }) => id)).toEqual(['b', 'b.1', 'b.2', 'b.1:2', 'c']);
    expect(grown.events.at(-1)?.cause).toBe('b.1:2');
    expect(
      grown.report.diagnostics.filter(({ code }) => code === 'id_taken').map(({ line }) => line),
    ).toEqual([2]);
  });
});
