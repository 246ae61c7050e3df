import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';
import { forbiddenIn, hostileTexts } from './hostile-texts.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 31));
const seeded = `(HANSARD_SEED=${seed})`;
const task = 'lab/victim';

const commands: readonly (readonly string[])[] = [
  ['ls'],
  ['ls', task],
  ['tree', task],
  ['show', task],
  ['show', `${task}/BAD`],
  ['show', `${task}/BAD`, '--damaged'],
  ['show', `${task}/BAD`, '--raw'],
  ['show', `${task}/BAD`, '--raw', '--damaged'],
  ['show', task, '--raw'],
  ['show', `${task}/BAD`, '--raw'],
  ['dialog', `${task}/BAD`],
  ['heard', `${task}/BAD`],
  ['tree', `${task}/BAD`],
  ['show', `${task}/BAD`, '--type', 'harness:hook_decision'],
  ['context', `${task}/BAD`],
  ['store', 'verify'],
  ['store', 'unlock', `${task}/BAD`, '--yes'],
  ['export', task, '--as', 'html'],
  ['export', `${task}/BAD`, '--as', 'markdown'],
  ['export', `${task}/BAD`, '--as', 'otlp', '--content', 'spans'],
  ['export', `${task}/BAD`, '--as', 'session-v2'],
];

async function expectHarmless(cli: CommandLine, bad: string, what: string): Promise<void> {
  for (const words of commands) {
    const args = words.map((word) => (word === 'BAD' ? bad : word));
    for (const json of [[], ['--json']]) {
      const { code, out, err } = await cli.hansard(...args, ...json);
      expect(forbiddenIn(out + err)).toEqual([]);
      expect([what, args, code, err]).toEqual([
        what,
        args,
        expect.toBeOneOf([0, 1, 2, 3]),
        expect.not.stringMatching(/unexpected:/),
      ]);
    }
  }
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
}

async function recorded(): Promise<{ cli: CommandLine; good: string; bad: string; file: string }> {
  const cli = commandLine();
  for (const stream of ['tools-and-thinking', 'subagent'])
    await cli.hansard('run', demoStream(stream), '--task', task, '--quiet', '--fidelity', 'full');
  const [good, bad] = (await cli.hansard('ls', task, '--json')).json() as { dispatchId: string }[];
  const [file = ''] = globSync(`.projects/**/${bad?.dispatchId}.json`, { cwd: cli.cwd });
  return { cli, good: good?.dispatchId ?? '', bad: bad?.dispatchId ?? '', file: join(cli.cwd, file) };
}

const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`;

/** Changes of an event line. `data` adds to its data, `fields` to the event. A parser takes the last of equal keys. */
const data = (more: string) => (line: string) => line.replace('"data":{', `"data":{${more},`);
const fields = (more: string) => (line: string) => line.replace(/\}(,?\s*)$/, `,${more}}$1`);
const output = (parts: string) => fields(`"type":"agent:output","data":{"parts":[${parts}]}`);

/** Hostile changes that keep the shape of an event. */
const changes = (text: () => string): readonly ((line: string) => string)[] => [
  data(`"x":${nested(900)}`),
  data(`"x":${nested(5_000)}`),
  data(`"x":${nested(100_000)}`),
  data('"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}'),
  data('"n":1e400'),
  data(`${JSON.stringify(text())}:${JSON.stringify(text())}`),
  fields('"__proto__":{"polluted":true}'),
  output('{"kind":"value","root":0,"nodes":[{"type":"Map","entries":[[0,0]]}]}'),
  output('{"kind":"image","mediaType":"image/png","base64":"===x"},{"kind":"repr","repr":"x"}'),
  output(`{"kind":"image","mediaType":"image/png","base64":"${'='.repeat(100_000)}x"}`),
  fields('"type":"constructor:x"'),
  fields('"type":"__proto__"'),
  fields('"type":"agent:created","agentId":"constructor","data":{"name":"__proto__"}'),
  fields('"type":"agent:text","agentId":"__proto__","data":{"text":"x"}'),
  fields('"id":"SELF","substance":"SELF"'),
  fields('"id":"SELF","cause":["SELF","SELF"]'),
  fields('"id":"__proto__","messageId":"constructor"'),
  fields('"timestamp":"9999-99-99T99:99:99.999Z"'),
  fields('"timestamp":"0000-01-01T00:00:00.000Z"'),
  fields(`"data":{"text":${JSON.stringify(text())}},"type":"agent:text"`),
  fields(`"id":${JSON.stringify(text())}`),
];

/** Fields of a hostile envelope, as JSON. */
const envelopes = (text: () => string, bad: string): readonly string[] => [
  `"parentDispatchId":"${bad}"`,
  `"role":${JSON.stringify(text())},"model":${JSON.stringify(text())}`,
  '"role":""',
  '"cost":1e308,"usage":{"inputTokens":1e15,"outputTokens":1e15}',
  '"cost":-1',
  '"cost":1e400',
  '"models":[{"model":"__proto__","calls":1,"inputTokens":1,"outputTokens":1}]',
  `"structuredResult":${nested(900)}`,
  `"structuredResult":${nested(100_000)}`,
  '"structuredResult":{"__proto__":{"polluted":true}}',
  '"__proto__":{"polluted":true}',
  '"startedAt":"9999-12-31T23:59:59.999Z","completedAt":"0000-01-01T00:00:00.000Z"',
  '"status":"<script>"',
  '"dispatchId":"../../x"',
  '"schemaVersion":999',
  '"eventBytes":-1',
  '"eventBytes":1e15',
];

describe(`a hostile file in the folder of a store ${seeded}`, () => {
  it('is harmless with any event, and the other dispatch is read as before', {
    timeout: 120_000,
  }, async () => {
    const { cli, good, bad, file } = await recorded();
    using _ = cli;
    const random = randomFrom(seed);
    const before = await cli.hansard('show', `${task}/${good}`, '--raw', '--json');
    const original = readFileSync(file, 'utf8').split('\n');
    for (const [number, change] of changes(hostileTexts(seed)).entries()) {
      const lines = [...original];
      const at = 2 + Math.floor(random() * (lines.length - 5));
      lines[at] = change(lines[at] ?? '');
      writeFileSync(file, lines.join('\n'));
      await expectHarmless(cli, bad, `change ${number} of line ${at}`);
      expect(await cli.hansard('show', `${task}/${good}`, '--raw', '--json')).toMatchObject({
        code: 0,
        out: before.out,
      });
    }
  });

  it('is harmless with any envelope', async () => {
    const { cli, good, bad, file } = await recorded();
    using _ = cli;
    const before = await cli.hansard('show', `${task}/${good}`, '--raw', '--json');
    const [head = '', ...rest] = readFileSync(file, 'utf8').split('\n');
    for (const more of envelopes(hostileTexts(seed), bad)) {
      const changed = head.replace(/"eventBytes":\d+/, (size) => `${size},${more}`).trimEnd();
      writeFileSync(file, [changed.padEnd(head.length), ...rest].join('\n'));
      await expectHarmless(cli, bad, more.slice(0, 80));
      expect(await cli.hansard('show', `${task}/${good}`, '--raw', '--json')).toMatchObject({
        code: 0,
        out: before.out,
      });
    }
  });

  it('is harmless with any bytes', async () => {
    const { cli, good, bad, file } = await recorded();
    using _ = cli;
    const random = randomFrom(seed);
    const original = readFileSync(file);
    const contents = [
      Buffer.alloc(0),
      Buffer.from('\u009b2J\u202e'),
      Buffer.alloc(300_000, '['),
      Buffer.alloc(300_000, '\0'),
      Buffer.from(`{"dispatchId":"${bad}","eventBytes":5,"events":[\n`),
      ...Array.from({ length: 6 }, () => {
        const bytes = Buffer.from(original);
        for (let hit = 0; hit < 30; hit += 1)
          bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
        return bytes;
      }),
    ];
    for (const [at, content] of contents.entries()) {
      writeFileSync(file, content);
      await expectHarmless(cli, bad, `content ${at}`);
      expect((await cli.hansard('show', `${task}/${good}`, '--raw', '--json')).code).toBe(0);
    }
  });

  it('is harmless by its name, and by that of its task', async () => {
    const { cli, bad, file } = await recorded();
    using _ = cli;
    const text = hostileTexts(seed);
    const root = join(cli.cwd, '.projects');
    for (let round = 0; round < 20; round += 1) {
      const name = text().replaceAll(/[\0/\ud800-\udfff]/g, '-');
      mkdirSync(join(root, name, 'tasks', name, 'dispatches'), { recursive: true });
      writeFileSync(join(root, name, 'tasks', name, 'task.json'), '{"slug":');
      writeFileSync(join(root, name, 'tasks', name, 'dispatches', `${name}.json`), readFileSync(file));
      writeFileSync(join(root, name, 'tasks', name, 'dispatches', `ok.json`), '{');
      writeFileSync(
        join(root, 'lab/tasks/victim/dispatches', `${name}.lock`),
        JSON.stringify({ host: name }),
      );
    }
    writeFileSync(
      join(root, 'lab/tasks/victim/dispatches', `${bad}.lock`),
      JSON.stringify({ version: 1, token: text(), owner: { host: text(), pid: text() } }),
    );
    await expectHarmless(cli, bad, 'names');
  });
});

describe('a hostile name of a task or dispatch', () => {
  it.each([
    ['a/../../../etc/passwd'],
    ['a/tasks/..'],
    ['../a'],
    ['/etc/passwd'],
    ['a\\..\\..\\b/c'],
    ['a/b\0c'],
    ['a/\u0085b'],
    ['a/\u2028b'],
    ['a/con'],
    ['a/COM¹'],
    ['a/conin$'],
    ['a/aux .txt'],
    ['C:/b'],
    ['a/b:stream'],
    [`a/${'x'.repeat(256)}`],
    [`a/${'x/'.repeat(3_000)}x`],
    ['a/.git'],
    ['a/ '],
    ['a/\ud800'],
  ])('is refused, and nothing is created: %#', async (name) => {
    using cli = commandLine();
    for (const args of [
      ['run', demoStream('hook-deny'), '--task', name, '--quiet'],
      ['import', demoStream('hook-deny'), '--task', name],
      ['show', name],
      ['export', name, '--as', 'html', '--out', 'x.html'],
    ]) {
      const { code, err } = await cli.hansard(...args);
      expect([args[0], code, err]).toEqual([
        args[0],
        expect.toBeOneOf([1, 2]),
        expect.not.stringMatching(/unexpected:/),
      ]);
    }
    expect(globSync('**/*', { cwd: cli.cwd }).filter((path) => /dispatches|x\.html/.test(path))).toEqual([]);
  });

  it('is a name of its own in each Unicode form, so that no log is taken for another', async () => {
    using cli = commandLine();
    await using store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
    for (const form of ['NFC', 'NFD']) {
      await using dispatch = await store.beginDispatch(`lab/tasks/${'José'.normalize(form)}`, { role: form });
      await dispatch.end({ status: 'completed' });
    }
    for (const form of ['NFC', 'NFD'])
      expect((await cli.hansard('ls', `lab/${'José'.normalize(form)}`, '--json')).json()).toMatchObject([
        { role: form },
      ]);
  });
});
