import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';
import { writeScenario } from './market-scenario.ts';
import { envelopesOf, eventsOf } from './read-back.ts';

/** A session that was asked for one colour, which the agent gives anew as often as it is asked. */
function prepared(): CommandLine {
  const line = commandLine();
  writeScenario(line.cwd, 'talk.yaml', {
    user: ['A colour?'],
    agents: { root: [{ say: 'Blue.', repeat: true }] },
  });
  return line;
}

function typeInto(line: CommandLine, args: readonly string[], ...typed: string[]) {
  const stdin = new PassThrough();
  stdin.end(typed.map((text) => `${text}\n`).join(''));
  return line.start(args, { signal: new AbortController().signal, stdin });
}

describe('hansard fork', () => {
  it('begins a session that repeats another one through an event, and says how to continue it', async () => {
    using line = prepared();
    await line.hansard('chat', 'talk.yaml', '--quiet');
    const before = await eventsOf(line, 'chat/talk');
    const asked = before.find(({ type }) => type === 'user:message');
    const { code, out } = await line.hansard('fork', 'chat/talk', asked?.id ?? '', '--task', 'chat/again');
    const [, name = ''] =
      /^Forked as (chat\/again\/\S+)\. `hansard chat --resume \1` continues/.exec(out) ?? [];
    expect({ code, isNamed: name !== '' }).toEqual({ code: 0, isNamed: true });
    expect(await eventsOf(line, 'chat/again')).toHaveLength(before.indexOf(asked as never) + 2);
    expect((await line.hansard('chat', '--resume', name, '--json')).json()).toMatchObject([
      { text: 'Blue.' },
    ]);
    expect(await eventsOf(line, 'chat/talk')).toEqual(before);
    const shown = await line.hansard('show', name);
    expect(shown.out).toMatch(/fork {2}of hansard .*\n.* copies .*the first 2 events are those of/);
  });

  it('gives the agent another text in place of a message, and refuses that for any other event', async () => {
    using line = prepared();
    await line.hansard('chat', 'talk.yaml', '--quiet');
    const events = await eventsOf(line, 'chat/talk');
    const at = (type: string) => events.find((event) => event.type === type)?.id ?? '';
    const refused = await line.hansard('fork', 'chat/talk', at('agent:text'), '--edit', 'No.');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('SESSION_FORK_INVALID') });
    const forked = await line.hansard(
      'fork',
      'chat/talk',
      at('user:message'),
      '--edit',
      'A number?',
      '--json',
    );
    const [fork] = forked.json() as { taskDir: string; dispatchId: string }[];
    const own = (await line.hansard('show', fork?.dispatchId ?? '', '--raw', '--json')).json() as {
      data: { text?: string };
    }[];
    expect(own.at(-1)?.data.text).toBe('A number?');
  });
});

describe('chat -i', () => {
  it('takes the last message back with /undo, asks again with /retry, and copies the session with /fork', async () => {
    using line = prepared();
    const { code, out, err } = await typeInto(
      line,
      ['chat', 'talk.yaml', '-i', '--quiet'],
      ...['And another?', '/undo', '/retry', '/fork'],
    );
    expect(code).toBe(0);
    expect(out.match(/Blue\./g)).toHaveLength(3);
    expect(err).toMatch(/Taken back: And another\?\nAsked again: A colour\?\nForked as chat\/talk\/\S+\./);
    const envelopes = await envelopesOf(line, 'chat/talk');
    expect(envelopes).toHaveLength(2);
    const session = envelopes.find(({ forkedFrom }) => forkedFrom === undefined);
    const shown = await line.hansard('show', session?.dispatchId ?? '', '--raw', '--json');
    const types = (shown.json() as { type: string }[]).map(({ type }) => type);
    expect(types.filter((type) => type === 'session:rewind')).toHaveLength(2);
    const none = await typeInto(
      line,
      ['chat', '--resume', session?.dispatchId ?? '', '-i'],
      '/undo',
      '/undo',
    );
    expect(none.err).toContain('There is no message to go back to.');
  });
});
