import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandFromSource, commandLine, demoStream } from './command-line.ts';

describe('hansard, given something wrong,', () => {
  it.each([
    ['no command that exists', ['recrod'], 2, /unknown command 'recrod'/],
    ['an option that does not exist', ['ls', '--jsno'], 2, /unknown option '--jsno'/],
    ['no task', ['run', 'x.jsonl'], 2, /--task/],
    ['a task that does not exist', ['show', 'no/such'], 1, /There is no session or task "no\/such"/],
    ['half a task name', ['ls', 'research'], 1, /There is no session or task "research"/],
    ['a task that leaves the root', ['ls', '../../etc/passwd'], 2, /STORE_INVALID_PATH/],
    [
      'a task that leaves the root, to write',
      ['run', demoStream('hook-deny'), '--task', '../x', '--quiet'],
      2,
      /STORE_INVALID_PATH/,
    ],
    [
      'an empty role',
      ['run', demoStream('hook-deny'), '--task', 'a/b', '--role', '', '--quiet'],
      2,
      /role is ""/,
    ],
    [
      'a stream that does not exist',
      ['run', 'nowhere.jsonl', '--task', 'a/b', '--quiet'],
      1,
      /nowhere\.jsonl/,
    ],
    ['a configuration that does not exist', ['ls', '--config', 'nowhere.json'], 2, /nowhere\.json/],
    [
      'an agent that is not loaded',
      ['run', 'go', '--agent', 'nobody', '--task', 'a/b'],
      2,
      /no agent "nobody"/,
    ],
  ])('says so and what to do: %s', async (_, args, code, message) => {
    using line = commandLine();
    const answer = await line.hansard(...args);
    expect(answer.err).toMatch(message);
    expect(answer.code).toBe(code);
    expect(answer.err).not.toMatch(/\n\s+at /);
  });

  it.each([
    ['show a/b --raw -n many', /whole number from 0 to 999999999, such as 20/],
    ['show a/b -n 1.5', /whole number from 0/],
    ['show a/b -f -n -1', /whole number from 0/],
    ['run x.jsonl --task a/b --delay long', /whole number from 0 .*such as 100/],
    ['run go --agent claude --task a/b --turns abc', /whole number from 1 .*such as 20/],
    ['run go --agent claude --task a/b --turns 0', /whole number from 1 /],
    ['run go --agent claude --task a/b --turns 9999999999', /to 999999999/],
    ['demo --delay 1s', /whole number from 0 .*such as 500/],
    ['show a/b --speed x', /factor above 0, such as 4 or 0\.5, or max/],
    ['show a/b --max-gap banana', /duration with its unit, such as 500ms, 2s, 1\.5m or 1h/],
    ['context a/b --policy banana', /full, last:MESSAGES.* Such as last:20/],
    ['context a/b --policy last:0', /Such as last:20/],
  ])('says which value is allowed, with an example: %s', async (words, message) => {
    using line = commandLine();
    const { code, out, err } = await line.hansard(...words.split(' '));
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
  });

  it.each([
    ['no JSON', '{ "store": ', /is not JSON/],
    ['an unknown key', '{ "stroe": "x" }', /stroe is "x": Unrecognized key/],
    ['a wrong value', '{ "limits": { "timeMs": "long" } }', /limits\.timeMs is "long"/],
    [
      'a store that is no plugin',
      '{ "store": { "plugn": "x" } }',
      /store is .*expected the name of a plugin/,
    ],
    ['a store that is not installed', '{ "store": "@nobody/store" }', /PLUGIN_NOT_FOUND/],
    ['a store that is none', '{ "store": "@hansard/comm-console" }', /is not a store/],
    [
      'wrong configuration of the store',
      '{ "store": { "plugin": "@hansard/store-jsonfile", "config": { "rot": "x" } } }',
      /PLUGIN_CONFIG_INVALID/,
    ],
    ['a mistyped key', '{ "sotre": "x" }', /Did you mean "store" instead of "sotre"\?/],
    [
      'a mistyped limit',
      '{ "limits": { "timeoutMs": 5 } }',
      /Did you mean "timeMs" instead of "timeoutMs"\?/,
    ],
    [
      'mistyped keys of plugins',
      '{ "store": { "plugn": "x" }, "plugins": [{ "plugin": "x", "confg": {} }] }',
      /Did you mean "plugin" instead of "plugn"\? Did you mean "config" instead of "confg"\?/,
    ],
    [
      'a mistyped key of the loop detector',
      '{ "loopDetector": { "windw": 5, "warnAt": 2, "killAt": 3 } }',
      /Did you mean "window" instead of "windw"\?/,
    ],
    [
      'limits of the loop detector that contradict each other',
      '{ "loopDetector": { "window": 5, "warnAt": 8, "killAt": 3 } }',
      /loopDetector is .*: warnAt must be at most killAt, and killAt at most window/,
    ],
    [
      'a value for the price table that is not a path',
      '{ "prices": true }',
      /prices is true: Write the path of a file, or false/,
    ],
    [
      'a time limit that no timer can keep',
      '{ "store": { "plugin": "@hansard/store-jsonfile", "createTimeoutMs": 0 } }',
      /createTimeoutMs is 0/,
    ],
    [
      'a mistyped key for the store',
      '{ "store": { "plugin": "@hansard/store-jsonfile", "config": { "rot": "x" } } }',
      /config\.rot is "x": must NOT have additional properties; did you mean "root"\?/,
    ],
  ])('a configuration with %s is wrong usage', async (_, text, message) => {
    using line = commandLine();
    writeFileSync(join(line.cwd, 'hansard.config.json'), text);
    const answer = await line.hansard('ls');
    expect(answer.err).toMatch(message);
    expect(answer.code).toBe(2);
  });

  it('a store that does not start within createTimeoutMs is named with that option', async () => {
    using line = commandLine();
    const create = 'create: () => new Promise(() => {})';
    const files = {
      'slow/plugin.json':
        '{"id":"slow","provides":"DispatchStoreProvider","entry":"./index.mjs","apiVersion":1}',
      'slow/index.mjs': `export default { id: 'slow', provides: 'DispatchStoreProvider', apiVersion: 1, ${create} };`,
      'hansard.config.json': '{ "store": { "plugin": "./slow", "createTimeoutMs": 1500 } }',
    };
    mkdirSync(join(line.cwd, 'slow'));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(line.cwd, file), text);
    const { code, err } = await line.hansard('ls');
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(
        'PLUGIN_CREATE_TIMEOUT: Plugin slow did not create its provider within 1500 ms (createTimeoutMs).',
      ),
    ]);
  });

  it('a configuration with a key that is near no other gets no guess', async () => {
    using line = commandLine();
    writeFileSync(join(line.cwd, 'hansard.config.json'), '{ "colour": "red" }');
    const answer = await line.hansard('ls');
    expect(answer.err).toMatch(/colour is "red": Unrecognized key.*\n {2}Correct that key\./);
    expect(answer.err).not.toContain('Did you mean');
  });

  it('a communication plugin with a broken manifest is reported, and everything else works', async () => {
    using line = commandLine();
    mkdirSync(join(line.cwd, 'broken'));
    writeFileSync(join(line.cwd, 'broken/plugin.json'), '{ "id": "broken" ');
    writeFileSync(
      join(line.cwd, 'hansard.config.json'),
      '{ "communication": ["@hansard/comm-console", "./broken"] }',
    );
    const answer = await line.process('run', demoStream('hook-deny'), '--task', 'a/b');
    expect(answer.err).toContain('./broken was not loaded');
    expect(answer.code).toBe(0);
    const report = await line.hansard('plugins');
    expect(report.out).toContain('PLUGIN_MANIFEST_UNREADABLE');
    expect(report.code).toBe(1);
  });

  it.each([
    ['an empty stream', '', /FORMAT_EMPTY/],
    ['a stream that is not JSONL', 'Dear diary,\ntoday was fine.\n', /FORMAT_NOT_JSONL/],
  ])('%s is a failure that is said', async (_, text, message) => {
    using line = commandLine();
    writeFileSync(join(line.cwd, 'stream.jsonl'), text);
    const answer = await line.hansard('run', 'stream.jsonl', '--task', 'a/b', '--quiet');
    expect(`${answer.err}${(await line.hansard('show', 'a/b/latest', '--raw')).out}`).toMatch(message);
    expect(answer.code).not.toBe(0);
  });

  it('a damaged line and an unknown message are kept with file and line, and the rest is recorded', async () => {
    using line = commandLine();
    const lines = readFileSync(demoStream('hook-deny'), 'utf8').trimEnd().split('\n');
    lines.splice(3, 0, '{"type":"assistant","mess', '{"type":"never_heard_of","subtype":"at_all","field":7}');
    writeFileSync(join(line.cwd, 'stream.jsonl'), lines.join('\n'));
    expect(await line.hansard('run', 'stream.jsonl', '--task', 'a/b', '--quiet')).toMatchObject({ code: 0 });
    const events = (await line.hansard('show', 'a/b/latest', '--raw', '--json')).json() as {
      type: string;
      data: Record<string, unknown>;
    }[];
    expect(events.find(({ type }) => type === 'system:notice')?.data).toMatchObject({
      line: 4,
      file: expect.stringContaining('stream.jsonl'),
    });
    expect(events.some(({ data }) => data.field === 7)).toBe(true);
    expect(events.at(-1)?.type).toBe('session:complete');
  });

  it.skipIf(!existsSync('/dev/full'))('an output that takes nothing is a failure, and said', () => {
    using line = commandLine();
    const { status, stderr } = spawnSync(process.execPath, [...commandFromSource, 'ls'], {
      cwd: line.cwd,
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      encoding: 'utf8',
      timeout: 15_000,
    });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/output can't be written: ENOSPC/)]);
  });

  it('a damaged database is damaged, and not a plugin that failed', async () => {
    using line = commandLine();
    writeFileSync(
      join(line.cwd, 'hansard.config.json'),
      '{ "store": { "plugin": "@hansard/store-sqlite", "config": { "root": "." } } }',
    );
    writeFileSync(join(line.cwd, 'hansard.sqlite'), 'Dear diary, today was fine.');
    const answer = await line.hansard('ls');
    expect([answer.code, answer.err]).toEqual([
      3,
      expect.stringMatching(/^hansard: STORE_CORRUPT: .*hansard\.sqlite/),
    ]);
  });

  it('a dispatch file cut at any byte gives the whole log or says STORE_CORRUPT with exit code 3', async () => {
    using line = commandLine();
    await line.hansard('run', demoStream('hook-deny'), '--task', 'a/b', '--quiet');
    const whole = (await line.hansard('show', 'a/b/latest', '--raw', '--json')).json();
    const folder = join(line.cwd, '.projects/a/tasks/b/dispatches');
    const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.json')) ?? '');
    const bytes = readFileSync(file);
    const seen = new Set<number>();
    const lastBytes = [4, 3, 2, 1].map((missing) => bytes.length - missing);
    const sizes = Array.from({ length: Math.floor(bytes.length / 97) }, (_, step) => 1 + step * 97);
    for (const size of [...sizes, ...lastBytes]) {
      writeFileSync(file, bytes);
      truncateSync(file, size);
      const answer = await line.hansard(
        'show',
        `a/b/${file.slice(folder.length + 1, -'.json'.length)}`,
        '--raw',
        '--json',
      );
      seen.add(answer.code);
      if (answer.code === 0) expect(answer.json()).toEqual(whole);
      else expect([answer.code, answer.err]).toEqual([3, expect.stringMatching(/STORE_CORRUPT.*dispatches/)]);
    }
    expect([...seen].sort()).toEqual([0, 3]);
  });
});
