import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CapturedEvent, type NewEvent, newEvent, parseEvent } from '@hansard/events';
import { canaryGame, canaryMapping, randomRosterGame, rosterGames, rosterMapping } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import type { PacketProblem } from '../../src/checking/check-packet.ts';
import { checkPacket, type PacketMapping } from '../../src/checking.ts';
import {
  createJudgePacket,
  type GameMappingInput,
  type JudgePass,
  judgePasses,
  readCast,
  readPseudonyms,
} from '../../src/index.ts';
import { dispatchId, events as judged, mapping as judgedMapping } from './judged-game.ts';

interface Game {
  readonly events: readonly CapturedEvent[];
  readonly mapping: GameMappingInput;
}

interface Files {
  readonly lines: string;
  readonly manifest: string;
}

/** The packet as `judge pack` writes it. `mapping`: what the writer takes for public. */
async function filesOf(pass: JudgePass, { events, mapping }: Game): Promise<Files> {
  const pseudonyms = await readPseudonyms(logOf(events), mapping, dispatchId);
  const cast = await readCast(events, mapping);
  const packet = createJudgePacket({ pass, mapping, dispatchId, pseudonyms, cast });
  const written = [...events.flatMap((event) => packet.add(event)), ...packet.finish()];
  return {
    lines: written.map(({ line }) => `${JSON.stringify(line)}\n`).join(''),
    manifest: JSON.stringify(packet.manifest()),
  };
}

async function* logOf(events: readonly CapturedEvent[]) {
  yield* events;
}

async function problemsOf(files: Files, { events, mapping }: Game): Promise<readonly PacketProblem[]> {
  const { problems } = await checkPacket({
    ...files,
    dispatchId,
    mapping: mapping as PacketMapping,
    readEvents: () => logOf(events),
  });
  return problems;
}

const kindsOf = (problems: readonly PacketProblem[]) => [...new Set(problems.map(({ kind }) => kind))].sort();

/** A packet with changed lines, and a manifest that agrees with them. */
function changed(
  { lines, manifest }: Files,
  change: (line: Record<string, unknown>, at: number) => object | null,
): Files {
  const made = lines
    .trimEnd()
    .split('\n')
    .flatMap((text, at) => change(JSON.parse(text), at) ?? [])
    .map((line, at) => ({ ...line, n: at + 1 }) as unknown as { kind: string });
  const text = made.map((line) => `${JSON.stringify(line)}\n`).join('');
  const kinds: Record<string, number> = {};
  for (const { kind } of made) kinds[kind] = (kinds[kind] ?? 0) + 1;
  const sha256 = createHash('sha256').update(text).digest('hex');
  return {
    lines: text,
    manifest: JSON.stringify({ ...JSON.parse(manifest), lines: made.length, kinds, sha256 }),
  };
}

const games: readonly Game[] = [
  { events: judged, mapping: judgedMapping },
  ...Array.from({ length: 12 }, (_, at) => ({ events: canaryGame(at + 1).events, mapping: canaryMapping })),
];

describe.each(['external', 'internal'] as const)('the check of an %s packet', (pass) => {
  it('finds nothing in packets of random games', async () => {
    for (const game of games) expect(await problemsOf(await filesOf(pass, game), game)).toEqual([]);
  });

  it.each<[string, string, Partial<GameMappingInput>]>([
    ['a whisper as speech', 'unknown_event', { chat: { tools: { whisper: 'message' } }, whispers: {} }],
    ['a field beside a message', 'private_words', { chat: { tools: { speak: 'why' } } }],
    [
      'a field of an action that is not public',
      'private_words',
      { actions: { vote: { type: 'VOTE', payload: { why: 'reason' } } } },
    ],
    [
      'a call that is no action',
      'unknown_event',
      { actions: { read_notes: { type: 'READ', payload: { what: 'path' } } } },
    ],
  ])('finds %s', async (_, kind, more) => {
    for (const game of games.slice(1, 5)) {
      const files = await filesOf(pass, {
        ...game,
        mapping: { ...canaryMapping, ...more } as GameMappingInput,
      });
      expect(kindsOf(await problemsOf(files, game))).toContain(kind);
    }
  });

  it.each<[string, PacketProblem['kind'], (line: Record<string, unknown>, at: number) => object | null]>([
    ['a line that is missing', 'missing', (line, at) => (at === 0 ? null : line)],
    [
      'a line of an event that is not there',
      'unknown_event',
      (line, at) => (at === 0 ? { ...line, ref: 'f'.repeat(16) } : line),
    ],
    [
      'a line of another kind',
      'wrong_event',
      (line) => (line.kind === 'action' ? { ...line, kind: 'chat' } : line),
    ],
    ['one pseudonym for all', 'speaker', (line) => ({ ...line, speaker: 'P1' })],
    [
      'an unknown speaker',
      'speaker',
      (line) => (line.kind === 'action' ? { ...line, speaker: 'P99' } : line),
    ],
    ['an id', 'name', (line, at) => (at === 0 ? { ...line, text: `${line.text} agent_001` } : line)],
  ])('finds %s', async (_, kind, change) => {
    const [game] = games as [Game];
    expect(kindsOf(await problemsOf(changed(await filesOf(pass, game), change), game))).toContain(kind);
  });

  it('finds the words of each private text when they stand in a line', async () => {
    const [game] = games as [Game];
    const files = await filesOf(pass, game);
    const words = new Set(
      game.events.flatMap((event) =>
        [...JSON.stringify(event.data).matchAll(/CANARY_(\w+?)_CANARY/g)].map(([word]) => word),
      ),
    );
    const open = pass === 'internal' ? ['CANARY_thinking_CANARY', 'CANARY_beside_call_CANARY'] : [];
    const tested = [...words].filter((word) => !open.includes(word));
    expect(tested.length).toBeGreaterThan(15);
    for (const word of tested) {
      const leaking = changed(files, (line, at) =>
        at === 1 ? { ...line, text: `${line.text} ${word}` } : line,
      );
      expect([word, kindsOf(await problemsOf(leaking, game))]).toEqual([word, ['private_words']]);
    }
  });

  it('finds names of players', async () => {
    const [game] = games as [Game];
    const files = changed(await filesOf(pass, game), (line, at) =>
      at === 0 ? { ...line, text: 'I trust Ann Lee.' } : line,
    );
    expect(kindsOf(await problemsOf(files, game))).toContain('name');
  });

  it.each<[string, PacketProblem['kind'], (files: Files) => Files]>([
    [
      'wrong counts',
      'counts',
      (files) => ({ ...files, manifest: files.manifest.replace(/"chat":\d+/, '"chat":99') }),
    ],
    [
      'another number of events',
      'counts',
      (files) => ({ ...files, manifest: files.manifest.replace(/"events":\d+/, '"events":1') }),
    ],
    [
      'a checksum of other lines',
      'checksum',
      (files) => ({ ...files, lines: files.lines.replace('"turn":"', '"turn":" ') }),
    ],
    [
      'a gap in the numbers',
      'numbering',
      (files) => ({ ...files, lines: files.lines.replace('"n":2', '"n":7') }),
    ],
    ['a line that is cut', 'malformed', (files) => ({ ...files, lines: files.lines.slice(0, -9) })],
    [
      'a line with another field',
      'malformed',
      (files) => ({ ...files, lines: files.lines.replace('"turn"', '"role":"wolf","turn"') }),
    ],
    ['a manifest that is no object', 'malformed', (files) => ({ ...files, manifest: '[]' })],
  ])('finds %s', async (_, kind, change) => {
    const [game] = games as [Game];
    expect(kindsOf(await problemsOf(change(await filesOf(pass, game)), game))).toContain(kind);
  });
});

describe('speech that a player did not receive', () => {
  const talk = ['ann', 'bea', 'cyd'].flatMap((speaker, round, all) => [
    newEvent(
      'agent:text',
      { text: `What ${speaker} says in round ${round}.` },
      { agentId: speaker, messageId: `m${round}` },
    ),
    ...all
      .filter((other) => other !== speaker)
      .map((agentId) =>
        newEvent(
          'user:message',
          { text: 'heard', source: { kind: 'agent', agentId: speaker } },
          { agentId, substance: `m${round}` },
        ),
      ),
  ]);
  const created = ['ann', 'bea', 'cyd'].map((agentId) =>
    newEvent('agent:created', { name: `${agentId}-name` }, { agentId }),
  );
  const log = [...created, ...talk].map((event, at) =>
    parseEvent({ ...event, id: `t${at}`, timestamp: '2026-03-01T09:30:01.000Z' }),
  );
  const mapping = {
    turn: { events: ['game:day'] },
    gameEvents: { events: ['game:*'] },
    chat: { utterances: true },
  };

  it('is found by the deliveries of the log', async () => {
    const files = await filesOf('external', { events: log, mapping });
    expect(await problemsOf(files, { events: log, mapping })).toEqual([]);
    const missing = log.findIndex(({ type, agentId }) => type === 'user:message' && agentId === 'cyd');
    const events = log.map((event, at) => (at === missing ? { ...event, agentId: 'bea' } : event));
    expect(await problemsOf(files, { events, mapping })).toMatchObject([{ kind: 'not_public', line: 1 }]);
  });
});

describe('games in which lists of players do not match the agents', () => {
  it('have packets in which nothing is found', async () => {
    // In random games the dead continue to speak, which the check takes for players that should have heard the others.
    const random = Array.from({ length: 80 }, (_, at) => randomRosterGame(at + 1)).filter(
      ({ events }) => !events.some(({ type }) => type === 'game:death'),
    );
    expect(random.length).toBeGreaterThan(40);
    for (const { title, events } of [...rosterGames, ...random])
      for (const pass of judgePasses) {
        const game = { events, mapping: rosterMapping };
        expect([title, await problemsOf(await filesOf(pass, game), game)]).toEqual([title, []]);
      }
  });

  /** `a1` speaks to the receivers; `a3` answers. */
  const log = (receivers: string, before: readonly NewEvent[], after: readonly NewEvent[]) =>
    [
      ...before,
      newEvent(
        'agent:tool_call',
        { toolCallId: 'c', tool: 'speak', input: { text: 'We meet at noon.' }, metadata: {} },
        { agentId: 'a1' },
      ),
      ...receivers
        .split(' ')
        .map((agentId) =>
          newEvent(
            'user:message',
            { text: 'We meet at noon.', source: { kind: 'agent', agentId: 'a1' } },
            { agentId, cause: 'e-call' },
          ),
        ),
      newEvent(
        'agent:tool_result',
        { toolCallId: 'c', tool: 'speak', status: 'completed', metadata: {} },
        { agentId: 'a1' },
      ),
      ...after,
      newEvent('agent:text', { text: 'Yes.' }, { agentId: 'a3' }),
    ].map((event, at) =>
      parseEvent({
        ...event,
        id: event.type === 'agent:tool_call' ? 'e-call' : `e${at}`,
        timestamp: '2026-03-01T09:30:01.000Z',
      }),
    );
  const create = (agentIds: string) =>
    agentIds
      .split(' ')
      .map((agentId) => newEvent('agent:created', { name: `Name of ${agentId}` }, { agentId }));
  const list: NewEvent = { type: 'game:start', data: { players: ['X', 'Y'] } };
  const ended = newEvent('agent:terminated', {}, { agentId: 'a2' });
  const speaking = {
    turn: { events: ['game:day'] },
    gameEvents: { events: ['game:*'] },
    chat: { tools: { speak: 'text' } },
    names: { others: { 'Name of gm': 'master' } },
  };

  it.each<
    [string, lines: number, receivers: string, before: readonly NewEvent[], after?: readonly NewEvent[]]
  >([
    ['all others have heard', 1, 'a2 a3', [...create('a1 a2 a3'), list]],
    ['one other has heard', 0, 'a2', [...create('a1 a2 a3'), list]],
    ['all others but one that the log does not create have heard', 0, 'a2', [...create('a1 a2'), list]],
    ['all others but one that does not play have heard', 1, 'a2 a3', [...create('a1 a2 a3 gm'), list]],
    ['all others but one that has ended have heard', 1, 'a3', [...create('a1 a2 a3'), list, ended]],
    ['one that is created later has not heard', 0, 'a2', [...create('a1 a2'), list], create('a3')],
    ['one that is created later has not heard, without a list', 1, 'a2', create('a1 a2'), create('a3')],
  ])('lack no speech that %s', async (_, lines, receivers, before, after = []) => {
    const game = { events: log(receivers, before, after), mapping: speaking };
    const files = await filesOf('external', game);
    expect(files.lines.split('\n').filter((line) => line !== '')).toHaveLength(lines);
    expect(await problemsOf(files, game)).toEqual([]);
    if (lines === 0) return;
    const none = changed(files, () => null);
    expect(kindsOf(await problemsOf(none, game))).toEqual(['missing']);
  });
});

describe('the program that checks', () => {
  it('shares no code with the one that writes', () => {
    const folder = join(import.meta.dirname, '../../src/checking');
    const imports = readdirSync(folder).flatMap((file) =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(/ from '([^']+)'/g)].map(
        ([, name]) => name ?? '',
      ),
    );
    expect([...new Set(imports)].sort()).toEqual([
      './game-reading.ts',
      './parts-of-texts.ts',
      '@hansard/events',
      'node:crypto',
    ]);
    for (const file of readdirSync(folder))
      expect(readFileSync(join(folder, file), 'utf8')).not.toMatch(
        /import \{(?! type )[^}]*\} from '@hansard\/events'/,
      );
  });
});
