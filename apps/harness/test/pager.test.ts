import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

let cli: CommandLine;
const events = 5_000;

beforeAll(async () => {
  cli = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
  await using dispatch = await store.beginDispatch('lab/tasks/long', { role: 'dev', fidelity: 'full' });
  await dispatch.append(
    Array.from({ length: events }, (_, at) => newEvent('agent:text', { text: `text ${at}` })),
  );
  await dispatch.end({ status: 'completed' });
  await store.close();
});

afterAll(() => cli?.[Symbol.dispose]());

let seen: string;
let folder: string;
let number = 0;

/** Pagers that write what they get, and their settings, to a file. */
beforeEach(() => {
  folder = join(cli.cwd, `bin-${number}`);
  number += 1;
  mkdirSync(folder);
  seen = join(folder, 'seen');
  writeFileSync(join(folder, 'reader'), `#!/bin/sh\n{ echo "LESS=$LESS"; /bin/cat; } > ${seen}\n`, {
    mode: 0o755,
  });
  writeFileSync(join(folder, 'hasty'), `#!/bin/sh\n/usr/bin/head -n 3 > ${seen}\n`, { mode: 0o755 });
});

const onTerminal = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  cli.start(args, { signal: new AbortController().signal, columns: 80, env: { PATH: folder, ...env } });

const reading = ['show', 'lab/long/latest', '--raw'];

describe('the answer of a reading command on a terminal', () => {
  it.each([
    [{ PAGER: 'reader' }, 'FRX'],
    [{ PAGER: 'missing', HANSARD_PAGER: 'reader' }, 'FRX'],
    [{ PAGER: 'reader --with options', LESS: 'S' }, 'S'],
  ])('is read in a pager, whole and with its settings: %j', async (env, less) => {
    const { code, out, err } = await onTerminal(reading, env);
    expect([code, out, err]).toEqual([0, '', '']);
    const [settings, ...lines] = readFileSync(seen, 'utf8').trimEnd().split('\n');
    expect(settings).toBe(`LESS=${less}`);
    expect(lines).toHaveLength(events);
    expect(lines.at(-1)).toContain(`text ${events - 1}`);
  });

  it('ends without an error when its reader closes the pager early', async () => {
    const { code, out, err } = await onTerminal(['show', 'lab/long'], { PAGER: 'hasty' });
    expect([code, out, err]).toEqual([0, '', '']);
    expect(readFileSync(seen, 'utf8').split('\n')).toHaveLength(4);
  });

  it.each([
    ['with --no-pager', [...reading, '--no-pager'], { PAGER: 'reader' }],
    ['as JSON', [...reading, '--json'], { PAGER: 'reader' }],
    ['on a dumb terminal', reading, { PAGER: 'reader', TERM: 'dumb' }],
    ['with an empty pager', reading, { PAGER: 'reader', HANSARD_PAGER: '' }],
    ['without less', reading, {}],
    ['of a command that replays', ['show', 'lab/long/latest', '--speed', 'max'], { PAGER: 'reader' }],
  ])('is not read in a pager %s', async (_, args, env) => {
    const { code, out, err } = await onTerminal(args, env);
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n').length).toBeGreaterThan(7);
    expect(existsSync(seen)).toBe(false);
  });

  it('names a pager that is not found, and is printed', async () => {
    const { code, out, err } = await onTerminal(reading, { PAGER: 'missing -R' });
    expect([code, err]).toEqual([0, 'hansard: the pager "missing" is not found; --no-pager uses none.\n']);
    expect(out.trimEnd().split('\n')).toHaveLength(events);
  });

  it('starts no pager for an error', async () => {
    const { code, err } = await onTerminal(['show', 'lab/none'], { PAGER: 'reader' });
    expect([code, err]).toEqual([1, expect.stringContaining('no session or task "lab/none"')]);
    expect(existsSync(seen)).toBe(false);
  });

  it('is not read in a pager if the output goes elsewhere', async () => {
    const { out } = await cli.start(reading, {
      signal: new AbortController().signal,
      env: { PATH: folder, PAGER: 'reader' },
    });
    expect(out.trimEnd().split('\n')).toHaveLength(events);
    expect(existsSync(seen)).toBe(false);
  });
});
