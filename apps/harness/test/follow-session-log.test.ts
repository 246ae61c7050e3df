import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandFromSource, commandLine } from './command-line.ts';

const scenario = `
user: [Hello.]
agents:
  root:
    - { say: Good day. }
    - { when: { contains: once }, say: Once. }
    - { when: { contains: twice }, say: Twice. }
`;
const plugin = join(import.meta.dirname, '../../../plugins/comm-streams');

it.each(['session-v1', 'session-v2'])(
  'export --follow writes a %s log while another process talks, continues it after a kill, and has the bytes of the end, as has the plugin',
  async (format) => {
    using line = commandLine();
    mkdirSync(join(line.cwd, 'node_modules/@hansard'), { recursive: true });
    symlinkSync(plugin, join(line.cwd, 'node_modules/@hansard/comm-streams'));
    writeFileSync(
      join(line.cwd, 'hansard.config.json'),
      JSON.stringify({
        communication: [
          { plugin: '@hansard/comm-streams', config: { folder: 'logs', sessionLogs: [format] } },
        ],
      }),
    );
    writeFileSync(join(line.cwd, 'talk.yaml'), scenario);
    const live = join(line.cwd, 'live.jsonl');
    const env = { PATH: process.env.PATH, HOME: line.cwd, NO_COLOR: '1' };
    const start = (...args: string[]) =>
      spawn(process.execPath, [...commandFromSource, ...args], { cwd: line.cwd, env });
    const has = (text: string) =>
      expect
        .poll(() => (existsSync(live) ? readFileSync(live, 'utf8') : ''), { timeout: 60_000 })
        .toContain(text);

    const chat = start('chat', 'talk.yaml', '-i');
    let said = '';
    chat.stderr.on('data', (text) => {
      said += text;
    });
    for await (const text of chat.stdout.iterator({ destroyOnReturn: false }))
      if (String(text).includes('Good day.')) break;
    chat.stdout.resume();
    const follow = ['export', 'latest', '--as', format, '--follow', '--out', 'live.jsonl'];
    const first = start(...follow);
    await has('Good day.');
    chat.stdin.write('Say it once.\n');
    await has('Once.');
    const gone = once(first, 'exit');
    first.kill('SIGKILL');
    await gone;
    chat.stdin.write('Say it twice.\n');
    const second = start(...follow);
    const ended = once(second, 'exit');
    await has('Twice.');
    chat.stdin.end();
    const [code] = await once(chat, 'exit');
    expect([code, said]).toEqual([0, expect.not.stringContaining('FORMAT_')]);
    expect((await ended)[0]).toBe(0);
    const whole = (await line.hansard('export', 'latest', '--as', format)).out;
    expect(readFileSync(live, 'utf8')).toBe(whole);
    expect(whole.trimEnd().split('\n')).toHaveLength(7);
    const [envelope] = (await line.hansard('ls', '--json')).json() as {
      taskDir: string;
      dispatchId: string;
    }[];
    const { taskDir = '', dispatchId = '' } = envelope ?? {};
    expect(readFileSync(join(line.cwd, 'logs', taskDir, dispatchId, `${format}.jsonl`), 'utf8')).toBe(whole);
  },
);
