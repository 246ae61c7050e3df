import { readFileSync } from 'node:fs';
import {
  Cast,
  createGameStreams,
  createJudgePacket,
  createPseudonyms,
  type GameStream,
  gameStreams,
  type JudgePass,
  judgePasses,
  parseGameMapping,
  playersOf,
  readCast,
  type StreamLine,
  streamLineSchemas,
} from '@hansard/datasets';
import { checkPacket, type PacketMapping } from '@hansard/datasets/checking';
import { createIdSource, parseEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { createLogIndex, hearingMatrix, knownBy } from '@hansard/views';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { gameEventSchemas } from '../src/game-events.ts';
import { playGame } from '../src/play-game.ts';

type Game = Awaited<ReturnType<typeof playGame>>;

const fields = {
  game_events: ['timestamp', 'turn', 'event_type', 'payload'],
  chat: ['timestamp', 'turn', 'speaker', 'message'],
  whispers: ['timestamp', 'turn', 'speaker', 'to', 'message'],
  agent_actions: ['timestamp', 'turn', 'agent', 'action_type', 'payload'],
  agent_reasoning: ['timestamp', 'turn', 'agent', 'thinking_process'],
  inference_trace: ['timestamp', 'event_type', 'agent', 'payload'],
} satisfies Record<GameStream, readonly string[]>;

const mapping = parseGameMapping(parse(readFileSync(`${import.meta.dirname}/../mapping.yaml`, 'utf8')));
const whispered = 'I am the seer. Dario is honest.';

let game: Game;
let lines: readonly StreamLine[];

beforeAll(async () => {
  game = await play();
  lines = streamsOf(game);
});

describe('the game of hidden roles', () => {
  it('is played to its end, over two nights and two days', () => {
    expect(linesOf('game_events').map(({ turn, event_type }) => `${turn}: ${event_type}`)).toEqual([
      'Game Start: GAME_START',
      'Night 1: NIGHT_START',
      'Night 1: DEATH',
      'Day 1: DAY_START',
      'Day 1: VOTE_START',
      'Day 1: TRIAL_RESULT',
      'Day 1: DEATH',
      'Night 2: NIGHT_START',
      'Night 2: DEATH',
      'Day 2: DAY_START',
      'Day 2: VOTE_START',
      'Day 2: TRIAL_RESULT',
      'Day 2: DEATH',
      'Day 2: GAME_END',
    ]);
    expect(linesOf('game_events').at(-1)?.payload).toEqual({
      winning_faction: 'Town',
      surviving_players: ['Ada', 'Edda'],
    });
    const schemas = { ...gameEventSchemas };
    for (const event of game.events.filter(({ type }) => type.startsWith('game:')))
      parseEvent(event, schemas);
  });

  it('is the same each time', async () => {
    expect(await play()).toEqual(game);
  });

  it('refuses events of the game that are not as its schemas say', async () => {
    const schemas = { ...gameEventSchemas };
    const death = game.events.find(({ type }) => type === 'game:death');
    expect(() => parseEvent({ ...death, data: { turn: 'Day 1' } }, schemas)).toThrow('player');
  });

  it('fills all five streams and the whispers, each line as the specification says', () => {
    for (const stream of gameStreams) {
      expect([stream, linesOf(stream).length > 0]).toEqual([stream, true]);
      for (const line of linesOf(stream)) {
        streamLineSchemas[stream].parse(line);
        expect(Object.keys(line)).toEqual([...fields[stream], 'run_id', 'event_id']);
      }
    }
  });

  it('gives each line the run and an event of its own that the log has', () => {
    const ids = new Set(game.events.map(({ id }) => id));
    for (const stream of gameStreams) {
      const origins = linesOf(stream).map(({ event_id }) => String(event_id));
      expect(new Set(origins).size).toBe(origins.length);
      expect(origins.filter((id) => !ids.has(id))).toEqual([]);
    }
    expect(new Set(lines.map(({ line }) => line.run_id))).toEqual(new Set([game.dispatchId]));
  });

  it('has in the chat what was said to all, and nothing else', () => {
    expect(linesOf('chat').map(({ turn, speaker }) => `${turn} ${speaker}`)).toEqual([
      'Day 1 Ada',
      'Day 1 Bruno',
      'Day 1 Dario',
      'Day 1 Edda',
      'Day 1 Falk',
      'Day 2 Ada',
      'Day 2 Bruno',
      'Day 2 Edda',
    ]);
    expect(linesOf('whispers')).toMatchObject([
      { turn: 'Day 1', speaker: 'Ada', to: ['Edda'], message: whispered },
    ]);
  });

  it('keeps whispers, night messages and thoughts out of the public streams', () => {
    const text = JSON.stringify([...linesOf('chat'), ...linesOf('game_events'), ...linesOf('agent_actions')]);
    const secrets = [
      whispered,
      'is no wolf.',
      'You visit',
      'Use your ability',
      ...linesOf('agent_reasoning').map(
        ({ thinking_process }) => String(thinking_process).split('\n')[0] ?? '',
      ),
    ];
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });

  it('has the votes and abilities that counted; a vote that was refused is in the trace alone', () => {
    const actions = linesOf('agent_actions');
    expect(
      actions.filter(({ turn }) => turn === 'Night 1').map(({ agent, payload }) => [agent, payload]),
    ).toEqual([
      ['Ada', { ability: 'investigate', target: 'Dario' }],
      ['Bruno', { ability: 'kill', target: 'Cleo' }],
    ]);
    expect(actions.filter(({ agent, turn }) => agent === 'Falk' && turn === 'Day 1')).toMatchObject([
      { action_type: 'VOTE', payload: { voter: 'Falk', target: 'Dario' } },
    ]);
    const refused = linesOf('inference_trace').filter(
      ({ payload }) => (payload as { status?: string }).status === 'error',
    );
    expect(refused).toMatchObject([{ event_type: 'TOOL_RESULT', agent: 'Falk' }]);
  });

  it('has the thoughts of a message with the tool calls that they led to', () => {
    const [first] = linesOf('agent_reasoning').filter(({ agent }) => agent === 'Ada');
    expect(first).toMatchObject({
      turn: 'Night 1',
      thinking_process:
        'Bruno laughs too loud, Dario is too quiet. I begin with the quiet one.\n' +
        'use_ability({"ability":"investigate","target":"Dario"})',
    });
  });

  it('has in the trace a request for each delivery, and one line for each call, result and inference', () => {
    const kinds = {
      AGENT_REQUEST: 'user:message',
      TOOL_CALL: 'agent:tool_call',
      TOOL_RESULT: 'agent:tool_result',
      INFERENCE_COMPLETE: 'agent:inference',
    };
    for (const [kind, type] of Object.entries(kinds)) {
      const traced = linesOf('inference_trace').filter(({ event_type }) => event_type === kind);
      expect(traced.map(({ event_id }) => event_id)).toEqual(
        game.events.filter((event) => event.type === type).map(({ id }) => id),
      );
    }
  });

  it('lets each player hear what was meant for it: the whisper reaches Edda alone', () => {
    const index = createLogIndex(game.events);
    expect(index.diagnostics).toEqual([]);
    const whisper = hearingMatrix(index).rows.find(({ saying }) => saying.text === whispered);
    const heardBy = [...(whisper?.cells ?? [])].map(([agentId, how]) => [
      index.agents.get(agentId)?.name,
      how,
    ]);
    expect(heardBy).toEqual([
      ['Ada', ['said']],
      ['Edda', ['wrapped']],
    ]);
    for (const name of ['Bruno', 'Dario', 'Falk'])
      expect(knownBy(index, name).some(({ text }) => text.includes('seer. Dario'))).toBe(false);
  });
});

describe('the game of hidden roles, judged blind', () => {
  /** What the players themselves say to all of roles. */
  const claims = ['I am the seer, and P is the wolf.', 'Of course the seer is always the one who says so.'];

  it.each(judgePasses)('has no role in the %s packet but those that players claim to all', async (pass) => {
    const { lines: packed } = await packetOf(pass);
    const named = packed.filter((line) => /\b(wolf|seer|villager|roles?)\b/i.test(line.text));
    expect(named.map(({ kind, text }) => [kind, text.replace(/\bP\d\b/g, 'P')])).toEqual(
      claims.map((claim) => ['chat', claim]),
    );
  });

  it.each(judgePasses)('has neither the game master nor what it does in the %s packet', async (pass) => {
    const { lines: packed, manifest, bytes } = await packetOf(pass);
    const master = game.events.find(({ type }) => type === 'agent:created')?.agentId ?? '';
    expect(manifest.players).toEqual(['P1', 'P2', 'P3', 'P4', 'P5', 'P6']);
    expect(packed.filter(({ speaker }) => !manifest.players.includes(speaker))).toEqual([]);
    for (const word of ['begin_game', master, 'game master', 'Play a game', 'Town won'])
      expect(bytes).not.toContain(word);
  });

  it.each(judgePasses)('has no fault in the %s packet that the check finds', async (pass) => {
    const { bytes, manifest } = await packetOf(pass);
    const { dispatchId, events } = game;
    async function* readEvents() {
      yield* events;
    }
    const packet = { lines: bytes, manifest: JSON.stringify(manifest), dispatchId, readEvents };
    expect(await checkPacket({ ...packet, mapping: mapping as PacketMapping })).toMatchObject({
      pass,
      events: events.length,
      problems: [],
    });
  });

  it.each(judgePasses)(
    'has neither the whisper nor what an ability was used for in the %s packet',
    async (pass) => {
      const { bytes, manifest } = await packetOf(pass);
      expect(bytes).not.toMatch(/the seer\. |whisper\(|investigate|kill/);
      // The internal packet has the calls of a player in the form of their actions.
      if (pass === 'external') expect(bytes).not.toContain('use_ability');
      expect(manifest.excluded.streams.whispers).toBe(1);
    },
  );

  async function packetOf(pass: JudgePass) {
    const { dispatchId, events } = game;
    async function* log() {
      yield* events;
    }
    const pseudonyms = createPseudonyms(await playersOf(log(), mapping, dispatchId), dispatchId);
    const cast = await readCast(events, mapping);
    const packet = createJudgePacket({ pass, mapping, dispatchId, pseudonyms, cast });
    const written = [...events.flatMap((event) => packet.add(event)), ...packet.finish()];
    const bytes = written.map(({ line }) => `${JSON.stringify(line)}\n`).join('');
    return { lines: written.map(({ line }) => line), manifest: packet.manifest(), bytes };
  }
});

async function play(): Promise<Game> {
  let time = Date.UTC(2026, 2, 1);
  const clock = {
    now: () => {
      time += 40;
      return time;
    },
    monotonic: () => 0,
    after: () => () => {},
  };
  return playGame(createMemoryStore(), {
    clock,
    createId: createIdSource({ now: clock.now, random: () => 0 }),
  });
}

function streamsOf({ dispatchId, events }: Game): StreamLine[] {
  const cast = new Cast(mapping);
  for (const event of events) cast.observe(event);
  const streams = createGameStreams(mapping, { runId: dispatchId, cast });
  return [...events.flatMap((event) => streams.add(event)), ...streams.finish()];
}

function linesOf(stream: GameStream): Readonly<Record<string, unknown>>[] {
  return lines.flatMap((made) => (made.stream === stream ? [made.line] : []));
}
