import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';

describe('hansard', () => {
  let line: CommandLine;
  let parent = '';
  beforeAll(async () => {
    line = commandLine();
    const first = await line.hansard(
      'run',
      demoStream('subagent'),
      '--task',
      'research/route-models',
      '--role',
      'product-analyst',
      '--json',
    );
    parent = (first.json()[0] as { dispatchId: string }).dispatchId;
    const worker = [
      'run',
      demoStream('tools-and-thinking'),
      demoStream('hook-deny'),
      '--task',
      'research/route-models',
      '--role',
      'ts-dev',
    ];
    expect(await line.hansard(...worker, '--parent', parent.slice(-8), '--quiet')).toMatchObject({ code: 0 });
  });
  afterAll(() => line[Symbol.dispose]());

  it('run records each stream as a dispatch, in the order of their recordings, workers below their parent', async () => {
    const envelopes = (await line.hansard('ls', 'research/route-models', '--json')).json();
    expect(envelopes).toMatchObject([
      { role: 'product-analyst', status: 'completed', parentDispatchId: null, model: 'claude-sonnet-4-5' },
      { role: 'ts-dev', status: 'completed', parentDispatchId: parent },
      { role: 'ts-dev', status: 'completed', parentDispatchId: parent },
    ]);
    for (const envelope of envelopes) expect((envelope as { cost: number }).cost).toBeGreaterThan(0);
  });

  it('run prints every event live, unless it is quiet', async () => {
    using other = commandLine();
    const { out, code } = await other.process(
      'run',
      demoStream('hook-deny'),
      '--task',
      'a/b',
      '--role',
      'reviewer',
    );
    expect(code).toBe(0);
    expect(out).toContain('deleting is not allowed here');
    expect(out.split('\n').length).toBeGreaterThan(8);
  });

  it('ls lists the sessions, or the tasks, and says what to do where there are none', async () => {
    const { out } = await line.hansard('ls');
    expect(out).toMatch(/^title +cost +tokens +duration +role +id$/m);
    expect(out.match(/^↳ ts-dev +\$0\.\d+ .* \w{8}$/gm)).toHaveLength(2);
    expect(out).toMatch(/^All: project research, when .*, status completed$/m);
    expect((await line.hansard('ls', '--tasks')).out).toMatch(/ research\/route-models .*\$.* 3 +open$/m);
    using empty = commandLine();
    expect((await empty.hansard('ls')).out).toContain('hansard demo');
    expect(readdirSync(empty.cwd)).toEqual([]);
  });

  it('tree shows workers below who dispatched them, with cost of their own and of the whole', async () => {
    const { out } = await line.hansard('tree', 'research/route-models');
    expect(out).toMatch(/product-analyst[\s\S]*├─ ts-dev[\s\S]*└─ ts-dev/);
    const [tree] = (await line.hansard('tree', 'research/route-models', '--json')).json() as {
      readonly sessions: readonly { children: unknown[] }[];
    }[];
    expect(tree?.sessions[0]?.children).toHaveLength(2);
  });

  it('show prints one session, by the end of its id, or all sessions', async () => {
    const one = await line.hansard('show', parent.slice(-6));
    expect(one.out).toContain('a.txt has 6 bytes.');
    const all = await line.hansard('show', 'research/route-models');
    expect(all.out).toContain('a.txt has 6 bytes.');
    expect(all.out).toContain('deleting is not allowed here');
  });

  it('session views name the dispatched agent as they take it, and say what a narrative lacks', async () => {
    const seen = await line.hansard('perspective', parent, '--agent', 'dispatched agent');
    expect(seen).toMatchObject({ code: 0, out: expect.stringContaining('The tester reports 6 bytes.') });
    expect(seen.err).toContain('tool input and output are not in the log');
    const { err } = await line.hansard('perspective', 'research/route-models', '--agent', 'nobody');
    expect(err).toMatch(/The agents are: dispatched agent in .*, tester \(\S+\) in product-analyst /);
  });

  it('notes quote nothing that a terminal would obey', async () => {
    const { err } = await line.hansard('why', 'research/route-models', '\u001b[2J');
    expect(err).toContain('no event or message ␛[2J');
  });

  it('show --raw prints the role and session of each event if a task has several sessions', async () => {
    const { out } = await line.hansard('show', 'research/route-models', '--raw');
    expect(out).toMatch(new RegExp(`^ *0 .*product-analyst ${parent.slice(-6)} `, 'm'));
    expect(out.match(/^ *0 .*ts-dev \w{6} /gm)).toHaveLength(2);
  });

  it('events gives each event a line, by type and from the end', async () => {
    const worker = (await line.hansard('ls', '--json')).json()[1] as { readonly dispatchId: string };
    const calls = await line.hansard('show', worker.dispatchId, '--raw', '--type', 'agent:tool_*', '--json');
    expect(calls.json()).toMatchObject([
      { type: 'agent:tool_call' },
      { type: 'agent:tool_result', data: { status: 'error' } },
      { type: 'agent:tool_call' },
      { type: 'agent:tool_result', data: { status: 'completed' } },
    ]);
    const last = await line.hansard(
      'show',
      worker.dispatchId,
      '--raw',
      '--type',
      'agent:tool_*',
      '-n',
      '1',
      '--json',
    );
    expect(last.json()).toEqual(calls.json().slice(-1));
    const tail = await line.hansard('show', 'research/route-models/latest', '--raw', '-n', '2', '--json');
    expect(tail.json()).toEqual(
      (await line.hansard('show', 'research/route-models/latest', '--raw', '--json')).json().slice(-2),
    );
  });

  it('tail -f gives the last events, then those that come, until Ctrl-C', async () => {
    using other = commandLine();
    await other.hansard('run', demoStream('hook-deny'), '--task', 'a/b', '--quiet');
    const all = (await other.hansard('show', 'a/b/latest', '--raw', '--json')).json();
    const stop = new AbortController();
    let lines = 0;
    const following = other.start(['show', 'a/b', '-f', '--raw', '-n', '3', '--json'], {
      signal: stop.signal,
      onOutput: (text) => {
        lines += text.split('\n').length - 1;
        if (lines === 3) stop.abort();
      },
    });
    const { code, json } = await following;
    expect(code).toBe(0);
    expect(json()).toEqual(all.slice(-3));
  });

  it('run says why a dispatch was aborted', async () => {
    using other = commandLine();
    const stop = new AbortController();
    stop.abort('Ctrl-C');
    const run = ['run', demoStream('hook-deny'), '--task', 'a/b', '--quiet'];
    const { code, err } = await other.start(run, { signal: stop.signal });
    expect(err).toMatch(/agent \w+ was aborted: abort by signal Ctrl-C/);
    expect(code).toBe(1);
  });

  it('run says why an agent did not come to its end', async () => {
    using other = commandLine();
    const stream = fileURLToPath(
      new URL('../../../packages/claude/test/fixtures/claude-stream/api-error.jsonl', import.meta.url),
    );
    const { code, err } = await other.hansard('run', stream, '--task', 'a/b', '--quiet');
    expect(err).toMatch(/agent \w+ crashed: API Error: /);
    expect(code).toBe(1);
  });

  it('run below a parent that does not exist records nothing, and no task either', async () => {
    using other = commandLine();
    const run = ['run', demoStream('hook-deny'), '--task', 'a/b', '--parent', '4K7Q', '--quiet'];
    expect(await other.hansard(...run)).toMatchObject({ code: 1 });
    expect((await other.hansard('ls', '--json')).json()).toEqual([]);
  });

  it('run names the dispatch where no communication plugin shows it', async () => {
    using other = commandLine();
    writeFileSync(join(other.cwd, 'hansard.config.json'), '{ "communication": [] }');
    expect((await other.hansard('run', demoStream('hook-deny'), '--task', 'a/b')).out).toMatch(
      /^\w{26} completed\n$/,
    );
  });

  it('reading stops at Ctrl-C, also with a store that answers at once', async () => {
    const stop = new AbortController();
    const shown = await line.start(['show', 'research/route-models'], {
      signal: stop.signal,
      onOutput: () => stop.abort(),
    });
    expect(shown.code).toBe(1);
    expect(shown.out).toContain('ts-dev');
    expect(shown.out).not.toContain('deleting is not allowed here');
    const listed = await line.start(['show', 'research/route-models/latest', '--raw'], {
      signal: stop.signal,
    });
    expect(listed).toMatchObject({ code: 1, out: '', err: '' });
  });

  it('a recording continues after the reader of its output has gone', async () => {
    using other = commandLine();
    const run = ['run', demoStream('hook-deny'), '--task', 'a/b', '--delay', '5'];
    expect(await other.processUntilFirstOutput(...run)).toBe(0);
    expect((await other.hansard('ls', 'a/b', '--json')).json()).toMatchObject([{ status: 'completed' }]);
  });

  it('ends when everything is recorded, even if a plugin left a timer running', async () => {
    using other = commandLine();
    const folder = join(other.cwd, 'leaky');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'plugin.json'),
      '{ "id": "leaky", "provides": "CommunicationProvider", "entry": "./index.mjs", "apiVersion": 1 }',
    );
    writeFileSync(
      join(folder, 'index.mjs'),
      `export default {
        id: 'leaky',
        provides: 'CommunicationProvider',
        create: () => ({ contract: 1, eventRecorded() {}, start: () => void setInterval(() => {}, 1_000) }),
      };`,
    );
    writeFileSync(join(other.cwd, 'hansard.config.json'), '{ "communication": ["./leaky"] }');
    expect(await other.process('run', demoStream('hook-deny'), '--task', 'a/b')).toMatchObject({
      code: 0,
      err: '',
    });
  });

  it('keeps a dispatch in one readable file in which grep finds an event as a line', async () => {
    const folder = join(line.cwd, '.projects/research/tasks/route-models/dispatches');
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
    expect(files).toHaveLength(3);
    for (const file of files) {
      const text = readFileSync(join(folder, file), 'utf8');
      const { events, envelope } = JSON.parse(text);
      expect(envelope).toMatchObject({ dispatchId: file.slice(0, -'.json'.length), status: 'completed' });
      for (const event of events)
        expect(text.split('\n').filter((one) => one.includes(JSON.stringify(event)))).toHaveLength(1);
    }
  });

  it('plugins shows each plugin with its state', async () => {
    const { out, code } = await line.hansard('plugins');
    expect(code).toBe(0);
    expect(out).toMatch(/loaded +store-jsonfile/);
    expect(out).toMatch(/loaded +comm-console/);
  });

  it('looks the same on another store after one line of configuration', async () => {
    using sqlite = commandLine();
    writeFileSync(join(sqlite.cwd, 'hansard.config.json'), '{ "store": "@hansard/store-sqlite" }');
    using file = commandLine();
    const seen = [sqlite, file].map(async (where) => {
      const run = await where.process('run', demoStream('subagent'), '--task', 'a/b', '--role', 'analyst');
      const answers = [run];
      for (const args of [
        ['tree', 'a/b'],
        ['show', 'a/b'],
        ['show', 'a/b/latest', '--raw'],
        ['ls', 'a/b'],
        ['show', 'a/b', '--raw'],
      ]) {
        answers.push(await where.hansard(...args));
      }
      return answers.map(({ code, out, err }) => ({ code, out: withoutMinted(out), err }));
    });
    expect(await seen[0]).toEqual(await seen[1]);
    expect(existsSync(join(sqlite.cwd, '.projects/hansard.sqlite'))).toBe(true);
    expect(existsSync(join(file.cwd, '.projects/a/tasks/b/task.json'))).toBe(true);
  });
});

/** The output without what differs from run to run: minted ids, the times of the run, durations of the run. */
function withoutMinted(text: string): string {
  return text
    .replaceAll(/\b0[0-9A-HJKMNP-TV-Z]{25}\b/g, 'ULID')
    .replaceAll(/ [0-9A-HJKMNP-TV-Z]{8}(?= |$)/gm, ' END')
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b\d\d:\d\d:\d\d\b/g, 'TIME')
    .replaceAll(/\b\d+(\.\d+)? ?m?s\b/g, 'DURATION')
    .replaceAll(/ +/g, ' ');
}
