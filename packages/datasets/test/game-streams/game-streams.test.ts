import { type NewEvent, newEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { parseGameMapping } from '../../src/index.ts';
import {
  ann,
  bo,
  call,
  heard,
  inference,
  mapping,
  names,
  play,
  result,
  text,
  thinking,
  turn,
} from './played-game.ts';

describe('game events', () => {
  it('have the name of their type, and their data without the turn', () => {
    expect(play([turn('game:night', 'Night 1')]).of('game_events')).toEqual([
      {
        timestamp: '2026-03-01T09:30:00.000Z',
        turn: 'Night 1',
        event_type: 'NIGHT',
        payload: { left: 2 },
        run_id: 'R1',
        event_id: 'e0',
      },
    ]);
  });

  it('have the name and the payload that the mapping gives them', () => {
    const gameEvents = { events: ['game:death'], names: { 'game:death': 'DIED' }, payload: 'who' };
    const death: NewEvent = { type: 'game:death', data: { who: { player: 'Bo' }, secret: 1 } };
    const { of } = play([turn('game:day', 'Day 1'), death], { ...mapping, gameEvents });
    expect(of('game_events')).toMatchObject([
      { turn: 'Day 1', event_type: 'DIED', payload: { player: 'Bo' } },
    ]);
  });

  it('are at the latest turn if they name none, and before the first turn at the one from the mapping', () => {
    const end: NewEvent = { type: 'game:end', data: {} };
    const { of } = play([end, turn('game:day', 'Day 1'), end], {
      ...mapping,
      turn: { events: ['game:day'], first: 'Lobby' },
    });
    expect(of('game_events').map((line) => 'turn' in line && line.turn)).toEqual(['Lobby', 'Day 1', 'Day 1']);
  });
});

describe('chat', () => {
  it('has a speaking call when it was carried out, at the turn in which it was made', () => {
    const events = [
      ...names,
      turn('game:day', 'Day 1'),
      call(ann, 'c1', 'speak', { text: 'Hi' }),
      turn('game:night', 'Night 1'),
      result(ann, 'c1', 'speak'),
    ];
    const { of, steps } = play(events);
    expect(of('chat')).toMatchObject([{ turn: 'Day 1', speaker: 'Ann', message: 'Hi', event_id: 'e3' }]);
    expect(steps[3]?.map(({ stream }) => stream)).toEqual(['inference_trace']);
  });

  it('does not have a call that was refused or has no result', () => {
    const events = [
      ...names,
      call(ann, 'c1', 'speak', { text: 'No' }),
      result(ann, 'c1', 'speak', 'error'),
      call(ann, 'c2', 'speak', { text: 'Lost' }),
    ];
    expect(play(events).of('chat')).toEqual([]);
  });

  it('has the final words of a call that a hook altered', () => {
    const altered = newEvent(
      'harness:hook_decision',
      { hook: 'h', on: 'tool_call', decision: 'alter', toolCallId: 'c1', input: { text: 'Mild' } },
      { agentId: ann.agentId },
    );
    const events = [
      ...names,
      call(ann, 'c1', 'speak', { text: 'Rude' }),
      altered,
      result(ann, 'c1', 'speak'),
    ];
    expect(play(events).of('chat')).toMatchObject([{ message: 'Mild' }]);
  });

  it('distinguishes calls of two agents with one id', () => {
    const events = [
      ...names,
      call(ann, 'c1', 'speak', { text: 'I am Ann' }),
      call(bo, 'c1', 'speak', { text: 'I am Bo' }),
      result(bo, 'c1', 'speak'),
      result(ann, 'c1', 'speak'),
    ];
    expect(play(events).of('chat')).toMatchObject([
      { speaker: 'Bo', message: 'I am Bo' },
      { speaker: 'Ann', message: 'I am Ann' },
    ]);
  });

  it('has an utterance as soon as it is over, and never text beside a call', () => {
    const events = [
      ...names,
      text(ann, 'Hello all.'),
      heard(bo, ann, 'Hello all.', 2),
      text(bo, 'Secret plan:'),
      call(bo, 'c1', 'vote', { target: 'Ann' }),
    ];
    const { of, steps } = play(events);
    expect(of('chat')).toMatchObject([{ speaker: 'Ann', message: 'Hello all.', event_id: 'e2' }]);
    expect(steps[3]?.map(({ stream }) => stream)).toEqual(['chat', 'inference_trace']);
  });

  it('does not have an utterance that nobody received: it is a whisper, before the game continues', () => {
    const { steps } = play([...names, text(ann, 'Anybody?'), turn('game:night', 'Night 1')]);
    expect(steps[3]?.map(({ stream }) => stream)).toEqual(['whispers', 'game_events']);
    const alone = play([text(ann, 'Anybody?'), turn('game:night', 'Night 1')]);
    expect([alone.of('chat'), alone.of('whispers')]).toMatchObject([[], [{ to: [], message: 'Anybody?' }]]);
  });

  it('never has text beside a call, even if others talk and the game continues before the call', () => {
    const events = [
      ...names,
      text(bo, 'Good day.'),
      inference(bo),
      text(ann, 'Secret plan:'),
      turn('game:night', 'Night 1'),
      heard(ann, bo, 'Good day.', 2),
      heard(bo, ann, 'Good day to you.'),
      call(ann, 'c1', 'vote', { target: 'Bo' }),
      inference(ann),
    ];
    const { of } = play(events);
    expect(of('chat')).toMatchObject([{ speaker: 'Bo', message: 'Good day.' }]);
    expect(of('agent_reasoning')).toMatchObject([
      { turn: 'Game Start', thinking_process: 'Secret plan:\nvote({"target":"Bo"})' },
    ]);
  });

  it('has no utterances if agents speak only by tools', () => {
    const { of } = play([...names, text(ann, 'Done.'), inference(ann)], {
      ...mapping,
      chat: { tools: { speak: 'text' } },
    });
    expect(of('chat')).toEqual([]);
  });

  it('never has a whisper', () => {
    const events = [
      ...names,
      call(ann, 'c1', 'whisper', { to: 'Bo', text: 'Psst' }),
      result(ann, 'c1', 'whisper'),
    ];
    const { of } = play(events);
    expect(of('chat')).toEqual([]);
    expect(of('whispers')).toMatchObject([{ speaker: 'Ann', to: ['Bo'], message: 'Psst' }]);
  });

  it('counts calls whose words are not in the log', () => {
    const events = [
      ...names,
      call(ann, 'c1', 'speak'),
      result(ann, 'c1', 'speak'),
      call(ann, 'c2', 'speak', { txt: 'Hi' }),
      result(ann, 'c2', 'speak'),
    ];
    const { of, leftOut } = play(events);
    expect([of('chat'), leftOut]).toEqual([[], { speak: 2 }]);
  });
});

describe('actions', () => {
  it('have the payload that the mapping derives from the input, or the input itself', () => {
    const events = [
      ...names,
      call(ann, 'c1', 'vote', { target: 'Bo', reason: 'hm' }),
      result(ann, 'c1', 'vote'),
      call(bo, 'c2', 'use_ability', { ability: 'kill', target: 'Ann' }),
      result(bo, 'c2', 'use_ability'),
      call(bo, 'c3', 'use_ability', 'kill Ann'),
      result(bo, 'c3', 'use_ability'),
    ];
    expect(play(events).of('agent_actions')).toMatchObject([
      { agent: 'Ann', action_type: 'VOTE', payload: { voter: 'Ann', target: 'Bo' } },
      { agent: 'Bo', action_type: 'ABILITY_USE', payload: { ability: 'kill', target: 'Ann' } },
      { agent: 'Bo', action_type: 'ABILITY_USE', payload: { input: 'kill Ann' } },
    ]);
  });

  it('are not recorded for tools outside the mapping, whatever their names', () => {
    const events = [call(ann, 'c1', 'toString', { a: 1 }), result(ann, 'c1', 'toString')];
    expect(play(events).of('agent_actions')).toEqual([]);
  });
});

describe('reasoning', () => {
  const message = [
    thinking(ann, 'He lies.'),
    text(ann, 'Let me vote.'),
    call(ann, 'c1', 'vote', { target: 'Bo' }),
  ];

  it('is the thoughts of one message with the text beside its calls, and the calls', () => {
    const { of, steps } = play([...names, ...message, inference(ann)]);
    expect(of('agent_reasoning')).toMatchObject([
      { agent: 'Ann', thinking_process: 'He lies.\nLet me vote.\nvote({"target":"Bo"})', event_id: 'e2' },
    ]);
    expect(steps[5]?.map(({ stream }) => stream)).toEqual(['agent_reasoning', 'inference_trace']);
  });

  it('is joined per agent if messages of several agents interleave', () => {
    const [first, ...rest] = message;
    const events = [
      ...names,
      ...(first === undefined ? [] : [first]),
      thinking(bo, 'Ann is quiet.'),
      ...rest,
    ];
    expect(
      play(events)
        .of('agent_reasoning')
        .map((line) => 'thinking_process' in line && line.thinking_process),
    ).toEqual(['He lies.\nLet me vote.\nvote({"target":"Bo"})', 'Ann is quiet.']);
  });

  it('is of one message at a time', () => {
    const next = { ...ann, messageId: 'm9' };
    const { of } = play([thinking(ann, 'One.'), thinking(next, 'Two.')]);
    expect(of('agent_reasoning')).toMatchObject([{ thinking_process: 'One.' }, { thinking_process: 'Two.' }]);
  });

  it('leaves out the parts that the mapping names, and is absent without thoughts', () => {
    const reasoning = { textBesideCalls: false, toolCalls: false };
    expect(play(message, { ...mapping, reasoning }).of('agent_reasoning')).toMatchObject([
      { thinking_process: 'He lies.' },
    ]);
    expect(play([call(ann, 'c1', 'vote', { target: 'Bo' })]).of('agent_reasoning')).toEqual([]);
  });
});

describe('the inference trace', () => {
  it('counts cached tokens as part of the prompt, because the log counts them separately', () => {
    expect(play([...names, inference(ann)]).of('inference_trace')).toMatchObject([
      {
        event_type: 'INFERENCE_COMPLETE',
        agent: 'Ann',
        payload: { latency_ms: 7, prompt_tokens: 15, output_tokens: 2, model: 'm' },
      },
    ]);
  });

  it('names the requester', () => {
    const asked = newEvent(
      'user:message',
      { text: 'Go.', source: { kind: 'system' } },
      { agentId: bo.agentId },
    );
    expect(play([...names, heard(bo, ann, 'Hi'), asked]).of('inference_trace')).toMatchObject([
      { event_type: 'AGENT_REQUEST', agent: 'Bo', payload: { from: 'Ann', message: 'Hi' } },
      { event_type: 'AGENT_REQUEST', agent: 'Bo', payload: { from: 'system', message: 'Go.' } },
    ]);
  });
});

describe('a mapping', () => {
  it.each([
    [{}, 'turn'],
    [{ ...mapping, chat: { tool: {} } }, 'chat'],
    [{ ...mapping, actions: { vote: 'VOTE' } }, 'actions.vote'],
    [null, 'null'],
  ])('that is none is refused with the place', (value, place) => {
    expect(() => parseGameMapping(value, 'mapping.yaml')).toThrow(
      expect.objectContaining({ code: 'FORMAT_MAPPING_INVALID', message: expect.stringContaining(place) }),
    );
  });
});
