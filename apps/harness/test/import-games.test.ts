import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine } from './command-line.ts';

const corpus = join(
  process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../shared/fixtures'),
  'games',
);
const game = (minute: number, event_type: string, payload: object = {}) =>
  JSON.stringify({ timestamp: `2026-03-01T10:0${minute}:00.000Z`, turn: 'Day 1', event_type, payload });
const chat = (minute: number, speaker: string, message: string) =>
  JSON.stringify({ timestamp: `2026-03-01T10:0${minute}:30.000Z`, turn: 'Day 1', speaker, message });

describe('importing games', () => {
  it('makes a dispatch of each game of a log in several files, as it says how they ended', async () => {
    using cli = commandLine();
    const events = [
      game(1, 'GAME_START'),
      game(2, 'GAME_END', { winning_faction: 'Town' }),
      game(4, 'GAME_START'),
    ];
    writeFileSync(join(cli.cwd, 'game_events.jsonl'), events.join('\n'));
    writeFileSync(
      join(cli.cwd, 'chat.jsonl'),
      [chat(1, 'Ann', 'It is Ben.'), chat(4, 'Ben', 'Again?')].join('\n'),
    );
    const files = ['game_events.jsonl', 'chat.jsonl'];
    const answer = await cli.hansard('import', ...files, '--as', 'game-log', '--task', 'lab/games', '--json');
    expect(answer.json()).toMatchObject([
      { game: 1, records: 3 },
      { game: 2, records: 2 },
    ]);
    const dispatches = (await cli.hansard('ls', 'lab/games', '--json')).json();
    expect(dispatches).toMatchObject([
      { role: 'game', status: 'aborted' },
      { role: 'game', status: 'completed', startedAt: '2026-03-01T10:01:00.000Z' },
    ]);
    const [, first] = dispatches as { dispatchId: string }[];
    const dialog = await cli.hansard('dialog', `lab/games/${first?.dispatchId ?? ''}`);
    expect(dialog.out).toContain('Ann: It is Ben.');
    expect(dialog.out).not.toContain('Again?');
  });

  it('needs a task', async () => {
    using cli = commandLine();
    writeFileSync(join(cli.cwd, 'chat.jsonl'), chat(1, 'Ann', 'Hello'));
    const { code, err } = await cli.hansard('import', 'chat.jsonl', '--as', 'game-log');
    expect([code, err]).toEqual([2, expect.stringContaining('--task PROJECT/SLUG')]);
  });

  it('says of a file without a game that there is none', async () => {
    using cli = commandLine();
    writeFileSync(join(cli.cwd, 'chat.jsonl'), '{"hello":1}\n');
    const { code, err } = await cli.hansard(
      'import',
      'chat.jsonl',
      '--as',
      'game-log',
      '--task',
      'lab/games',
    );
    expect([code, err]).toEqual([1, expect.stringContaining('IMPORT_FOREIGN')]);
    expect((await cli.hansard('ls', '--json')).out).toBe('');
  });

  it.skipIf(!existsSync(corpus))(
    'separates the 22 games of a real log (skipped without the corpus)',
    async () => {
      using cli = commandLine();
      const files = ['game_events', 'chat'].map((name) => join(corpus, 'tossim', `${name}.jsonl`));
      const games = await cli.hansard(
        'import',
        ...files,
        '--as',
        'game-log',
        '--task',
        'lab/tossim',
        '--json',
      );
      expect(games.json()).toHaveLength(22);
      const match = join(corpus, 'werewolf-match.json');
      const werewolf = await cli.hansard(
        'import',
        match,
        '--as',
        'werewolf-match',
        '--task',
        'lab/werewolf',
        '--json',
      );
      expect(werewolf.json()).toHaveLength(1);
      expect((await cli.hansard('heard', 'lab/werewolf')).code).toBe(0);
    },
  );
});
