import { type CapturedEvent, type NewEvent, newEvent } from '@hansard/events';
import { takeApart } from '@hansard/prompt';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { sessionFormats } from '../src/index.ts';
import { logOf } from './make.ts';
import { randomRecords, recordShapes } from './random-records.ts';
import { playRun } from './random-run.ts';
import { loadSmallchat } from './smallchat-loader.ts';
import { SmallchatWriter } from './smallchat-writer.ts';

const { read, write } = sessionFormats.smallchat;
const idOf = (number: number) => `01M${String(number).padStart(23, '0')}`;
const logged = (events: readonly NewEvent[]) =>
  events.map(
    (event, at): CapturedEvent =>
      ({ timestamp: null, ...event, id: event.id ?? idOf(900 + at) }) as CapturedEvent,
  );
const recordsOf = (text: string) =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
const made = (agentId: string, number: number, more: object = {}) =>
  newEvent('agent:created', { name: agentId, languageModel: 'm-1', ...more }, { id: idOf(number), agentId });

describe('an export as smallchat', () => {
  it('is read by its loader with the transcripts of the log, for random runs', () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const { events, lines } = playRun(randomFrom(seed), seed % 2 === 0);
      const { agents } = loadSmallchat(write(events).text);
      for (const agentId of ['agent_001', 'agent_002', 'agent_003']) {
        const own = lines.filter((line) => line.agent_id === agentId && line.role !== undefined);
        const loaded = agents.get(agentId)?.transcript ?? [];
        expect(
          loaded.map(({ role }) => role),
          `seed ${seed}`,
        ).toEqual(own.map(({ role }) => role));
        expect(loaded.map(({ tool_calls: calls = [] }) => calls.map(({ id }) => id))).toEqual(
          own.map(({ calls }) => calls),
        );
      }
    }
  });

  it('has a fragment for what a person says, numbers for ids, and truncations for rewinds', () => {
    const say = (number: number, content: string, links: object = {}) =>
      takeApart(
        { role: 'user', content, source: { kind: 'user' } },
        { id: idOf(number), agentId: 'ann', ...links },
      );
    const answer = (number: number, content: string) =>
      takeApart({ role: 'assistant', content }, { id: idOf(number), agentId: 'ann' });
    const rewind = (number: number, keptThrough: string | null) =>
      newEvent('session:rewind', { keptThrough }, { id: idOf(number), agentId: 'ann' });
    const rejected = newEvent(
      'agent:rejected',
      { text: 'No!', reason: 'Be kind.', retry: true },
      { id: idOf(7), agentId: 'ann' },
    );
    const events = [
      made('ann', 1),
      ...say(2, 'Hi'),
      ...answer(3, 'Hello'),
      rewind(4, idOf(2)),
      ...answer(5, 'Hey'),
    ];
    const { text, diagnostics, leftOut } = write(logged([...events, rewind(6, null), rejected]));
    expect(recordsOf(text).map(({ event_type: _, agent: __, ...record }) => record)).toEqual([
      { message_id: '0', role: 'primary', name: 'ann', cause: 'user', parent: 'user', language_model: 'm-1' },
      { message_id: '1', content: 'Hi', cause: 'user' },
      { message_id: '2', role: 'user', content: 'Hi', substance: '1' },
      { message_id: '3', role: 'assistant', content: 'Hello' },
      { message_id: '4', action: 'truncate', n: 1 },
      { message_id: '5', role: 'assistant', content: 'Hey' },
      { message_id: '6', action: 'truncate', n: 0 },
      { message_id: '7', role: 'assistant', content: 'No!' },
      { message_id: '8', role: 'user', content: '<system>Be kind.</system>' },
    ]);
    expect({ diagnostics, leftOut }).toEqual({ diagnostics: [], leftOut: {} });
    expect(read(text).report.diagnostics).toEqual([]);
  });

  it('names what its loader does not see: peers, late agents, altered lines, and branches that an agent returns to', () => {
    const hears = (number: number, agentId: string, content: string, substance?: string) =>
      takeApart(
        { role: 'user', content, source: { kind: 'agent', agentId: 'ann' } },
        { id: idOf(number), agentId, ...(substance === undefined ? {} : { substance }) },
      );
    const answer = (number: number) =>
      takeApart({ role: 'assistant', content: `said ${number}` }, { id: idOf(number), agentId: 'ann' });
    const rewind = (number: number, keptThrough: string) =>
      newEvent('session:rewind', { keptThrough }, { id: idOf(number), agentId: 'ann' });
    const events = [
      made('ann', 1),
      made('ben', 2, { peer: true }),
      ...answer(3),
      ...hears(4, 'ben', '[ann]: said 3', idOf(3)),
      ...hears(5, 'eve', 'something else', idOf(3)),
      made('eve', 6),
      ...answer(7),
      rewind(8, idOf(3)),
      rewind(9, idOf(7)),
    ];
    const { text, diagnostics } = write(logged(events));
    expect(diagnostics.map(({ code, eventId }) => [code, eventId])).toEqual(
      [2, 5, 5, 5, 6, 9].map((number) => ['not_seen_by_loader', idOf(number)]),
    );
    expect(diagnostics.map(({ message }) => message).join('\n')).toMatch(
      /ben has no parent.*\n.*eve was not created before.*\n.*eve has no parent.*\n.*carries 2 in other words.*\n.*eve is created after.*\n.*goes back to a branch/,
    );
    expect(loadSmallchat(text).interlocutor).toBe('eve');
  });

  it('can be made of the other dialects, and they of it, with a report of each loss', () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const { events } = read(new SmallchatWriter(randomFrom(seed)).write(2).text);
      for (const id of ['session-v1', 'session-v2'] as const) {
        const other = sessionFormats[id].write(events);
        expect(other.leftOut['smallchat:fragment'], `seed ${seed}`).toBe(2);
        const back = write(sessionFormats[id].read(other.text).events);
        const lost = back.diagnostics.filter(({ code }) => code === 'not_seen_by_loader');
        expect(
          lost.every(({ message }) => /has the name|no parent|no model|no name|causes, and/.test(message)),
        ).toBe(true);
        expect(loadSmallchat(back.text).agents.size).toBe(loadSmallchat(write(events).text).agents.size);
      }
      const records = randomRecords(randomFrom(seed), recordShapes['session-v2']);
      const { text } = write(sessionFormats['session-v2'].read(logOf(...records)).events);
      for (const record of recordsOf(text)) expect(record).not.toHaveProperty('agent_id');
    }
  });
});
