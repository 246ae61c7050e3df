import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type CommandLine, commandLine, demoStream } from './command-line.ts';
import { forbiddenIn, type HostileLog, hostileTexts, recordHostileLog } from './hostile-texts.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 31));
const seeded = `(HANSARD_SEED=${seed})`;
const task = 'lab/hostile';

let cli: CommandLine;
let log: HostileLog;

beforeAll(async () => {
  cli = commandLine();
  log = await recordHostileLog(cli.cwd, 'lab/tasks/hostile', seed);
  writeFileSync(
    join(cli.cwd, 'game.yaml'),
    'turn: { events: ["custom:thing"] }\ngameEvents: { events: ["custom:*"] }\nchat: { tools: { speak: message } }\n',
  );
});

afterAll(() => cli[Symbol.dispose]());

const reading: readonly (readonly string[])[] = [
  ['ls'],
  ['ls', task],
  ['tree', task],
  ['show', task],
  ['show', `${task}/latest`, '--raw'],
  ['show', `${task}/latest`, '--raw', '-n', '5'],
  ['show', task, '--raw'],
  ['show', task, '--speed', 'max'],
  ['show', task, '--raw'],
  ['dialog', task],
  ['perspective', task, '--agent', 'agent_001'],
  ['heard', task],
  ['why', task, 'SAID'],
  ['why', task, 'SAID', '--effects'],
  ['heard', task, 'SAID', '--diff'],
  ['tree', task],
  ['show', task, '--type', 'harness:hook_decision'],
  ['context', `${task}/latest`],
  ['context', task, '--history'],
  ['judge', 'report', task],
  ['store', 'verify'],
  ['store', 'verify', task],
  ['secrets', 'scan'],
  ['secrets', 'scan', task],
  ['plugins'],
];

/** What paints the output of the command. */
const colours = new RegExp(`${String.fromCharCode(27)}\\[(?:1|2|22|3[1-6]|39)m`, 'g');

const named = (args: readonly string[]) => args.map((word) => (word === 'SAID' ? log.said : word));

function expectHarmless({ code, out, err }: Answer, expectedCodes: readonly number[] = [0]): void {
  expect(forbiddenIn(out)).toEqual([]);
  expect(forbiddenIn(err)).toEqual([]);
  expect(err).not.toMatch(/unexpected:/);
  expect([code, err]).toEqual([expect.toBeOneOf([...expectedCodes]), err]);
}

describe(`a log with hostile text in every place ${seeded}`, () => {
  it.each(reading.map((args) => [args.join(' '), args] as const))(
    'is harmless as text: %s',
    async (_, args) => {
      expectHarmless(await cli.hansard(...named(args)));
    },
  );

  it.each(reading.map((args) => [args.join(' '), args] as const))(
    'is harmless on a terminal: %s',
    async (_, args) => {
      const { signal } = new AbortController();
      const plain = await cli.start(named(args), { signal, columns: 70, env: { NO_COLOR: '1' } });
      expectHarmless(plain);
      // Colours are all that a terminal with colours gets in addition. `plugins` prints how long it took.
      if (args[0] === 'plugins') return;
      const painted = await cli.start(named(args), { signal, columns: 70 });
      expect(painted.out.replaceAll(colours, '')).toBe(plain.out);
      expectHarmless({ ...painted, out: plain.out });
    },
  );

  it.each(reading.map((args) => [args.join(' '), args] as const))(
    'is harmless as JSON, which still says the same: %s',
    async (_, args) => {
      const answer = await cli.hansard(...named(args), '--json');
      expectHarmless(answer);
      expect(answer.json().length).toBeGreaterThan(0);
    },
  );

  it('keeps the recorded value: a parser reads the escapes as the same text', async () => {
    const { out, json } = await cli.hansard('show', `${task}/latest`, '--raw', '--json');
    expect(out).toMatch(/\\u009b/);
    await using store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
    const stored: unknown[] = [];
    for await (const { event } of (await store.openDispatch('lab/tasks/hostile', log.dispatchId)).events())
      stored.push(event);
    expect(json()).toEqual(stored);
  });

  it.each(['html', 'markdown', 'otlp', 'session-v1', 'session-v2'])(
    'is harmless as an export on standard output: %s',
    async (format) => {
      const all = format === 'otlp' ? ['--content', 'spans', '--reasoning'] : [];
      const answer = await cli.hansard('export', task, '--as', format, ...all);
      expectHarmless(answer);
      expect(answer.out.length).toBeGreaterThan(5_000);
    },
  );

  it.each([
    ['sft'],
    ['trl', '--mapping', 'game.yaml'],
    ['trl-chat'],
    ['openai'],
    ['streams', '--mapping', 'game.yaml'],
  ])('is harmless in the answer of an export into a folder: %s', async (...format) => {
    const out = `out-${format[0]}`;
    expectHarmless(await cli.hansard('export', task, '--as', ...format, '--out', out));
    expectHarmless(await cli.hansard('export', task, '--as', ...format, '--out', `${out}-json`, '--json'));
    // Each written line is one JSON value: nothing recorded begins a line of its own.
    for (const name of readdirSync(join(cli.cwd, out)).filter((file) => file.endsWith('.jsonl')))
      for (const line of readFileSync(join(cli.cwd, out, name), 'utf8')
        .split('\n')
        .filter(Boolean))
        expect(JSON.parse(line)).toBeTypeOf('object');
  });

  it.each(['the arguments', 'the name of a file'])('is harmless in errors that quote %s', async (place) => {
    const text = hostileTexts(seed);
    for (let round = 0; round < 40; round += 1) {
      const word = text().replaceAll(/[\0/\ud800-\udfff]/g, '');
      const words: readonly (readonly string[])[] =
        place === 'the arguments'
          ? [
              [word],
              ['ls', word],
              ['ls', `a/${word}`],
              ['show', `${task}/${word}`],
              ['show', `${task}/latest`, '--raw', '--type', word],
              ['show', `${task}/latest`, '--raw', '-n', word],
              ['perspective', task, '--agent', word],
              ['why', task, word],
              ['show', task, '--raw', '--bot', word],
              ['ls', `--${word}`],
              ['run', 'go', '--agent', word, '--task', 'a/b'],
              ['export', task, '--as', word],
              ['export', task, '--as', 'otlp', '--endpoint', word],
              ['store', 'verify', `${task}/${word}`],
              ['store', 'unlock', `${task}/${word}`],
              ['import', '--as', word, 'x'],
            ]
          : [
              ['import', word],
              ['run', word, '--task', 'a/b'],
              ['ls', '--config', word],
              ['export', task, '--as', 'html', '--out', `${word}/x`],
              ['export', task, '--as', 'streams', '--out', 'x', '--mapping', word],
              ['export', task, '--as', 'openai', '--out', 'x', '--tools', word],
            ];
      for (const args of words) {
        const { code, out, err } = await cli.hansard(...args);
        expect(forbiddenIn(out + err)).toEqual([]);
        expect([args, code, err]).toEqual([
          args,
          expect.toBeOneOf([0, 1, 2, 3]),
          expect.not.stringMatching(/unexpected:/),
        ]);
      }
    }
  });
});

describe(`a stream with hostile text in every place ${seeded}`, () => {
  it('is harmless while it is recorded, with the console', async () => {
    using line = commandLine();
    const text = hostileTexts(seed);
    const hostile = (value: unknown, key = ''): unknown => {
      if (typeof value === 'string')
        return /^(type|subtype|role|uuid|.*id|timestamp)$/i.test(key) ? value : text();
      if (Array.isArray(value)) return value.map((item) => hostile(item));
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, hostile(item, name)]));
    };
    const records = readFileSync(demoStream('subagent'), 'utf8').trim().split('\n');
    const stream = records.map((record) => JSON.stringify(hostile(JSON.parse(record)))).join('\n');
    writeFileSync(join(line.cwd, 'stream.jsonl'), stream);
    const args = [
      'run',
      'stream.jsonl',
      '--task',
      'lab/live',
      '--role',
      'x\u009b2J\u202e',
      '--fidelity',
      'full',
    ];
    const { out, err } = await line.process(...args);
    expect(forbiddenIn(out + err)).toEqual([]);
    expect(out.split('\n').length).toBeGreaterThan(10);
  });
});

describe('what an export writes', () => {
  it('can be read by its owner alone, as the log can', async () => {
    expectHarmless(await cli.hansard('export', task, '--as', 'html', '--out', 'private.html'));
    expectHarmless(await cli.hansard('export', task, '--as', 'sft', '--out', 'private'));
    const modes = ['private.html', 'private', 'private/manifest.json'].map(
      (name) => statSync(join(cli.cwd, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o700, 0o600]);
  });
});
