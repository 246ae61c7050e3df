import type { JsonObject } from '@hansard/events';
import { createLogIndex, hearingMatrix } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { type ReadGame, readGameLog } from '../../src/index.ts';

const at = (second: number) => `2026-03-01T09:00:${String(second).padStart(2, '0')}.000Z`;
const line = (second: number, fields: JsonObject) => ({ timestamp: at(second), turn: 'Day 1', ...fields });
const start = line(0, { event_type: 'GAME_START', payload: { players: ['Ann', 'Bo', 'Cy'] } });
const end = line(50, { event_type: 'GAME_END', payload: {} });
const say = (second: number, speaker: string, message: string) => line(second, { speaker, message });
const act = (second: number, agent: string, target: string, more: JsonObject = {}) =>
  line(second, { agent, action_type: 'VOTE', payload: { voter: agent, target }, ...more });
const trace = (
  second: number,
  agent: string,
  event_type: string,
  payload: JsonObject,
  more: JsonObject = {},
) => ({
  timestamp: at(second),
  event_type,
  agent,
  payload,
  ...more,
});
const call = (second: number, agent: string, tool_name: string, input: JsonObject, more: JsonObject = {}) =>
  trace(second, agent, 'TOOL_CALL', { tool_name, arguments: input }, more);
const result = (second: number, agent: string, tool_name: string) =>
  trace(second, agent, 'TOOL_RESULT', { tool_name, result: 'ok' });
const heard = (second: number, agent: string, from: string, message: string) =>
  trace(second, agent, 'AGENT_REQUEST', { from, message });

interface Files {
  readonly [file: string]: readonly (JsonObject | string)[];
}

const textOf = (lines: readonly (JsonObject | string)[]) =>
  lines.map((one) => (typeof one === 'string' ? one : `${JSON.stringify(one)}\n`)).join('');

function read(files: Files): ReadGame[] {
  return readGameLog(Object.entries(files).map(([file, lines]) => ({ file, source: textOf(lines) })));
}

const codes = (games: readonly ReadGame[]) =>
  games.flatMap(({ report }) =>
    report.diagnostics.map(({ code, file, line: at }) => `${code} ${file}:${at}`),
  );
const idsOf = (games: readonly ReadGame[]) => games.map(({ events }) => events.map(({ id }) => id));

describe('the five streams of a game', () => {
  it('give one event for an action and its call, at the result of the call', () => {
    const games = read({
      events: [start, end],
      trace: [
        call(1, 'Ann', 'vote', { target: 'Bo' }),
        call(1, 'Ann', 'vote', { target: 'Cy' }),
        result(3, 'Ann', 'vote'),
        result(4, 'Ann', 'vote'),
      ],
      // The second call was carried out first.
      actions: [act(1, 'Ann', 'Cy'), act(1, 'Ann', 'Bo')],
    });
    const [game] = games;
    const ofTrace = game?.events.filter(({ id }) => id.startsWith('trace')) ?? [];
    expect(
      ofTrace.map(({ type, data }) => [type, data.toolCallId, (data.action as JsonObject)?.payload]),
    ).toEqual([
      ['agent:tool_call', 'trace-1', undefined],
      ['agent:tool_call', 'trace-2', undefined],
      ['agent:tool_result', 'trace-2', { voter: 'Ann', target: 'Cy' }],
      ['agent:tool_result', 'trace-1', { voter: 'Ann', target: 'Bo' }],
    ]);
    expect(game?.events.map(({ type }) => type)).not.toContain('game_log:action');
    expect([codes(games), game?.report.records]).toEqual([[], 8]);
  });

  it('report an action that differs from the call at its time, and keep both', () => {
    const games = read({
      events: [start, end],
      trace: [call(1, 'Ann', 'vote', { target: 'Bo' }), result(2, 'Ann', 'vote')],
      actions: [act(1, 'Ann', 'Cy'), act(9, 'Bo', 'Cy')],
    });
    expect(codes(games)).toEqual(['streams_differ actions:1']);
    const kept = games[0]?.events.filter(({ type }) => type === 'game_log:action');
    expect(kept?.map(({ id, data }) => [id, data.action_type, data.payload])).toEqual([
      ['action-1', 'VOTE', { voter: 'Ann', target: 'Cy' }],
      ['action-2', 'VOTE', { voter: 'Bo', target: 'Cy' }],
    ]);
  });

  it('join an action with altered values to the call whose event it names', () => {
    const names = (event_id: string) => ({ run_id: 'R1', event_id });
    const [game] = read({
      trace: [
        call(1, 'Ann', 'vote', { target: 'Bo' }, names('e1')),
        { ...result(2, 'Ann', 'vote'), ...names('e2') },
      ],
      actions: [act(1, 'Ann', 'Cy', names('e1'))],
    });
    expect(game?.events.at(-1)).toMatchObject({
      type: 'agent:tool_result',
      data: { action: { payload: { voter: 'Ann', target: 'Cy' } } },
    });
    expect(game?.origin.id).toBe('R1');
  });

  it('give one delivery for a public message and its request, and link a message to the call that spoke it', () => {
    const games = read({
      events: [start, end],
      chat: [say(1, 'Ann', 'Hi.'), say(3, 'Ann', 'Hi.')],
      trace: [
        call(1, 'Ann', 'speak', { text: 'Hi.' }),
        heard(2, 'Bo', 'Ann', 'Hi.'),
        result(2, 'Ann', 'speak'),
        heard(4, 'Bo', 'Ann', 'Hi.'),
        heard(5, 'Bo', 'user', 'Go on.'),
      ],
    });
    const events = games[0]?.events ?? [];
    const index = createLogIndex(events);
    expect(index.diagnostics).toEqual([]);
    const rows = hearingMatrix(index).rows.map(({ saying, cells }) => [saying.id, [...cells.keys()].sort()]);
    expect(rows.slice(0, 2)).toEqual([
      ['chat-1', ['Ann', 'Bo', 'Cy']],
      ['chat-2', ['Ann', 'Bo', 'Cy']],
    ]);
    const ofBo = events.filter(({ type, agentId }) => type === 'user:message' && agentId === 'Bo');
    expect(ofBo.map(({ data }) => data.text)).toEqual(['Hi.', 'Hi.', 'Go on.']);
    expect(events.find(({ id }) => id === 'chat-1')?.cause).toBe('trace-1');
  });

  it('are separate games for each run that lines name, whatever their times', () => {
    const ofRun = (run_id: string, lines: readonly JsonObject[]) => lines.map((one) => ({ ...one, run_id }));
    const games = read({
      chat: [...ofRun('A', [say(1, 'Ann', 'In A.')]), ...ofRun('B', [say(2, 'Ann', 'In B.')])],
      events: [...ofRun('A', [start, end]), ...ofRun('B', [start, end])],
    });
    const texts = games.map(({ events }) =>
      events.filter(({ type }) => type === 'agent:text').map(({ data }) => data.text),
    );
    expect([texts, games.map(({ origin }) => origin.id)]).toEqual([
      [['In A.'], ['In B.']],
      ['A', 'B'],
    ]);
  });
});

describe('a stream file of a game', () => {
  it('that is cut keeps what it has, and reports the rest', () => {
    const whole = {
      events: [start, end],
      trace: [call(1, 'Ann', 'vote', { target: 'Bo' }), result(2, 'Ann', 'vote')],
    };
    const [first = {}, second = {}] = whole.trace;
    const cut = read({ ...whole, trace: [first, JSON.stringify(second).slice(0, 40)] });
    expect(codes(cut)).toEqual(['unfinished trace:2']);
    const beheaded = read({ ...whole, trace: [second] });
    expect(codes(beheaded)).toEqual(['call_missing trace:1']);
    const [game] = beheaded;
    expect(game?.events.at(-2)).toMatchObject({ type: 'agent:tool_result', data: { toolCallId: 'trace-1' } });
  });

  it('that is out of order keeps its order, and is reported', () => {
    const games = read({ events: [start, end], actions: [act(9, 'Ann', 'Bo'), act(3, 'Bo', 'Ann')] });
    expect(codes(games)).toEqual(['time_goes_back actions:2']);
    expect(
      games[0]?.events.flatMap(({ type, agentId }) => (type === 'game_log:action' ? agentId : [])),
    ).toEqual(['Ann', 'Bo']);
  });

  it('of another game is reported by its players, who take part from then on', () => {
    const games = read({
      events: [start, end],
      chat: [say(1, 'Zoe', 'Where am I?')],
      actions: [act(2, 'Yan', 'Zoe'), act(3, 'Yan', 'Zoe')],
    });
    expect(codes(games)).toEqual(['agent_not_created chat:1', 'agent_not_created actions:1']);
    expect(games[0]?.report.records).toBe(5);
  });

  it('holds lines of every stream, and one file of all is the same log', () => {
    const files = {
      events: [start, end],
      thoughts: [line(1, { agent: 'Ann', thinking_process: 'Hm.' })],
      trace: [call(1, 'Ann', 'vote', { target: 'Bo' }), result(2, 'Ann', 'vote')],
      actions: [act(1, 'Ann', 'Bo')],
      chat: [say(3, 'Bo', 'Why me?')],
    };
    const apart = read(files);
    const together = read({ all: Object.values(files).flat() });
    expect(together.map(({ events }) => events)).toEqual(apart.map(({ events }) => events));
    expect(apart[0]?.events.map(({ type }) => type)).toEqual([
      'game:game_start',
      'agent:created',
      'agent:created',
      'agent:created',
      'agent:thinking',
      'agent:tool_call',
      'agent:tool_result',
      'agent:text',
      'user:message',
      'user:message',
      'game:game_end',
    ]);
  });

  it('that grows as it was written gives the same events, and then more', () => {
    const written: [file: string, line: JsonObject][] = [
      ['events', start],
      ['trace', call(1, 'Ann', 'speak', { text: 'Hi.' })],
      ['trace', heard(2, 'Bo', 'Ann', 'Hi.')],
      ['trace', heard(2, 'Cy', 'Ann', 'Hi.')],
      ['chat', say(1, 'Ann', 'Hi.')],
      ['trace', result(3, 'Ann', 'speak')],
      ['trace', call(4, 'Bo', 'vote', { target: 'Ann' })],
      ['actions', act(4, 'Bo', 'Ann')],
      ['trace', result(6, 'Bo', 'vote')],
      ['thoughts', line(4, { agent: 'Bo', thinking_process: 'Ann lies.' })],
      ['events', end],
    ];
    const filesAfter = (count: number) =>
      Object.fromEntries(
        [...Map.groupBy(written.slice(0, count), ([file]) => file)].map(([file, lines]) => [
          file,
          lines.map(([, one]) => one),
        ]),
      );
    const whole = new Map(read(filesAfter(written.length))[0]?.events.map((event) => [event.id, event]));
    for (let count = 1; count < written.length; count += 1) {
      // One event writes an action and its result.
      if (written[count - 1]?.[0] === 'actions') continue;
      for (const event of read(filesAfter(count))[0]?.events ?? [])
        expect([count, event]).toEqual([count, whole.get(event.id)]);
    }
    expect(idsOf(read(filesAfter(2)))).toEqual([
      ['event-1', 'player-Ann', 'player-Bo', 'player-Cy', 'trace-1'],
    ]);
  });
});
