import { chmodSync, copyFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';
import { lines, put, uuid } from './import-files.ts';

interface Document {
  readonly file?: string;
  readonly files?: readonly string[];
  readonly format?: string;
  readonly added?: number;
  readonly error?: string;
}

const prompt = (number: number, fields: object = {}) => ({
  type: 'user',
  parentUuid: null,
  isSidechain: false,
  cwd: '/home/ann/house',
  sessionId: 'session-1',
  message: { role: 'user', content: 'Hello' },
  uuid: uuid(number),
  timestamp: `2026-03-01T09:30:0${number}.000Z`,
  ...fields,
});
const message = (number: number) => ({
  type: 'user',
  session_id: 'session-2',
  message: { role: 'user', content: 'Hello' },
  uuid: uuid(number),
});
const entry = {
  message_id: 'm1',
  event_type: 'transcript_entry',
  agent_id: 'a1',
  role: 'user',
  content: 'Hi',
};
const turn = { timestamp: '2026-03-01T10:00:00.000Z', turn: 'Day 1' };
const start = { ...turn, event_type: 'GAME_START', payload: { players: ['Ann', 'Bo'] } };
const said = { ...turn, speaker: 'Ann', message: 'Hello' };

describe('importing a folder of many formats', () => {
  function fill(cli: CommandLine): void {
    put(cli, 'logs/a-transcript.jsonl', lines(prompt(1)));
    copyFileSync(demoStream('tools-and-thinking'), join(cli.cwd, 'logs/b-stream.jsonl'));
    put(cli, 'logs/c-session.jsonl', lines(entry));
    put(cli, 'logs/d-empty.jsonl', '');
    put(cli, 'logs/e-unknown.jsonl', lines({ hello: 1 }));
    put(cli, 'logs/f-binary.jsonl', '\u0000\u0001\u0002');
    symlinkSync(join(cli.cwd, 'nowhere.jsonl'), join(cli.cwd, 'logs/g-gone.jsonl'));
    symlinkSync(join(cli.cwd, 'nowhere.jsonl'), join(cli.cwd, 'logs/agent-gone.jsonl'));
    symlinkSync(cli.cwd, join(cli.cwd, 'logs/h-loop.jsonl'));
    put(cli, 'logs/game/game_events.jsonl', lines(start));
    put(cli, 'logs/game/chat.jsonl', lines(said));
    put(cli, 'logs/notes.txt', 'no log');
  }

  it('names each file that is none and imports all others, each as what it is', async () => {
    using cli = commandLine();
    fill(cli);
    const answer = await cli.hansard('import', 'logs', '--task', 'lab/mixed', '--json');
    expect(answer.code).toBe(1);
    const documents = answer.json() as Document[];
    const nameOf = (path: string) => path.slice(join(cli.cwd, 'logs').length + 1);
    const imported = documents
      .filter(({ error }) => error === undefined)
      .map(({ file, files = [], format }) =>
        [...new Set([file ?? [], ...files].flat())].map(nameOf).concat(format ?? ''),
      );
    expect(imported).toEqual([
      ['a-transcript.jsonl', 'claude-transcript'],
      ['b-stream.jsonl', 'claude-stream'],
      ['c-session.jsonl', 'session-v2'],
      ['game/chat.jsonl', 'game/game_events.jsonl', 'game-log'],
    ]);
    const problems = documents.filter(({ error }) => error !== undefined);
    expect(problems.map(({ file = '' }) => nameOf(file))).toEqual([
      'h-loop.jsonl',
      'agent-gone.jsonl',
      'd-empty.jsonl',
      'e-unknown.jsonl',
      'f-binary.jsonl',
      'g-gone.jsonl',
    ]);
    for (const { file, error } of problems) expect(error).toContain(file);
    expect(answer.err).toContain('6 files or folders were not imported');
    expect(answer.err).not.toMatch(/unexpected|\n\s+at /);
  });

  it('counts one that could not be imported as one', async () => {
    using cli = commandLine();
    fill(cli);
    const paths = ['logs/a-transcript.jsonl', 'logs/e-unknown.jsonl'];
    const answer = await cli.hansard('import', ...paths, '--task', 'lab/mixed');
    expect(answer).toMatchObject({
      code: 1,
      err: expect.stringContaining('\nhansard: 1 file or folder was not imported.\n'),
    });
  });

  it('adds nothing the second time', async () => {
    using cli = commandLine();
    fill(cli);
    await cli.hansard('import', 'logs', '--task', 'lab/mixed');
    const again = await cli.hansard('import', 'logs', '--task', 'lab/mixed', '--json');
    const added = (again.json() as Document[])
      .filter(({ error }) => error === undefined)
      .map((one) => one.added);
    expect(added).toEqual([0, 0, 0, 0]);
  });

  it('imports the transcripts without a task, and names the others, which need one', async () => {
    using cli = commandLine();
    put(cli, 'logs/a.jsonl', lines(prompt(1)));
    const session = put(cli, 'logs/b.jsonl', lines(entry));
    const game = put(cli, 'logs/c.jsonl', lines(start, said));
    const { code, out, err } = await cli.hansard('import', 'logs');
    expect([code, out.trimEnd().split('\n')]).toEqual([1, [expect.stringContaining('claude-transcript')]]);
    for (const file of [session, game]) expect(err).toContain(file);
    expect(err).toContain('--task PROJECT/SLUG');
  });

  it.skipIf(process.getuid?.() === 0)(
    'continues after an unreadable folder (skipped for root, who can read all)',
    async () => {
      using cli = commandLine();
      put(cli, 'logs/a.jsonl', lines(prompt(1)));
      const secret = dirname(put(cli, 'logs/secret/b.jsonl', lines(prompt(2))));
      chmodSync(secret, 0);
      const { code, out, err } = await cli.hansard('import', 'logs');
      chmodSync(secret, 0o700);
      expect([code, out]).toEqual([1, expect.stringContaining('1 new')]);
      expect(err).toContain(`${secret} can't be read`);
    },
  );

  it('has the sub-agents of sub-agents with their session', async () => {
    using cli = commandLine();
    put(cli, 'logs/session-1.jsonl', lines(prompt(1)));
    put(cli, 'logs/session-1/subagents/agent-x.jsonl', lines(prompt(2, { isSidechain: true, agentId: 'x' })));
    put(
      cli,
      'logs/session-1/subagents/agent-x/subagents/agent-y.jsonl',
      lines(prompt(3, { isSidechain: true, agentId: 'y' })),
    );
    const [imported] = (await cli.hansard('import', 'logs', '--json')).json() as Document[];
    expect(imported?.files).toHaveLength(3);
  });

  it('takes only the sub-agents of a session that is named', async () => {
    using cli = commandLine();
    const path = put(cli, 'session-1.jsonl', lines(prompt(1)));
    put(cli, 'agent-y.jsonl', lines(prompt(2, { isSidechain: true, agentId: 'y', sessionId: 'session-9' })));
    put(cli, 'agent-x.jsonl', lines(prompt(3, { isSidechain: true, agentId: 'x' })));
    const { out } = await cli.hansard('import', path, '--json');
    const documents = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Document);
    expect(documents.map(({ files }) => files)).toEqual([[path, join(cli.cwd, 'agent-x.jsonl')]]);
  });
});

describe('importing games without --as', () => {
  it('finds out that they are games, and which files are one log', async () => {
    using cli = commandLine();
    put(cli, 'one/game_events.jsonl', lines(start));
    put(cli, 'one/chat.jsonl', lines(said));
    put(cli, 'one/agent_reasoning.jsonl', lines({ ...turn, agent: 'Ann', thinking_process: 'Hm.' }));
    put(cli, 'two/whole.jsonl', lines({ ...start, payload: { players: ['Cy'] } }, said));
    put(cli, 'two/other.jsonl', lines({ ...start, payload: { players: ['Di'] } }, said, start, said));
    const { code, out } = await cli.hansard('import', '.', '--task', 'lab/games');
    expect(code).toBe(0);
    expect(out.match(/game \d of \d, records: \d/g)).toEqual([
      'game 1 of 1, records: 3',
      'game 1 of 2, records: 2',
      'game 2 of 2, records: 2',
      'game 1 of 1, records: 2',
    ]);
  });

  it('says with its exit code that they need a task, whether in one file or in two', async () => {
    using cli = commandLine();
    put(cli, 'game_events.jsonl', lines(start));
    put(cli, 'chat.jsonl', lines(said));
    for (const paths of [['chat.jsonl'], ['game_events.jsonl', 'chat.jsonl'], ['.']]) {
      const { code, err } = await cli.hansard('import', ...paths);
      expect([code, err]).toEqual([2, expect.stringContaining('--task PROJECT/SLUG')]);
    }
  });

  it('imports nothing of a game log whose other file is missing', async () => {
    using cli = commandLine();
    put(cli, 'chat.jsonl', lines(said));
    const files = ['chat.jsonl', 'game_events.jsonl'];
    const { code, err } = await cli.hansard('import', ...files, '--as', 'game-log', '--task', 'lab/games');
    expect([code, err]).toEqual([1, expect.stringContaining("game_events.jsonl can't be read")]);
    expect((await cli.hansard('ls', '--json')).out).toBe('');
  });
});

describe('--as of another format than the records show', () => {
  it.each([
    ['claude-transcript', 'claude-stream', lines(message(1), message(2))],
    ['claude-stream', 'claude-transcript', lines(prompt(1), prompt(2))],
  ])('%s of a %s is refused with the right one', async (as, right, text) => {
    using cli = commandLine();
    const path = put(cli, 'log.jsonl', text);
    const { code, err } = await cli.hansard('import', path, '--as', as);
    expect(code).toBe(2);
    expect(err).toContain(`${path} looks like a`);
    expect(err).toContain(`Use --as ${right}`);
    expect((await cli.hansard('ls', '--json')).out).toBe('');
    expect((await cli.hansard('import', path, '--as', right)).code).toBe(0);
  });

  it.each(['claude-transcript', 'claude-stream'])('%s of a file that has both is accepted', async (as) => {
    using cli = commandLine();
    const mixed = put(cli, 'log.jsonl', lines(prompt(1), message(2), prompt(3), message(4)));
    expect((await cli.hansard('import', mixed, '--as', as)).code).toBe(0);
  });

  it('is refused where a long first record shows another format, because the first line is looked at as a whole', async () => {
    using cli = commandLine();
    const long = put(
      cli,
      'log.jsonl',
      lines({ ...message(1), message: { role: 'user', content: 'x'.repeat(1_100_000) } }),
    );
    expect((await cli.hansard('import', long, '--as', 'claude-transcript')).code).toBe(2);
  });

  it('names each refused file of a folder, and imports the others', async () => {
    using cli = commandLine();
    put(cli, 'logs/a.jsonl', lines(prompt(1)));
    const stream = put(cli, 'logs/b.jsonl', lines(message(2)));
    const { code, out, err } = await cli.hansard('import', 'logs', '--as', 'claude-transcript');
    expect([code, out.split('\n').length - 1]).toEqual([1, 1]);
    expect(err).toContain(`${stream} looks like a recorded stream of the Agent SDK`);
    expect(err).toContain('--as claude-stream');
  });
});
