import { execFile } from 'node:child_process';
import { globSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Answer, type CommandLine, commandFromSource, commandLine } from './command-line.ts';
import { writeScenario } from './market-scenario.ts';
import { scenarioPath } from './play-scenario.ts';
import { danglingCalls, envelopesOf, eventsOf } from './read-back.ts';

const scenarios = globSync('*.yaml', { cwd: scenarioPath('..').replace('...yaml', '') })
  .map((name) => name.replace('.yaml', ''))
  .sort();

/** The command with lines typed into it that end with the input. */
function typeInto(
  line: CommandLine,
  args: readonly string[],
  typed: readonly string[],
  terminal: { readonly isTTY?: boolean } = {},
): Promise<Answer> {
  const stdin = Object.assign(new PassThrough(), terminal);
  stdin.end(typed.map((text) => `${text}\n`).join(''));
  return line.start(args, { signal: new AbortController().signal, stdin });
}

/** The same as a process of its own. */
function typeIntoProcess({ cwd }: CommandLine, args: readonly string[], typed: readonly string[]) {
  return new Promise<Pick<Answer, 'code' | 'out' | 'err'>>((resolve, reject) => {
    const options = { cwd, timeout: 30_000 };
    const command = [...commandFromSource, ...args];
    const child = execFile(process.execPath, command, options, (error, out, err) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), out, err });
    });
    child.stdin?.end(typed.map((text) => `${text}\n`).join(''));
  });
}

describe('chat -i with a scenario that is shipped', { concurrent: true }, () => {
  it('is tried with each of them', () => {
    expect(scenarios).toHaveLength(9);
  });

  it.each(scenarios)('answers each typed line, says how to end, and ends well: %s', async (name) => {
    using line = commandLine();
    const args = ['chat', scenarioPath(name), '-i', '--quiet', '--task', 'lab/talk'];
    const typed = ['A line that nobody wrote an answer to', 'And another one'];
    const { code, out, err } = await typeInto(line, args, typed);
    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringMatching(/hansard: |\n\s+at /) });
    const said = out.split('\n').filter((text) => text !== '');
    // Each line, and below it its answer.
    expect(said.filter((_, at) => typed.includes((said[at - 1] ?? '').replace('> ', '')))).toHaveLength(2);
    const events = await eventsOf(line, 'lab/talk');
    const heard = events.filter(({ type, agentId }) => type === 'user:message' && agentId === 'agent_001');
    expect(heard.slice(-2).map(({ data }) => data.text)).toEqual(typed);
    expect(danglingCalls(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'session:complete', data: { status: 'completed' } });
    expect(await envelopesOf(line, 'lab/talk')).toMatchObject([{ status: 'completed' }]);
  });
});

describe('chat -i on a terminal', () => {
  const config = '{ "communication": [] }';

  it('says how to end, and asks for each line', async () => {
    using line = commandLine();
    writeFileSync(join(line.cwd, 'hansard.config.json'), config);
    const root = [{ say: 'Yes.', repeat: true }];
    writeScenario(line.cwd, 'talk.yaml', { user: [], agents: { root } });
    const args = ['chat', 'talk.yaml', '-i', '--quiet'];
    const { code, out, err } = await typeInto(line, args, ['One?', 'Two?', '/end'], { isTTY: true });
    expect(code).toBe(0);
    expect(out).toBe('\nYes.\n\n\nYes.\n\n');
    expect(err).toMatch(
      /^Type a line and Enter; \/end or Ctrl-D ends the session\.\n\/undo .*\n> > > \nRecorded as /,
    );
  });
});

describe('chat -i, given a line that the scenario does not know,', { concurrent: true }, () => {
  it('says that there is no answer, asks again, and ends well', async () => {
    using line = commandLine();
    const root = [{ when: { contains: 'Hello' }, say: 'Welcome.' }];
    writeScenario(line.cwd, 'talk.yaml', { user: ['Hello.'], agents: { root } });
    const typed = ['Something that nobody wrote an answer to', 'And something else'];
    const { code, err } = await typeInto(line, ['chat', 'talk.yaml', '-i', '--quiet'], typed);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('No answer for root') });
    expect(err.match(/Type another line, or \/end\./g)).toHaveLength(2);
    expect(err).not.toMatch(/\n\s+at /);
    const events = await eventsOf(line, 'chat/talk');
    expect(events.filter(({ type }) => type === 'user:message').map(({ data }) => data.text)).toEqual([
      'Hello.',
      ...typed,
    ]);
    expect(await envelopesOf(line, 'chat/talk')).toMatchObject([{ status: 'completed' }]);
  });

  it('answers the next line that it knows, and its session is resumed with a scenario that knows both', async () => {
    using line = commandLine();
    const plums = { when: { contains: 'plums' }, say: 'Seven.' };
    const root = [{ when: { contains: 'Hello' }, say: 'Welcome.' }, plums];
    writeScenario(line.cwd, 'talk.yaml', { user: ['Hello.'], agents: { root } });
    const typed = ['Any pears?', 'How many plums?', 'And pears?'];
    const args = ['chat', 'talk.yaml', '-i', '--json'];
    const { code, out, err } = await typeIntoProcess(line, args, typed);
    expect(code).toBe(0);
    const said = out.trimEnd().split('\n');
    expect(said.map((row) => JSON.parse(row).text)).toEqual(['Welcome.', 'Seven.']);
    expect(err).toMatch(/SESSION_MODEL_FAILED.*No answer for root, turn 2, in .*talk\.yaml/);

    const pears = { when: { contains: 'pears' }, say: 'No pears today.' };
    writeScenario(line.cwd, 'talk.yaml', { user: ['Hello.'], agents: { root: [...root, pears] } });
    const resumed = await line.hansard('chat', '--resume', 'chat/talk', '--json');
    expect(resumed).toMatchObject({ code: 0 });
    expect(resumed.json()).toMatchObject([{ text: 'No pears today.' }]);
  });

  it('continues when it is resumed with -i and the same scenario', async () => {
    using line = commandLine();
    const root = [{ when: { contains: 'plums' }, say: 'Seven.' }];
    writeScenario(line.cwd, 'talk.yaml', { user: [], agents: { root } });
    expect(await typeInto(line, ['chat', 'talk.yaml', '-i', '--json'], ['Any pears?'])).toMatchObject({
      code: 0,
    });
    const { code, out } = await typeInto(
      line,
      ['chat', '--resume', 'chat/talk', '-i', '--json'],
      ['How many plums?'],
    );
    expect({ code, text: JSON.parse(out).text }).toEqual({ code: 0, text: 'Seven.' });
  });

  it('continues after a model failed, and fails if nothing was answered after that', async () => {
    const root = [
      { when: { contains: 'Hello' }, error: 'The model is on strike.' },
      { say: 'Back at work.' },
    ];
    const talk = async (...typed: string[]) => {
      using line = commandLine();
      writeScenario(line.cwd, 'talk.yaml', { user: [], agents: { root } });
      const { code, out, err } = await typeInto(line, ['chat', 'talk.yaml', '-i', '--json'], typed);
      expect(err).toContain('on strike');
      const [envelope] = await envelopesOf(line, 'chat/talk');
      return { code, status: envelope?.status, isAnswered: out.includes('Back at work.') };
    };
    expect(await talk('Hello?', 'And now?')).toEqual({ code: 0, status: 'completed', isAnswered: true });
    expect(await talk('Hello?')).toEqual({ code: 1, status: 'crashed', isAnswered: false });
  });
});

/** The content of the store, byte for byte. */
function bytesOf({ cwd }: CommandLine): Record<string, string> {
  const root = join(cwd, '.projects');
  const files = globSync('**/*', { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(root.length), readFileSync(path, 'base64')];
    }),
  );
}

const stores = [
  ['JSON-file', '{}'],
  ['SQLite', '{ "store": "@hansard/store-sqlite" }'],
] as const;

describe.each(stores)('a session that ended, in the %s store', { concurrent: true }, (_name, config) => {
  it.each([
    ['without more to say', ['--quiet']],
    ['with nothing typed', ['--quiet', '-i']],
  ])('is the same to the last byte when it is resumed %s, however often', async (_what, args) => {
    using line = commandLine();
    writeFileSync(join(line.cwd, 'hansard.config.json'), config);
    const agents = { root: [{ say: 'Welcome.' }] };
    writeScenario(line.cwd, 'talk.yaml', { user: ['Hello.'], agents });
    expect(await line.hansard('chat', 'talk.yaml', '--quiet')).toMatchObject({ code: 0 });
    const before = { bytes: bytesOf(line), ended: await envelopesOf(line, 'chat/talk') };
    for (const resume of [typeInto, typeIntoProcess]) {
      const { code, out, err } = await resume(line, ['chat', '--resume', 'chat/talk', ...args], []);
      expect({ code, out }).toEqual({ code: 0, out: '' });
      expect(err).toContain('There was nothing to answer');
      expect(err).toContain('the session was not changed');
    }
    expect(await envelopesOf(line, 'chat/talk')).toEqual(before.ended);
    const after = bytesOf(line);
    expect(Object.keys(after)).toEqual(Object.keys(before.bytes));
    for (const [file, bytes] of Object.entries(after)) expect(bytes === before.bytes[file], file).toBe(true);
  });

  it('continues with the typed line', async () => {
    using line = commandLine();
    writeFileSync(join(line.cwd, 'hansard.config.json'), config);
    const agents = { root: [{ say: 'Welcome.' }, { say: 'I have plums.' }, { say: 'Seven.' }] };
    writeScenario(line.cwd, 'talk.yaml', { user: ['Hello.'], agents });
    await line.hansard('chat', 'talk.yaml', '--quiet');
    const typed = ['What do you have?', 'How many?'];
    const { code, out } = await typeInto(line, ['chat', '--resume', 'chat/talk', '-i', '--json'], typed);
    expect(code).toBe(0);
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((row) => JSON.parse(row).text),
    ).toEqual(['I have plums.', 'Seven.']);
  });
});

describe('chat --attach', () => {
  it('gives the first message the files, and the log their bytes', async () => {
    using line = commandLine();
    const agents = { root: [{ say: 'I see.' }, { say: 'Bye.' }] };
    writeScenario(line.cwd, 'talk.yaml', { user: ['Look.', 'And now?'], agents });
    writeFileSync(join(line.cwd, 'map.png'), Uint8Array.from([1, 2, 3]));
    writeFileSync(join(line.cwd, 'notes.md'), 'The door is red.');
    const attach = ['--attach', 'map.png', '--attach', 'notes.md'];
    expect(await line.hansard('chat', 'talk.yaml', '--quiet', ...attach)).toMatchObject({ code: 0 });
    const events = await eventsOf(line, 'chat/talk');
    const messages = events.filter(({ type }) => type === 'user:message').map(({ data }) => data.parts);
    expect(messages).toEqual([
      [
        expect.objectContaining({ kind: 'image', mediaType: 'image/png', name: 'map.png', size: 3 }),
        { kind: 'text', text: 'The door is red.', name: 'notes.md' },
      ],
      undefined,
    ]);
    expect(events.filter(({ type }) => type === 'content:stored')).toHaveLength(1);
  });

  it('refuses what is missing, too large or neither a text nor a known kind, before anything is recorded', async () => {
    using line = commandLine();
    writeScenario(line.cwd, 'talk.yaml', { user: ['Look.'], agents: { root: [{ say: 'I see.' }] } });
    writeFileSync(join(line.cwd, 'film.bin'), Uint8Array.from([0xff, 0xfe, 0xff]));
    writeFileSync(join(line.cwd, 'large.png'), '');
    truncateSync(join(line.cwd, 'large.png'), 50_000_000);
    for (const [file, why] of [
      ['gone.png', 'ENOENT'],
      ['film.bin', 'neither a text'],
      ['large.png', '50000000 bytes'],
    ] as const) {
      const { code, err } = await line.hansard('chat', 'talk.yaml', '--attach', file);
      expect([code, err]).toEqual([2, expect.stringContaining(why)]);
    }
    expect((await line.hansard('ls', '--json')).json()).toEqual([]);
  });
});
