import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GameStream, gameStreams, specifiedStreams, streamLineSchemas } from '@hansard/datasets';
import { openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { appendEvents, createDispatch, updateDispatch } from '@hansard/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

const mapping = `
turn: { events: ['game:day'] }
gameEvents: { events: ['game:*'], names: { 'game:day': DAY_START } }
chat: { tools: { speak: text } }
actions: { vote: { type: VOTE, payload: { voter: $agent, target: target } } }
`;

const ann = { agentId: 'agent_002' };

function call(toolCallId: string, tool: string, input: NewEvent['data'] | undefined, status = 'completed') {
  const fields = { toolCallId, tool, metadata: {} };
  return [
    newEvent('agent:tool_call', { ...fields, ...(input === undefined ? {} : { input }) }, ann),
    newEvent('agent:tool_result', { ...fields, status: status === 'error' ? 'error' : 'completed' }, ann),
  ];
}

const day = (turn: string): NewEvent => ({ type: 'game:day', data: { turn, living: ['Ann'] } });
const created = newEvent('agent:created', { name: 'Ann' }, ann);

let cli: CommandLine;
let runs: string[];

beforeEach(async () => {
  cli = commandLine();
  runs = [];
  const store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
  for (const events of [
    [
      created,
      day('Day 1'),
      ...call('c1', 'speak', { text: 'Hello.' }),
      ...call('c2', 'vote', { target: 'Bo' }),
    ],
    [created, ...call('c1', 'speak', { text: 'Too early.' }), ...call('c2', 'speak', undefined)],
  ]) {
    const { dispatchId } = await createDispatch(store, 'lab/tasks/game', { role: 'game', fidelity: 'full' });
    await appendEvents(store, 'lab/tasks/game', dispatchId, events);
    await updateDispatch(store, 'lab/tasks/game', dispatchId, { status: 'completed' });
    runs.push(dispatchId);
  }
  await store.close();
  writeFileSync(join(cli.cwd, 'mapping.yaml'), mapping);
});

afterEach(() => cli[Symbol.dispose]());

const exportStreams = (...more: string[]) => exportStreamsOf('lab/game', ...more);
const exportStreamsOf = (session: string, ...more: string[]) =>
  cli.hansard('export', session, ...more, '--as', 'streams', '--extended', '--json');
const linesOf = (stream: GameStream) =>
  readFileSync(join(cli.cwd, 'streams', `${stream}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Record<string, unknown> => streamLineSchemas[stream].parse(JSON.parse(line)));

describe('hansard export --as streams', () => {
  it('writes the five files of the specification, which an import reads and an export writes to the byte', async () => {
    const exported = await cli.hansard(
      ...['export', 'lab/game', '--as', 'streams', '--mapping', 'mapping.yaml', '--out', 'one'],
    );
    expect(exported.code).toBe(0);
    expect(readdirSync(join(cli.cwd, 'one')).sort()).toEqual(
      specifiedStreams.map((name) => `${name}.jsonl`).sort(),
    );
    expect(
      readFileSync(join(cli.cwd, 'one/agent_actions.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => Object.keys(JSON.parse(line))),
    ).toEqual([['timestamp', 'turn', 'agent', 'action_type', 'payload']]);
    const imported = await cli.hansard('import', 'one', '--task', 'lab/again');
    expect([imported.code, imported.out]).toEqual([0, expect.stringContaining('game-log, game 1 of 1')]);
    expect(imported.err).not.toContain('unknown_kind');
    const again = await cli.hansard('export', 'lab/again', '--as', 'streams', '--out', 'two');
    expect([again.code, again.err]).toEqual([0, 'hansard: Not in streams: 1 agent:created.\n']);
    for (const name of specifiedStreams)
      expect(readFileSync(join(cli.cwd, `two/${name}.jsonl`), 'utf8')).toBe(
        readFileSync(join(cli.cwd, `one/${name}.jsonl`), 'utf8'),
      );
  });

  it.each(['agent_actions', 'agent_reasoning', 'inference_trace'] as const)(
    'writes a file of %s that an import reads alone',
    async (stream) => {
      await exportStreams('--mapping', 'mapping.yaml', '--out', 'streams');
      const file = join(cli.cwd, 'streams', `${stream}.jsonl`);
      const count = readFileSync(file, 'utf8').split('\n').length - 1;
      const { code, out } = await cli.hansard('import', file, '--task', 'lab/alone');
      expect([code, out]).toEqual(
        count === 0 ? [1, ''] : [0, expect.stringMatching(/game-log, game \d of \d, records: \d/)],
      );
    },
  );

  it('gives judges the speech, the actions and the reasoning of an imported game, without a mapping', async () => {
    const at = (second: number) => ({ timestamp: `2026-03-01T09:00:0${second}.000Z`, turn: 'Day 1' });
    const files = {
      chat: { ...at(2), speaker: 'Ann', message: 'I trust the quiet baker completely.' },
      agent_reasoning: { ...at(1), agent: 'Ann', thinking_process: 'Nobody must learn that I am the wolf.' },
      agent_actions: { ...at(3), agent: 'Ann', action_type: 'VOTE', payload: { voter: 'Ann', target: 'Bo' } },
      game_events: { ...at(0), event_type: 'GAME_START', payload: { players: ['Ann', 'Bo'] } },
    };
    mkdirSync(join(cli.cwd, 'village'));
    for (const [name, line] of Object.entries(files))
      writeFileSync(join(cli.cwd, `village/${name}.jsonl`), `${JSON.stringify(line)}\n`);
    expect((await cli.hansard('import', 'village', '--task', 'lab/village')).code).toBe(0);
    const { code, err } = await cli.hansard('judge', 'pack', 'lab/village', '--out', 'packets');
    expect([code, err]).toEqual([0, expect.not.stringContaining('has no reasoning')]);
    const kinds = ['external', 'internal'].map((pass) =>
      readFileSync(join(cli.cwd, `packets/${pass}.jsonl`), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map(({ kind, text }) => `${kind} ${text}`),
    );
    const [external, internal] = kinds;
    expect(external).toEqual([
      'chat I trust the quiet baker completely.',
      expect.stringMatching(/^action VOTE \{"voter":"P\d","target":"P\d"\}$/),
    ]);
    expect(internal).toEqual(['reasoning Nobody must learn that I am the wolf.', ...(external ?? [])]);
    const checked = await cli.hansard('judge', 'check', 'lab/village', 'packets');
    expect([checked.code, checked.out]).toEqual([0, expect.stringContaining('internal: 3 lines, no fault')]);
    const missing = await cli.hansard('judge', 'pack', 'lab/game/latest', '--out', 'native');
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('FORMAT_MAPPING_MISSING')]);
  });

  it('says so where the mapping fits no event of the game', async () => {
    const empty = 'game_events.jsonl is empty: no event is of a type that "gameEvents" of the mapping names.';
    writeFileSync(join(cli.cwd, 'other.yaml'), mapping.replaceAll('game:', 'chess:'));
    const { code, err } = await exportStreams('--mapping', 'other.yaml', '--out', 'other');
    expect(code).toBe(0);
    expect(err).toContain(empty);
    const fitting = await exportStreams('--mapping', 'mapping.yaml', '--out', 'fitting');
    expect(fitting.err).not.toContain(empty);
  });

  it('writes with --extended a file for whispers, too, and the run of each line', async () => {
    const { code, json, err } = await exportStreams('--mapping', 'mapping.yaml', '--out', 'streams');
    expect(code).toBe(0);
    expect(readdirSync(join(cli.cwd, 'streams')).sort()).toEqual(
      gameStreams.map((name) => `${name}.jsonl`).sort(),
    );
    expect(
      linesOf('chat').map(({ turn, speaker, message, run_id }) => [turn, speaker, message, run_id]),
    ).toEqual([
      ['Day 1', 'Ann', 'Hello.', runs[0]],
      ['Game Start', 'Ann', 'Too early.', runs[1]],
    ]);
    expect(linesOf('agent_actions')).toMatchObject([
      { action_type: 'VOTE', payload: { voter: 'Ann', target: 'Bo' } },
    ]);
    expect(linesOf('game_events')).toMatchObject([
      { turn: 'Day 1', event_type: 'DAY_START', payload: { living: ['Ann'] } },
    ]);
    expect(linesOf('inference_trace').map(({ event_type }) => event_type)).toEqual(
      Array.from({ length: 4 }, () => ['TOOL_CALL', 'TOOL_RESULT']).flat(),
    );
    expect(json()).toEqual([
      {
        format: 'streams',
        path: join(cli.cwd, 'streams'),
        runs: 2,
        leftOut: { 'agent:created': 2 },
        redactions: {},
        lines: {
          game_events: 1,
          chat: 2,
          whispers: 0,
          agent_actions: 1,
          agent_reasoning: 0,
          inference_trace: 8,
        },
      },
    ]);
    expect(err).toContain(`Calls of speak omitted from ${runs[1]}: 1.`);
  });

  it('names the players of the game that match no agent', async () => {
    const store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
    const { dispatchId } = await createDispatch(store, 'lab/tasks/game', { role: 'game', fidelity: 'full' });
    const start: NewEvent = { type: 'game:start', data: { players: ['ann', 'Bo', { seat: 3 }] } };
    await appendEvents(store, 'lab/tasks/game', dispatchId, [created, start]);
    await store.close();
    const { code, err } = await exportStreams('--mapping', 'mapping.yaml', '--out', 'streams');
    expect(code).toBe(0);
    expect(err.match(/match no agent/g)).toHaveLength(1);
    expect(err).toContain(
      `Players of the game in ${dispatchId} that match no agent: Bo, {"seat":3}. Therefore only texts that all agents received are public.`,
    );
  });

  it('takes one run, and a mapping that is JSON', async () => {
    const asJson = {
      turn: { events: ['game:day'] },
      gameEvents: { events: ['game:*'] },
      chat: { tools: { speak: 'text' } },
    };
    writeFileSync(join(cli.cwd, 'mapping.json'), JSON.stringify(asJson));
    const { code } = await exportStreamsOf(
      'lab/game/latest',
      '--mapping',
      'mapping.json',
      '--out',
      'streams',
    );
    expect([code, linesOf('chat').length, linesOf('agent_actions').length]).toEqual([0, 1, 0]);
  });

  it.each([
    ['no mapping', [], 2, '--mapping'],
    ['a mapping that is not there', ['--mapping', 'nowhere.yaml'], 1, 'nowhere.yaml'],
    ['a mapping with a word that means nothing', ['--mapping', 'wrong.yaml'], 1, 'speech'],
    ['a mapping that is no YAML', ['--mapping', 'broken.yaml'], 1, "can't be used"],
  ] as const)('says what to do about %s, and writes nothing', async (_, options, expected, word) => {
    writeFileSync(join(cli.cwd, 'wrong.yaml'), `${mapping}speech: { tools: {} }\n`);
    writeFileSync(join(cli.cwd, 'broken.yaml'), 'turn: [');
    const { code, err } = await exportStreams(...options, '--out', 'streams');
    expect(code).toBe(expected);
    expect(err).toContain(word);
    expect(existsSync(join(cli.cwd, 'streams'))).toBe(false);
  });

  it('never writes into an existing folder', async () => {
    mkdirSync(join(cli.cwd, 'streams'));
    const { code } = await exportStreams('--mapping', 'mapping.yaml', '--out', 'streams');
    expect([code, readdirSync(join(cli.cwd, 'streams'))]).toEqual([1, []]);
  });
});
