import { appendFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';
import { lines, put } from './import-files.ts';

interface Imported {
  readonly dispatchId: string;
  readonly events: number;
  readonly added: number;
  readonly rewritten: number;
  readonly notInLog: number;
}

async function importJson(cli: CommandLine, ...args: string[]): Promise<Imported[]> {
  const answer = await cli.hansard('import', ...args, '--task', 'lab/log', '--reread', '--json');
  expect(answer.code, answer.err).toBe(0);
  return answer.json() as Imported[];
}

const dispatches = async (cli: CommandLine) =>
  (await cli.hansard('ls', 'lab/log', '--json')).json() as { status: string }[];

async function eventsOf(cli: CommandLine): Promise<CapturedEvent[]> {
  return (await cli.hansard('show', 'lab/log/latest', '--raw', '--json')).json() as CapturedEvent[];
}

const created = { message_id: 'm1', event_type: 'agent_created', agent_id: 'a1', name: 'Ann' };
const v2 = [
  created,
  {
    message_id: 'm2',
    event_type: 'transcript_entry',
    agent_id: 'a1',
    role: 'user',
    content: 'Hi',
    cause: 'm1',
  },
  { message_id: 'm3', event_type: 'transcript_entry', agent_id: 'a1', role: 'assistant', content: 'Yes?' },
];
const v1 = [
  created,
  { message_id: 'm2', agent_id: 'a1', role: 'user', content: 'Hi', source: 'external' },
  { message_id: 'm3', agent_id: 'a1', role: 'assistant', content: 'Yes?', caused_by: 'm2' },
];

const turn = (minute: number) => ({ timestamp: `2026-03-01T10:0${minute}:00.000Z`, turn: 'Day 1' });
const game = (minute: number, event_type: string, payload: object = {}) => ({
  ...turn(minute),
  event_type,
  payload,
});
const say = (minute: number, speaker: string, message: string) => ({ ...turn(minute), speaker, message });
const players = { players: ['Ann', 'Bo'] };

describe.each([
  ['session-v1', v1],
  ['session-v2', v2],
])('a %s log that is imported again', (format, records) => {
  it('adds nothing, and only what is new when it has grown', async () => {
    using cli = commandLine();
    const text = lines(...records);
    const path = put(cli, 'runs/1/s.jsonl', text.slice(0, -20));
    expect(await importJson(cli, path)).toMatchObject([{ format, events: 2, added: 2 }]);
    const before = await eventsOf(cli);
    expect(await importJson(cli, path)).toMatchObject([{ events: 2, added: 0, rewritten: 0, notInLog: 0 }]);
    appendFileSync(path, text.slice(-20));
    expect(await importJson(cli, path)).toMatchObject([{ events: 3, added: 1, rewritten: 0, notInLog: 0 }]);
    const after = await eventsOf(cli);
    expect(after.slice(0, 2)).toEqual(before);
    expect(after.map(({ id }) => id)).toEqual(['m1', 'm2', 'm3']);
    expect(await dispatches(cli)).toMatchObject([{ role: 'imported', status: 'completed' }]);
    const { out } = await cli.hansard('import', path, '--reread', '--task', 'lab/log');
    expect(out).toMatch(/records: 3, events: 0 new, 3 already imported\n$/);
  });

  it('reports rewritten events, keeps both versions, and finds both the next time', async () => {
    using cli = commandLine();
    const path = put(cli, 'runs/1/s.jsonl', lines(...records));
    await importJson(cli, path);
    put(cli, 'runs/1/s.jsonl', lines(...records).replace('"Hi"', '"Hello"'));
    expect(await importJson(cli, path)).toMatchObject([{ events: 3, added: 1, rewritten: 1, notInLog: 0 }]);
    const again = await cli.hansard('import', path, '--reread', '--task', 'lab/log');
    expect(again.out).toContain('events: 0 new, 3 already imported, diagnostics: rewritten 1');
    expect(again.err).toContain('an earlier import of the event m2 has other content; the store keeps both');
    expect(again.err).toContain('if this is a different log');
    expect((await eventsOf(cli)).map(({ id }) => id)).toEqual(['m1', 'm2', 'm3', 'm2:rewritten-2']);
  });

  it('takes back nothing when it has become shorter, and says what it does not have', async () => {
    using cli = commandLine();
    const path = put(cli, 's.jsonl', lines(...records));
    await importJson(cli, path);
    put(cli, 's.jsonl', lines(...records.slice(0, 2)));
    const { out } = await cli.hansard('import', path, '--task', 'lab/log');
    expect(out).toContain('events: 0 new, 2 already imported, 1 not in the file');
    expect(await eventsOf(cli)).toHaveLength(3);
  });

  it('is another one in another folder, and the same one under its own id wherever it lies', async () => {
    using cli = commandLine();
    const one = put(cli, 'runs/1/s.jsonl', lines(...records));
    const two = put(cli, 'runs/2/s.jsonl', lines(...records));
    const ids = (await importJson(cli, 'runs')).map(({ dispatchId }) => dispatchId);
    expect(new Set(ids).size).toBe(2);
    const named = lines({ ...records[0], session_id: 'S1' }, ...records.slice(1));
    put(cli, 'runs/1/s.jsonl', named);
    const [first] = await importJson(cli, one);
    expect(ids).not.toContain(first?.dispatchId);
    put(cli, 'runs/2/s.jsonl', named);
    renameSync(two, join(cli.cwd, 'other.jsonl'));
    expect(await importJson(cli, 'other.jsonl')).toMatchObject([{ dispatchId: first?.dispatchId, added: 0 }]);
  });

  it('is refused beside another log with the same name and first record', async () => {
    using cli = commandLine();
    put(cli, 'runs/1/logs/s.jsonl', lines(...records));
    put(cli, 'runs/2/logs/s.jsonl', lines(...records.slice(0, 2)));
    const { code, out, err } = await cli.hansard('import', 'runs', '--task', 'lab/log');
    expect([code, out.split('\n').length - 1]).toEqual([1, 1]);
    expect(err).toContain('the same name and the same first record');
    expect(await dispatches(cli)).toHaveLength(1);
  });
});

describe('a game log that is imported again', () => {
  const events = [game(1, 'GAME_START', players), game(3, 'GAME_END'), game(5, 'GAME_START', players)];
  const chat = [say(2, 'Ann', 'One.'), say(6, 'Bo', 'Two.')];

  it('adds nothing, and to each game only what is new', async () => {
    using cli = commandLine();
    put(cli, 'log/game_events.jsonl', lines(...events));
    put(cli, 'log/chat.jsonl', lines(...chat).slice(0, -30));
    const first = await importJson(cli, 'log');
    expect(first).toMatchObject([
      { events: 6, added: 6 },
      { events: 3, added: 3 },
    ]);
    const again = await importJson(cli, 'log/chat.jsonl', 'log/game_events.jsonl');
    expect(again.map(({ dispatchId }) => dispatchId)).toEqual(first.map(({ dispatchId }) => dispatchId));
    expect(again).toMatchObject([
      { events: 6, added: 0 },
      { events: 3, added: 0 },
    ]);
    put(cli, 'log/chat.jsonl', lines(...chat));
    appendFileSync(
      join(cli.cwd, 'log/game_events.jsonl'),
      lines(game(7, 'GAME_END'), game(8, 'GAME_START', players)),
    );
    expect(await importJson(cli, 'log', '--as', 'game-log')).toMatchObject([
      { events: 6, added: 0, rewritten: 0, notInLog: 0 },
      { events: 6, added: 3, rewritten: 0, notInLog: 0 },
      { events: 3, added: 3, rewritten: 0, notInLog: 0 },
    ]);
    expect(await dispatches(cli)).toMatchObject([
      { status: 'aborted' },
      { status: 'completed' },
      { status: 'completed' },
    ]);
  });

  it('takes back nothing when it has become shorter', async () => {
    using cli = commandLine();
    put(cli, 'all.jsonl', lines(...events.slice(0, 2), ...chat));
    await importJson(cli, 'all.jsonl');
    put(cli, 'all.jsonl', lines(...events.slice(0, 1)));
    expect(await importJson(cli, 'all.jsonl')).toMatchObject([{ added: 0, notInLog: 5 }]);
    expect(await dispatches(cli)).toMatchObject([
      { status: 'completed', completedAt: '2026-03-01T10:06:00.000Z' },
    ]);
  });

  it('knows a game again when its log has lost the games before', async () => {
    using cli = commandLine();
    put(cli, 'all.jsonl', lines(...events, ...chat));
    const [, second] = await importJson(cli, 'all.jsonl');
    put(cli, 'later.jsonl', lines(...events.slice(2), ...chat.slice(1)));
    expect(await importJson(cli, 'later.jsonl')).toMatchObject([
      { dispatchId: second?.dispatchId, added: 0, rewritten: 0 },
    ]);
  });

  it('reports rewritten events, and events of the game that are in another file now', async () => {
    using cli = commandLine();
    put(cli, 'all.jsonl', lines(events[0] ?? {}, ...chat));
    await importJson(cli, 'all.jsonl');
    put(cli, 'all.jsonl', lines(...events, ...chat).replace('One.', 'Eins.'));
    const { out, err } = await cli.hansard('import', 'all.jsonl', '--task', 'lab/log');
    expect(out).toMatch(/game 1 of 2, .*2 not in the file, diagnostics: rewritten 2\n/);
    expect(err).toContain('an earlier import of the event chat-1 has other content');
  });

  it('finds its games even if no record has a time', async () => {
    using cli = commandLine();
    const untimed = (record: object) => ({ ...record, timestamp: undefined });
    put(cli, 'g.jsonl', lines(...events.slice(0, 1).map(untimed)));
    await importJson(cli, 'g.jsonl');
    put(cli, 'g.jsonl', lines(...[events[0] ?? {}, chat[0] ?? {}, ...events.slice(1)].map(untimed)));
    const grown = await importJson(cli, 'g.jsonl');
    expect(grown).toMatchObject([
      { added: 3, rewritten: 0 },
      { added: 3, rewritten: 0 },
    ]);
    expect(await importJson(cli, 'g.jsonl')).toMatchObject([{ added: 0 }, { added: 0 }]);
  });

  it('keeps two games apart that begin with the very same record', async () => {
    using cli = commandLine();
    const [start = {}] = events;
    put(cli, 'g.jsonl', lines(start, start));
    const ids = (await importJson(cli, 'g.jsonl')).map(({ dispatchId }) => dispatchId);
    expect(new Set(ids).size).toBe(2);
    expect(await importJson(cli, 'g.jsonl')).toMatchObject([{ added: 0 }, { added: 0 }]);
  });

  it('is complete once another import has brought the rest in after an interruption', async () => {
    using cli = commandLine();
    put(cli, 'all.jsonl', lines(...events, ...chat));
    const stop = new AbortController();
    const { code, err } = await cli.start(['import', 'all.jsonl', '--task', 'lab/log'], {
      signal: stop.signal,
      onOutput: () => stop.abort(),
    });
    expect([code, err]).toEqual([1, expect.stringContaining('was interrupted')]);
    const ended = (await dispatches(cli)) as { status?: string }[];
    expect(ended.filter(({ status }) => status === 'completed')).toHaveLength(1);
    expect(await importJson(cli, 'all.jsonl')).toMatchObject([{ added: 0 }, { events: 5, added: 5 }]);
  });
});

describe('a werewolf match that is imported again', () => {
  const chat = [
    { from: 'Host', to: ['Ann', 'Bo'], content: 'Night falls.' },
    { from: 'Ann', to: ['Bo'], content: 'Good night.' },
  ];

  it('adds only new events after the log has grown, and reports rewritten ones', async () => {
    using cli = commandLine();
    put(cli, 'm.json', JSON.stringify({ chat: chat.slice(0, 1) }));
    const [first] = await importJson(cli, 'm.json');
    expect(first).toMatchObject({ events: 6, added: 6 });
    expect(await dispatches(cli)).toMatchObject([{ status: 'aborted' }]);
    expect(await importJson(cli, 'm.json', '--as', 'werewolf-match')).toMatchObject([
      { dispatchId: first?.dispatchId, events: 6, added: 0 },
    ]);
    put(cli, 'm.json', JSON.stringify({ chat, winner: 'WOLF' }, null, 2));
    expect(await importJson(cli, 'm.json')).toMatchObject([
      { events: 9, added: 3, rewritten: 0, notInLog: 0 },
    ]);
    expect(await dispatches(cli)).toMatchObject([{ status: 'completed' }]);
    put(cli, 'm.json', JSON.stringify({ chat, winner: 'VILLAGE' }));
    expect(await importJson(cli, 'm.json')).toMatchObject([{ added: 1, rewritten: 1 }]);
    expect(await importJson(cli, 'm.json')).toMatchObject([{ added: 0, rewritten: 1 }]);
  });
});
