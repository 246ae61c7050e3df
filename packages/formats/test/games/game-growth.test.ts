import { gameText, isCorpusThere, skipped } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { type GameLogFile, type ReadGame, readGameLog, readWerewolfMatch } from '../../src/index.ts';

const at = (minute: number) => `2026-03-01T09:${String(minute).padStart(2, '0')}:00.000Z`;
const game = (minute: number, event_type: string, payload: object = {}, more: object = {}) =>
  JSON.stringify({ timestamp: at(minute), turn: 'Day 1', event_type, payload, ...more });
const say = (minute: number, speaker: string, message: string, more: object = {}) =>
  JSON.stringify({ timestamp: at(minute), turn: 'Day 1', speaker, message, ...more });
const start = (minute: number, ...players: string[]) => game(minute, 'GAME_START', { players });

const village = [
  start(1, 'Ann', 'Bo', 'Cy'),
  say(2, 'Ann', 'One.'),
  game(3, 'DEATH', { player: 'Cy' }),
  say(4, 'Bo', 'Two.'),
  '{"torn": ',
  game(5, 'GAME_END'),
  start(10, 'Ann', 'Di'),
  say(11, 'Di', 'Three.'),
  say(11, 'Di', 'Three.', { is_whisper: true }),
];

/** What an import adds game by game, and that it finds the games again. */
function expectBeginning(shorter: readonly ReadGame[], longer: readonly ReadGame[], what: string): void {
  for (const [number, { events, origin }] of shorter.entries()) {
    expect(origin, what).toEqual(longer[number]?.origin);
    expect(events, what).toEqual(longer[number]?.events.slice(0, events.length));
  }
}

describe('a game log that grows', () => {
  it('cut anywhere, gives a prefix of the events of the whole', () => {
    const text = village.map((line) => `${line}\n`).join('');
    const whole = readGameLog([{ source: text }]);
    for (let end = text.indexOf('\n'); end < text.length; end += 1)
      expectBeginning(readGameLog([{ source: text.slice(0, end) }]), whole, `${end} characters`);
    expect(whole.map(({ events }) => events.length)).toEqual([12, 6]);
  });

  it('reports a truncated line, and leaves it out until it is complete', () => {
    const [only, ...others] = readGameLog([
      { file: 'chat.jsonl', source: say(2, 'Ann', 'One.').slice(0, 50) },
      { file: 'game_events.jsonl', source: start(1, 'Ann') },
    ]);
    expect(others).toEqual([]);
    expect(only?.events.map(({ id }) => id)).toEqual(['event-1', 'player-Ann']);
    expect(only?.report.diagnostics).toMatchObject([
      { code: 'unfinished', file: 'chat.jsonl', line: 1 },
      { code: 'game_without_end' },
    ]);
  });

  it.skipIf(!isCorpusThere)(
    `gives the same events as before, for a real log after any line${skipped}`,
    () => {
      const lines = ['chat', 'game_events'].flatMap((file) =>
        gameText(`tossim/${file}.jsonl`)
          .trimEnd()
          .split('\n')
          .map((line) => ({ file, line, time: JSON.parse(line).timestamp as string })),
      );
      lines.sort((a, b) => (a.time < b.time ? -1 : 1));
      const filesAfter = (count: number): GameLogFile[] =>
        ['chat', 'game_events'].map((file) => ({
          file,
          source: lines
            .slice(0, count)
            .filter((line) => line.file === file)
            .map(({ line }) => `${line}\n`)
            .join(''),
        }));
      const whole = readGameLog(filesAfter(lines.length));
      for (let count = 1; count < lines.length; count += 23)
        expectBeginning(readGameLog(filesAfter(count)), whole, `${count} lines`);
    },
  );
});

describe('a game of a log', () => {
  const ids = (games: readonly ReadGame[]) => games.map(({ events }) => events.map(({ id }) => id));

  it('is the same when its log is split, joined or loses its older games', () => {
    const lines = village.filter((line) => line.startsWith('{"timestamp'));
    const whole = readGameLog([{ source: lines.join('\n') }]);
    const chat = lines.filter((line) => line.includes('speaker'));
    const rest = lines.filter((line) => !line.includes('speaker'));
    const split = readGameLog([{ source: chat.join('\n') }, { source: rest.join('\n') }]);
    expect(split.map(({ events }) => events)).toEqual(whole.map(({ events }) => events));
    const later = readGameLog([{ source: lines.slice(5).join('\n') }]);
    expect(later[0]?.events).toEqual(whole[1]?.events);
    expect(later[0]?.origin).toEqual(whole[1]?.origin);
    expect(ids(later)).toEqual([['event-1', 'player-Ann', 'player-Di', 'chat-1', 'chat-1.1', 'chat-2']]);
  });

  it('names its run and its time from its first record', () => {
    const first = game(1, 'GAME_START', { players: ['Ann'] }, { run_id: 'R1' });
    const [one, two] = readGameLog([{ file: 'g.jsonl', source: [first, start(9, 'Bo')].join('\n') }]);
    expect(one?.origin).toEqual({
      id: 'R1',
      time: Date.parse(at(1)),
      firstRecord: JSON.parse(first),
      file: 'g.jsonl',
    });
    expect(two?.origin).toMatchObject({ id: null, time: Date.parse(at(9)) });
  });

  it('has the lines of files without a time, whose events have no time', () => {
    const trace = JSON.stringify({ event_type: 'AGENT_REQUEST', agent: 'Ann', payload: {} });
    const other = JSON.stringify({ version: 1 });
    const read = readGameLog([
      { source: `${other}\n${trace}\n` },
      { source: `${start(1, 'Ann', 'Bo')}\n` },
      { source: `${JSON.stringify({ speaker: 'Ann', message: 'No time.' })}\n` },
    ]);
    expect(ids(read)).toEqual([
      ['event-1', 'player-Ann', 'player-Bo', 'record-1', 'trace-1', 'chat-1', 'chat-1.1'],
    ]);
    expect(read[0]?.events.map(({ timestamp }) => timestamp)).toEqual([
      ...[at(1), at(1), at(1)],
      ...[null, null, null, null],
    ]);
  });

  it('delivers a whisper to its receivers, if the log names them', () => {
    const [only] = readGameLog([
      { source: [start(1, 'Ann', 'Bo', 'Cy'), say(2, 'Ann', 'Psst.', { to: ['Cy', 'Zoe'] })].join('\n') },
    ]);
    const events = only?.events.slice(4) ?? [];
    const substance = events[1]?.id;
    expect(events).toMatchObject([
      { type: 'agent:created', agentId: 'Zoe' },
      { type: 'agent:piece_of_text', agentId: 'Ann' },
      { type: 'user:message', agentId: 'Cy', substance },
      { type: 'user:message', agentId: 'Zoe', substance },
    ]);
    expect(only?.report.diagnostics.map(({ code }) => code)).toEqual([
      'agent_not_created',
      'game_without_end',
    ]);
  });
});

describe('a werewolf match', () => {
  it('keeps its events and its origin when messages are added', () => {
    const chat = [
      { from: 'Host', to: ['Ann'], content: 'Night falls.' },
      { from: 'Ann', to: ['Host'], content: 'Good night.' },
    ];
    const shorter = readWerewolfMatch(JSON.stringify({ chat: chat.slice(0, 1) }));
    const longer = readWerewolfMatch(JSON.stringify({ chat, winner: 'WOLF' }));
    expect(shorter.events).toEqual(longer.events.slice(0, shorter.events.length));
    expect(shorter.origin).toEqual(longer.origin);
    const named = readWerewolfMatch(JSON.stringify({ game_id: 7, timestamp: at(1), chat }));
    expect(named.origin).toMatchObject({ id: '7', time: Date.parse(at(1)) });
  });

  it('continues while it does not name a winner, and does not end twice', () => {
    const chat = [{ from: 'Host', to: ['Ann'], content: 'Night falls.' }];
    const [open, ended] = [null, 'WOLF'].map((winner) => readWerewolfMatch(JSON.stringify({ chat, winner })));
    expect([open?.isComplete, ended?.isComplete]).toEqual([false, true]);
    expect(open?.events.map(({ id }) => id)).not.toContain('match-end');
    expect(open?.report.diagnostics.map(({ code }) => code)).toContain('game_without_end');
  });

  it('is not recognised before its first message, because it cannot be distinguished from others', () => {
    const empty = JSON.stringify({ chat: [], players: { Ann: {} } });
    expect(() => readWerewolfMatch(empty, { file: 'm.json' })).toThrow(/m\.json .*has no messages/);
  });
});
