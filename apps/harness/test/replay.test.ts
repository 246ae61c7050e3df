import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent, toTimestamp } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { appendEvents, createDispatch } from '@hansard/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDuration } from '../src/terminal/parse-duration.ts';
import { type CommandLine, commandLine } from './command-line.ts';

const task = 'research/route-models';

let line: CommandLine;
let all: { id: string }[] = [];

/** Four events, a thousand seconds apart. */
beforeAll(async () => {
  line = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  const taskDir = 'research/tasks/route-models';
  const { dispatchId } = await createDispatch(store, taskDir, { role: 'worker' });
  const at = (seconds: number) => toTimestamp(Date.UTC(2026, 2, 1) + seconds * 1_000);
  const events = ['one', 'two', 'three', 'four'].map((text, index) => ({
    ...newEvent('agent:text', { text }, { timestamp: at(index * 1_000) }),
    id: `event-${text}`,
  }));
  await appendEvents(store, taskDir, dispatchId, events);
  await store.close();
  all = (await line.hansard('show', `${task}/latest`, '--raw', '--json')).json() as typeof all;
});
afterAll(() => line[Symbol.dispose]());

const idsOf = (answer: { json(): unknown[] }) => (answer.json() as typeof all).map(({ id }) => id);

describe('show --speed', () => {
  it('prints every event as events does, without waiting where it may', async () => {
    expect(all).toHaveLength(4);
    const fast = await line.hansard('show', task, '--speed', 'max', '--json');
    expect(fast).toMatchObject({ code: 0 });
    expect(fast.json()).toEqual(all);
    const forPeople = await line.hansard('show', `${task}/latest`, '--speed', 'max');
    expect(forPeople.out).toBe((await line.hansard('show', `${task}/latest`, '--raw')).out);
  });

  it('goes at the speed that is given, and shortens silences', async () => {
    expect((await line.hansard('show', task, '--speed', '999999', '--json')).json()).toEqual(all);
    expect((await line.hansard('show', task, '--max-gap', '1ms', '--json')).json()).toEqual(all);
  });

  it('ends with Ctrl-C in the middle of a silence', async () => {
    const stop = new AbortController();
    const answer = await line.start(['show', task, '--speed', '1', '--json'], {
      signal: stop.signal,
      onOutput: () => stop.abort(),
    });
    expect(answer.code).toBe(0);
    expect(answer.json()).toEqual(all.slice(0, 1));
  });

  it('begins with an event, by its id, the end of it, its position or a time', async () => {
    for (const from of ['event-two', 'two', '1', '@2026-03-01T00:16:40', '@2026-03-01T00:30Z']) {
      const replayed = await line.hansard('show', task, from, '--speed', 'max', '--json');
      expect(idsOf(replayed)).toEqual(['event-two', 'event-three', 'event-four']);
    }
  });

  it('stepwise prints an event for each Enter, and ends after the last one', async () => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    stdin.write('\n');
    const printed: string[] = [];
    const { code, err } = await line.start(['show', task, '1', '--step'], {
      signal: new AbortController().signal,
      stdin,
      onOutput(text) {
        printed.push(text);
        stdin.write('\n');
      },
    });
    expect(code).toBe(0);
    expect(err).toContain('Press Enter for the next event');
    expect(printed.map((text) => /two|three|four/.exec(text)?.[0])).toEqual(['two', 'three', 'four']);
  });

  it('stepwise prints no more than there are lines, and nothing before the first', async () => {
    const stdin = new PassThrough();
    stdin.end('\nagain\n');
    const { signal } = new AbortController();
    const piped = await line.start(['show', task, '--step', '--json'], { signal, stdin });
    expect(idsOf(piped)).toEqual(['event-one', 'event-two']);
    expect(piped.err).toBe('');
    const nothing = await line.start(['show', task, '--step'], { signal, stdin: new PassThrough().end() });
    expect(nothing).toMatchObject({ code: 0, out: '' });
  });

  it('stepwise ends with Ctrl-C while it waits for Enter', async () => {
    const stop = new AbortController();
    const stdin = new PassThrough();
    stdin.write('\n');
    const answer = await line.start(['show', task, '--step', '--json'], {
      signal: stop.signal,
      stdin,
      onOutput: () => setImmediate(() => stop.abort()),
    });
    expect(answer.code).toBe(0);
    expect(idsOf(answer)).toEqual(['event-one']);
  });

  it.each([
    ['a speed that is none', ['--speed', '0'], 2, /factor above 0/],
    ['a duration without a unit', ['--max-gap', '2'], 2, /duration with its unit, such as 500ms/],
    ['a step with a speed', ['--step', '--speed', '2'], 2, /cannot be used/],
    ['an event that is not there', ['event-five', '--speed', 'max'], 1, /has no event or message event-five/],
    [
      'a position after the end',
      ['4', '--speed', 'max'],
      1,
      /has no event 4: the position of its last event is 3/,
    ],
  ])('says what is wrong with %s', async (_, args, code, message) => {
    const answer = await line.hansard('show', task, ...args);
    expect([answer.code, answer.out]).toEqual([code, '']);
    expect(answer.err).toMatch(message);
  });
});

describe('show -f and -n', () => {
  it('prints all events from a position on, and with -f also new ones', async () => {
    expect(idsOf(await line.hansard('show', task, 'event-two', '--raw', '--json'))).toEqual(
      all.slice(1).map(({ id }) => id),
    );
    expect(idsOf(await line.hansard('show', task, '3', '--raw', '--json'))).toEqual(['event-four']);
    const stop = new AbortController();
    const following = await line.start(['show', task, '3', '-f', '--json'], {
      signal: stop.signal,
      onOutput: () => stop.abort(),
    });
    expect(following.code).toBe(0);
    expect(idsOf(following)).toEqual(['event-four']);
  });

  it('takes the number of events from the place where it begins, and from the end without one', async () => {
    expect(idsOf(await line.hansard('show', task, '1', '--raw', '-n', '2', '--json'))).toEqual([
      'event-two',
      'event-three',
    ]);
    expect(idsOf(await line.hansard('show', task, '--raw', '-n', '2', '--json'))).toEqual([
      'event-three',
      'event-four',
    ]);
  });

  it.each([
    [['-f', '--speed', '2'], /can not be combined with a replay/],
    [['-n', '2', '--step'], /can not be combined with --lines/],
    [['--full', '--raw'], /about rows/],
  ])('refuses %j', async (args, message) => {
    const { code, out, err } = await line.hansard('show', task, ...args);
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
  });
});

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['2s', 2_000],
    ['1.5m', 90_000],
    ['1h', 3_600_000],
    ['0s', 0],
  ])('of %s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '2', 's', '-2s', '2 s', '2d', '1e3s', '.5s'])('is not %j', (text) => {
    expect(() => parseDuration(text)).toThrow(/Give a duration/);
  });
});
