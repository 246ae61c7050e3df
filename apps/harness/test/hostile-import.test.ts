import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';
import { forbiddenIn, hostileTexts } from './hostile-texts.ts';
import { lines, put, uuid } from './import-files.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 31));
const seeded = `(HANSARD_SEED=${seed})`;

const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8');
const transcript = (content: unknown, number: number, fields: object = {}) => ({
  type: 'user',
  parentUuid: null,
  isSidechain: false,
  version: '2.1.0',
  cwd: '/home/ann/house',
  sessionId: 'session-1',
  message: { role: 'user', content },
  uuid: uuid(number),
  timestamp: `2026-03-01T09:30:0${number % 10}.000Z`,
  ...fields,
});
const games = lines(
  { timestamp: '2026-03-01T10:01:00.000Z', event_type: 'GAME_START', payload: { players: ['Ann', 'Bo'] } },
  {
    timestamp: '2026-03-01T10:02:00.000Z',
    event_type: 'CHAT',
    payload: { speaker: 'Ann', message: 'Hello.' },
  },
  { timestamp: '2026-03-01T10:03:00.000Z', event_type: 'GAME_END', payload: { winning_faction: 'Town' } },
);

/** A log of each format. */
const logs: Readonly<Record<string, string>> = {
  'claude-stream': readFileSync(demoStream('tools-and-thinking'), 'utf8'),
  'claude-stream with sub-agents': readFileSync(demoStream('subagent'), 'utf8'),
  'claude-transcript': lines(...[1, 2, 3, 4].map((number) => transcript('one', number))),
  'session-v1': fixture('weather-v1.jsonl'),
  'session-v2': fixture('traders-v2.jsonl'),
  'game-log': games,
};

const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`;

/** JSON texts that a hostile log puts in place of a value. */
const hostileJson = [
  nested(900),
  nested(5_000),
  nested(100_000),
  '1e400',
  '-1e400',
  '-0',
  '1e-400',
  '12345678901234567890123456789',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '{"toJSON":1,"then":1,"length":-1}',
  `"${'='.repeat(200_000)}x"`,
  `"mcp__${'a__'.repeat(60_000)}\\n"`,
  `"${'</tool_use_error> '.repeat(10_000)}"`,
  `"${'../'.repeat(2_000)}etc/passwd"`,
  '"..\\u0000/x"',
  '"con"',
  '"\\ud800"',
  'null',
  'true',
  '[]',
  '{}',
  '""',
];

/** A copy of a log in which one value in about eight is hostile. */
function hostileCopy(log: string, random: () => number, text: () => string): string {
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  const written = (value: unknown): string => {
    if (random() < 0.04) return pick(hostileJson);
    if (typeof value === 'string' && random() < 0.3) return JSON.stringify(text());
    if (Array.isArray(value)) return `[${value.map(written).join(',')}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const fields = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${written(item)}`);
    if (random() < 0.1)
      fields.push(`${JSON.stringify(pick(['__proto__', 'constructor', text()]))}:${pick(hostileJson)}`);
    return `{${fields.join(',')}}`;
  };
  const recordOf = (line: string) => {
    const parsed = JSON.parse(line);
    return random() < 0.5
      ? line
      : `{${Object.entries(parsed)
          .map(([key, item]) => `${JSON.stringify(key)}:${written(item)}`)
          .join(',')}}`;
  };
  return log.split('\n').filter(Boolean).map(recordOf).join('\n');
}

async function expectHarmless(cli: CommandLine, ...args: string[]): Promise<string> {
  const { code, out, err } = await cli.hansard(...args);
  expect(forbiddenIn(out + err)).toEqual([]);
  expect([args, code, err]).toEqual([
    args,
    expect.toBeOneOf([0, 1, 2]),
    expect.not.stringMatching(/unexpected:/),
  ]);
  return out;
}

describe(`a hostile log that is imported ${seeded}`, () => {
  it.each(Object.entries(logs))('is harmless, and can be read in every way: %s', async (name, log) => {
    using cli = commandLine();
    const [format = ''] = name.split(' ');
    const random = randomFrom(seed);
    const text = hostileTexts(seed);
    for (let round = 0; round < 6; round += 1) {
      const file = put(cli, `log-${round}.jsonl`, hostileCopy(log, random, text));
      const task = `lab/log-${round}`;
      await expectHarmless(
        cli,
        'import',
        file,
        '--as',
        format,
        '--task',
        task,
        '--fidelity',
        round % 2 ? 'full' : 'narrative',
      );
      if ((await cli.hansard('ls', task)).code !== 0) continue;
      for (const args of [['show'], ['show', '--raw'], ['dialog'], ['tree'], ['heard']])
        await expectHarmless(cli, ...args, task);
      for (const args of [
        ['show', `${task}/latest`, '--raw'],
        ['show', task],
        ['store', 'verify', task],
      ])
        await expectHarmless(cli, ...args, '--json');
      for (const as of ['html', 'markdown', 'otlp', 'session-v2', 'session-v1'])
        await expectHarmless(cli, 'export', task, '--as', as);
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('a hostile folder that is imported', () => {
  it('blocks nothing, leads nowhere, and its good log is imported', async () => {
    using cli = commandLine();
    const good = lines(transcript('one', 1));
    put(cli, 'logs/session-1.jsonl', good);
    put(
      cli,
      'logs/session-1/subagents/agent-a.jsonl',
      lines(transcript('two', 2, { isSidechain: true, agentId: 'a' })),
    );
    put(cli, 'logs/session-2.jsonl', lines(transcript('one', 4, { sessionId: 'session-2' })));
    mkdirSync(join(cli.cwd, 'logs/session-2/subagents'), { recursive: true });
    const folder = join(cli.cwd, 'logs');
    execFileSync('mkfifo', [
      join(folder, 'pipe.jsonl'),
      join(folder, 'session-1/subagents/agent-a.meta.json'),
      join(folder, 'session-2/subagents/agent-b.jsonl'),
    ]);
    symlinkSync('/dev/zero', join(folder, 'endless.jsonl'));
    symlinkSync('/dev/zero', join(folder, 'session-1/subagents/agent-c.meta.json'));
    put(
      cli,
      'logs/session-1/subagents/agent-c.jsonl',
      lines(transcript('x', 3, { isSidechain: true, agentId: 'c' })),
    );
    symlinkSync('circle.jsonl', join(folder, 'circle.jsonl'));
    symlinkSync('..', join(folder, 'up'));
    mkdirSync(join(folder, 'a-folder.jsonl'));
    writeFileSync(join(folder, 'name \u009b2J\u202e\u001b[2J.jsonl'), '\0\0\u009b');
    const answer = await cli.process('import', 'logs', '--json');
    expect(forbiddenIn(answer.out + answer.err)).toEqual([]);
    expect(answer.err).not.toMatch(/unexpected:/);
    expect(answer.code).toBe(1);
    const rows = answer.json() as { file: string; events?: number; error?: string }[];
    const named = new Map(
      rows.map(({ file, events, error }) => [basename(file), events ?? error?.split(':')[0]]),
    );
    expect(named).toEqual(
      new Map<string, string | number>([
        ['circle.jsonl', 'FORMAT_UNREADABLE'],
        ['endless.jsonl', 'IMPORT_LINK_OUTSIDE'],
        ['name \u009b2J\u202e\u001b[2J.jsonl', 'IMPORT_FORMAT_UNKNOWN'],
        ['pipe.jsonl', 'FORMAT_UNREADABLE'],
        ['session-1.jsonl', 5],
        ['session-2.jsonl', 'FORMAT_UNREADABLE'],
        ['up', 'IMPORT_LINK_OUTSIDE'],
      ]),
    );
  });
});

it.each(['session-v1', 'session-v2', 'game-log'])(
  'a log that is larger than any text can be is refused with its size: %s',
  async (format) => {
    using cli = commandLine();
    const path = put(cli, 'large.jsonl', logs[format] ?? games);
    truncateSync(path, 600_000_000);
    const { code, out, err } = await cli.hansard('import', path, '--as', format, '--task', 'a/b');
    expect([code, out + err]).toEqual([1, expect.stringMatching(/FORMAT_UNREADABLE: .*600000000 bytes/)]);
  },
);
