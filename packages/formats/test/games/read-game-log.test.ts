import { parseEvent } from '@hansard/events';
import { createLogIndex, hearingMatrix } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { gameFormats, readGameLog, readWerewolfMatch } from '../../src/index.ts';

const at = (minute: number, seconds = '00.123456') =>
  `2026-03-01T09:${String(minute).padStart(2, '0')}:${seconds}Z`;
const game = (minute: number, event_type: string, payload: object, turn = 'Day 1') =>
  JSON.stringify({ timestamp: at(minute), turn, event_type, payload, level: 'INFO' });
const say = (minute: number, speaker: string, message: string, more: object = {}) =>
  JSON.stringify({ timestamp: at(minute), turn: 'Day 1', speaker, message, ...more });
const start = (minute: number, ...players: string[]) => game(minute, 'GAME_START', { players }, 'Game Start');
const end = (minute: number) => game(minute, 'GAME_END', { winning_faction: 'Town' });

function read(events: readonly string[], chat: readonly string[] = []) {
  return readGameLog([
    { file: 'chat.jsonl', source: chat.join('\n') },
    { file: 'game_events.jsonl', source: `${events.join('\n')}\n` },
  ]);
}

const heardBy = (events: Parameters<typeof createLogIndex>[0]) =>
  hearingMatrix(createLogIndex(events)).rows.map(({ saying, cells }) => [
    saying.text,
    [...cells].flatMap(([agentId, ways]) => (ways.includes('said') ? [] : [agentId])),
  ]);

const codes = (games: ReturnType<typeof readGameLog>) =>
  games.map(({ report }) => report.diagnostics.map(({ code, file, line }) => `${code} ${file}:${line}`));

describe('a game log', () => {
  it('is divided into games at their starts, and speech is assigned by time', () => {
    const games = read(
      [start(1, 'Ann', 'Bo'), end(5), start(10, 'Ann', 'Cy'), end(20)],
      [say(2, 'Ann', 'One.'), say(6, 'Bo', 'After the end.'), say(11, 'Ann', 'Two.')],
    );
    expect(games.map(({ events }) => heardBy(events))).toEqual([
      [
        ['One.', ['Bo']],
        ['After the end.', ['Ann']],
      ],
      [['Two.', ['Cy']]],
    ]);
    expect(games.map(({ isComplete }) => isComplete)).toEqual([true, true]);
    expect(codes(games)).toEqual([[], []]);
  });

  it('is read the same from one file with all lines in it', () => {
    const events = [start(1, 'Ann', 'Bo'), start(10, 'Ann', 'Cy')];
    const chat = [say(2, 'Ann', 'One.'), say(11, 'Ann', 'Two.')];
    const games = readGameLog([{ source: [...chat, ...events].join('\n') }]);
    expect(games.map((one) => heardBy(one.events))).toEqual([[['One.', ['Bo']]], [['Two.', ['Cy']]]]);
  });

  it('puts speech at the time of a start after the start', () => {
    const games = read([start(1, 'Ann', 'Bo'), start(10, 'Ann', 'Cy')], [say(10, 'Ann', 'New.')]);
    expect(games.map(({ events }) => heardBy(events))).toEqual([[], [['New.', ['Cy']]]]);
  });

  it('delivers only to living players: those on the list, or those that have not died since', () => {
    const [only] = read(
      [
        start(1, 'Ann', 'Bo', 'Cy', 'Di'),
        game(3, 'DEATH', { player: 'Di' }),
        game(5, 'DAY_START', { living_players: ['Ann', 'Cy'] }),
      ],
      [say(2, 'Ann', 'All?'), say(4, 'Ann', 'Three?'), say(6, 'Ann', 'Two?')],
    );
    expect(heardBy(only?.events ?? [])).toEqual([
      ['All?', ['Bo', 'Cy', 'Di']],
      ['Three?', ['Bo', 'Cy']],
      ['Two?', ['Cy']],
    ]);
  });

  it('keeps the turn, the exact time and every other key', () => {
    const [only] = read([start(1, 'Ann')], [say(2, 'Ann', 'Hi', { mood: 'fine' })]);
    expect(only?.events.find(({ type }) => type === 'agent:text')).toEqual({
      id: 'chat-1',
      type: 'agent:text',
      timestamp: '2026-03-01T09:02:00.123Z',
      agentId: 'Ann',
      messageId: expect.stringMatching(/^said-[0-9a-f]{16}-1$/),
      data: { text: 'Hi', turn: 'Day 1', stream: 'chat', record: { timestamp: at(2), mood: 'fine' } },
    });
  });

  it('keeps the name of an event type that cannot be restored from its own type', () => {
    const [only] = read([game(1, 'Vote-Start 2', {}), game(2, '3RD_DAY', {})]);
    expect(only?.events).toMatchObject([
      { type: 'game:vote_start_2', data: { record: { event_type: 'Vote-Start 2' } } },
      { type: 'game:event_3rd_day', data: { record: { event_type: '3RD_DAY' } } },
    ]);
  });

  it('is kept completely, with diagnostics by file and line', () => {
    const games = read(
      [game(1, 'DAY_START', {}), start(3, 'Ann'), '{"torn', game(2, 'DEATH', {}), '{"note": 1}', end(9)],
      [say(4, 'Zoe', 'Who am I?'), say(5, 'Ann', 'Psst', { is_whisper: true })],
    );
    expect(codes(games)).toEqual([
      ['game_without_start game_events.jsonl:1', 'game_without_end game_events.jsonl:1'],
      [
        'not_json game_events.jsonl:3',
        'time_goes_back game_events.jsonl:4',
        'unknown_kind game_events.jsonl:5',
        'time_missing game_events.jsonl:5',
        'agent_not_created chat.jsonl:1',
        'recipient_missing chat.jsonl:2',
      ],
    ]);
    expect(games[1]?.events.map(({ type }) => type)).toEqual([
      'game:game_start',
      'agent:created',
      'system:notice',
      'game:death',
      'game_log:record',
      'agent:created',
      'agent:text',
      'user:message',
      'agent:piece_of_text',
      'game:game_end',
    ]);
    expect(games[1]?.report.records).toBe(6);
  });

  it('accepts names that are not ids, and ids that are in use', () => {
    const games = readGameLog([
      { source: [start(1, 'Ann B', 'Ann_B', 'Öz'), say(2, 'Öz', 'Hi')].join('\n') },
      { source: ['', say(3, 'Ann B', 'Hi')].join('\n') },
    ]);
    const ids = games[0]?.events.map(({ id }) => id) ?? [];
    expect(new Set(ids).size).toBe(ids.length);
    expect(heardBy(games[0]?.events ?? [])).toEqual([
      ['Hi', ['Ann_B', 'Ann_B:2']],
      ['Hi', ['Ann_B:2', '_z']],
    ]);
  });

  it('keeps a trace without the fields of its type, and ignores times without a zone', () => {
    const trace = { timestamp: at(2), event_type: 'TOOL_CALL', agent: 'Ann', payload: {} };
    const local = { timestamp: '2026-03-01T09:03:00', speaker: 'Ann', message: 'Hi' };
    const [only] = read(
      [start(1, 'Ann'), JSON.stringify(trace)],
      [say(2, 'Ann', 'One.'), JSON.stringify(local)],
    );
    expect(only?.events.filter(({ type }) => type === 'game_log:trace')).toMatchObject([
      { data: { event_type: 'TOOL_CALL', payload: {}, record: { timestamp: at(2) } } },
    ]);
    expect(only?.events.find(({ id }) => id === 'chat-2')).toMatchObject({
      timestamp: null,
      data: { record: { timestamp: local.timestamp } },
    });
  });

  it('gives valid events with unique ids, and keeps every line, whatever its content', () => {
    const next = randomNumbers(20260301);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
    const names = ['Ann', '', 'A B', 'A_B', '__proto__', 'ö'.repeat(200), 'agent:1'];
    const fields = {
      timestamp: [at(1), at(9), 'soon', 7, null],
      turn: ['Day 1', 3, undefined],
      event_type: ['GAME_START', 'GAME_END', 'DEATH', '', '3 x', '__proto__', undefined],
      payload: [{ players: names }, { living_players: ['Ann', 1] }, { player: 'Ann' }, [], undefined],
      speaker: [...names, undefined],
      message: ['Hi', '', '\ud800', undefined],
      is_whisper: [true, false, 'yes', undefined],
      to: [undefined, [], ['Ann', '', 'Guest'], ['Ann', 3], 'Ann'],
    };
    for (let round = 0; round < 200; round += 1) {
      const lines = Array.from({ length: 12 }, () =>
        next() < 0.1
          ? '{"torn'
          : JSON.stringify(
              Object.fromEntries(Object.entries(fields).map(([key, values]) => [key, pick<unknown>(values)])),
            ),
      );
      const games = readGameLog([{ source: `${[start(0, 'Ann'), ...lines].join('\n')}\n` }]);
      const events = games.flatMap(({ events }) => events);
      for (const event of events) parseEvent(JSON.parse(JSON.stringify(event)));
      for (const { events } of games) expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
      const ofLines = events.filter(({ type }) => type !== 'agent:created' && type !== 'user:message');
      expect(ofLines).toHaveLength(13);
    }
  });

  it('that is not a game log is an error', () => {
    expect(() => readGameLog([{ file: 'x.jsonl', source: '{"a": 1}' }])).toThrow(
      expect.objectContaining({ code: 'FORMAT_NO_RECORDS', message: expect.stringContaining('x.jsonl') }),
    );
  });
});

describe('a werewolf match', () => {
  const match = {
    chat: [
      { from: 'Host', to: ['Ann', 'Bo'], content: 'Night falls.', phase: 'night' },
      { from: 'Ann', to: ['Ann', 'Bo'], content: 'Not me.', mood: 1 },
      { from: 'Bo', to: ['Host', 'Guest'], content: 'I am the wolf.' },
    ],
    players: { Ann: { model: 'm-1', role: 'VILLAGER' }, Bo: { model: 'm-1', role: 'WOLF' } },
    winner: 'WOLF',
  };

  it('delivers each message to its receivers; the phase is the turn', () => {
    const { events, isComplete, report } = readWerewolfMatch(JSON.stringify(match), { file: 'm.json' });
    expect(heardBy(events)).toEqual([
      ['Night falls.', ['Ann', 'Bo']],
      ['Not me.', ['Bo']],
      ['I am the wolf.', ['Host', 'Guest']],
    ]);
    expect(events.find(({ id }) => id === 'chat-1')?.data).toMatchObject({
      turn: 'night',
      record: { to: ['Ann', 'Bo'] },
    });
    expect(events.find(({ id }) => id === 'chat-2')?.data.record).toEqual({ to: ['Ann', 'Bo'], mood: 1 });
    expect(events.at(-1)).toMatchObject({
      type: 'game:game_end',
      data: { winner: 'WOLF', players: match.players },
    });
    expect(isComplete).toBe(true);
    expect(report.diagnostics).toMatchObject([{ code: 'agent_not_created', file: 'm.json' }]);
  });

  it('without a winner is not complete', () => {
    const { chat } = match;
    const [read] = gameFormats['werewolf-match'].read([{ file: 'm.json', source: JSON.stringify({ chat }) }]);
    expect([read?.isComplete, read?.report.diagnostics.map(({ code }) => code)]).toEqual([
      false,
      ['agent_not_created', 'agent_not_created', 'agent_not_created', 'game_without_end'],
    ]);
  });

  it.each(['{', '[]', '{"chat": [{"from": "Ann"}]}'])('that is not a match is an error: %s', (source) => {
    expect(() => readWerewolfMatch(source, { file: 'm.json' })).toThrow(
      expect.objectContaining({ code: 'FORMAT_NO_RECORDS', message: expect.stringContaining('m.json') }),
    );
  });
});

/** A random generator with a seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
