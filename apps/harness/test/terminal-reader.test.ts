import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EventRequest } from '@hansard/compose/reading';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { branchedLog, randomFrom, randomLog } from '@hansard/testing';
import { columnsOf } from '@hansard/views';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ReadLog } from '../src/commands/show/reader/read-log.ts';
import { sideSessions } from '../src/commands/show/reader/reader-frame.ts';
import { TerminalReader } from '../src/commands/show/reader/terminal-reader.ts';
import { commandLine } from './command-line.ts';
import { forbiddenIn } from './hostile-texts.ts';

const line = commandLine();
afterAll(() => line[Symbol.dispose]());

const root = `${line.cwd}/.projects`;
let taskDir = '';
let number = 0;
let store: DispatchStore;

beforeEach(() => {
  number += 1;
  taskDir = `lab/tasks/reading-${number}`;
  store = openDispatchStore(openJsonFileStore({ root }));
  const opened = store;
  onTestFinished(() => opened.close());
});

async function record(events: readonly NewEvent[], { isEnded = true, dispatchId = 'one' } = {}) {
  const dispatch = await store.beginDispatch(taskDir, { role: 'w', dispatchId, fidelity: 'full' });
  if (events.length > 0) await dispatch.append([...events]);
  if (isEnded) await dispatch.end({ status: 'completed' });
  return dispatch;
}

interface Size {
  readonly columns: number;
  readonly lines: number;
}

/** A reader without a terminal: keys go in, and its picture comes out as lines of text. */
class Driven {
  readonly reader: TerminalReader;
  readonly log: ReadLog;
  size: Size;
  #changed = Promise.withResolvers<void>();

  private constructor(log: ReadLog, size: Size, make: (onChange: () => void) => TerminalReader) {
    this.log = log;
    this.size = size;
    this.reader = make(() => this.changed());
  }

  static async open(
    size: Size,
    { env = {}, isDamaged = false }: { env?: Record<string, string>; isDamaged?: boolean } = {},
  ): Promise<Driven> {
    let onChange = () => {};
    const context = {
      stdout: Object.assign(process.stdout, {}),
      stderr: process.stderr,
      stdin: process.stdin,
      cwd: line.cwd,
      env: { NO_COLOR: '1', ...env },
      zone: 'utc' as const,
      signal: new AbortController().signal,
      readSignal: new AbortController().signal,
    };
    const log = await ReadLog.open(
      store,
      { taskDir, dispatchId: 'one' },
      { isDamaged, onChange: () => onChange() },
    );
    const request = await EventRequest.parse(context, {});
    const driven = new Driven(log, size, (changed) => {
      onChange = changed;
      return new TerminalReader(log, {
        context,
        store,
        options: { damaged: isDamaged },
        request,
        sessions: () => sideSessions(store, { taskDir, dispatchId: null }, () => true),
        onChange: changed,
        onQuit: () => {},
        onStop: () => {},
      });
    });
    onTestFinished(() => driven.reader.close());
    await driven.reader.begin(null, size);
    return driven;
  }

  changed(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Presses keys, each after the answer to the one before. */
  async press(...names: readonly string[]): Promise<void> {
    for (const name of names) await this.reader.pressed({ name, text: [...name].length === 1 ? name : '' });
  }

  async type(text: string): Promise<void> {
    await this.press(...[...text], 'return');
  }

  async lines(): Promise<string[]> {
    const { lines } = await this.reader.picture(this.size);
    return lines.map((parts) => {
      let text = '';
      for (const part of parts) text = text.padEnd(text.length + part.column - columnsOf(text)) + part.text;
      return text;
    });
  }

  /** The picture when it fits: changes of the store come some time later. */
  async until(fits: (lines: readonly string[]) => boolean): Promise<string[]> {
    for (;;) {
      const { promise } = this.#changed;
      const lines = await this.lines();
      if (fits(lines)) return lines;
      await promise;
    }
  }

  /** The position of the current row, from the last line. */
  async current(): Promise<number> {
    return Number(/(\d+) of \d+ events/.exec((await this.lines()).at(-1) ?? '')?.[1] ?? -1);
  }

  /** Presses a key until the current row stays, and returns the positions of all that were current. */
  async walk(key: string): Promise<number[]> {
    const walked = [await this.current()];
    for (let still = 0; still < 60; ) {
      await this.press(key);
      const current = await this.current();
      if (current === walked.at(-1)) still += 1;
      else {
        still = 0;
        walked.push(current);
      }
    }
    return walked;
  }
}

/** The positions of the rows that `show` prints. */
async function shown(...args: readonly string[]): Promise<number[]> {
  const answer = await line.hansard('show', `${taskDir}/one`, '--json', ...args);
  expect(answer.err).toBe('');
  return (answer.json() as { position?: number }[]).flatMap(({ position }) => position ?? []);
}

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1e6));
const sizes: readonly Size[] = [
  { columns: 80, lines: 24 },
  { columns: 140, lines: 40 },
  { columns: 30, lines: 9 },
];

describe(`random logs (HANSARD_SEED=${seed})`, () => {
  it.each(sizes)('j goes through each row of show once, in its order, and k back: %j', async (size) => {
    const random = randomFrom(seed + size.columns);
    await record(randomLog(random, 150), { isEnded: random() < 0.5 });
    const driven = await Driven.open(size);
    const rows = await shown();
    expect(await driven.walk('j')).toEqual(rows);
    expect(await driven.walk('k')).toEqual(rows.toReversed());
  });

  it('j goes through the rows of show where branches were left, o opens and closes one, and :event opens its own', async () => {
    const { events } = branchedLog({ seed: 1 + (seed % 1_000), length: 400 });
    await record(events);
    const driven = await Driven.open({ columns: 100, lines: 30 });
    const rows = await shown();
    expect(await driven.walk('j')).toEqual(rows);
    const folds = (await line.hansard('show', `${taskDir}/one`, '--json')).json() as {
      fold?: object;
      events: number[];
    }[];
    const opened = await shown('--full');
    // Of the rows of one branch, the first and another one.
    const [first = -1, second = -1] =
      folds
        .filter(({ fold }) => fold !== undefined)
        .map(({ events: own }) => own.filter((position) => opened.includes(position)))
        .find((own) => own.length > 1) ?? [];
    expect(second).toBeGreaterThan(first);
    await driven.press(...`${first}`, 'g', 'o');
    expect(await driven.current()).toBe(first);
    expect(await driven.walk('k')).toContain(rows[rows.indexOf(first) - 1] ?? first);
    await driven.press(':');
    await driven.type(`${second}`);
    expect(await driven.current()).toBe(second);
    expect((await driven.lines()).join('\n')).toMatch(/abandoned|parallel branch/);
    await driven.press('o');
    expect(await driven.current()).toBe(first);
  });

  it('space shows each line of the rows, from the first to the last, and no row twice in a window', async () => {
    const random = randomFrom(seed);
    await record(randomLog(random, 300));
    const driven = await Driven.open({ columns: 90, lines: 20 });
    const rows = await shown();
    const seen = new Set<number>();
    for (let page = 0; page < 400; page += 1) {
      const positions = (await driven.lines()).slice(1, -2).flatMap((text) => {
        const position = /^[^│]*│[▌ ] +(\d+) {2}\d\d:\d\d:\d\d/.exec(text)?.[1];
        return position === undefined ? [] : [Number(position)];
      });
      expect(new Set(positions).size).toBe(positions.length);
      expect(positions).toEqual(positions.toSorted((one, other) => one - other));
      for (const position of positions) seen.add(position);
      if (seen.has(rows.at(-1) ?? -1)) break;
      await driven.press(' ');
    }
    expect([...seen]).toEqual(rows);
  });

  it('of a log of many pages, the beginning, the middle and the end are the rows of show', async () => {
    const random = randomFrom(seed);
    await record(randomLog(random, 9_000));
    const driven = await Driven.open({ columns: 100, lines: 60 });
    const rows = await shown();
    await driven.press('G');
    expect(await driven.current()).toBe(rows.at(-1));
    for (let turn = 0; turn < 20; turn += 1) {
      const at = Math.floor(random() * rows.length);
      await driven.press(...String(rows[at]), 'g');
      expect(await driven.current()).toBe(rows[at]);
      await driven.press('j', 'j', 'k');
      const walked = await driven.current();
      expect(rows.slice(Math.max(0, at - 1), at + 3)).toContain(walked);
    }
  });

  it.each([
    ['wien', []],
    ['/wien [0-9]*7/i', []],
    ['東京', ['--tool', 'Bash']],
    ['nowhere', []],
  ])('/%s finds the rows that show --text finds, %j', async (text, filter) => {
    const random = randomFrom(seed);
    await record(randomLog(random, 400));
    const driven = await Driven.open({ columns: 80, lines: 24 });
    if (filter.length > 0) {
      await driven.press('&');
      await driven.type(filter.join(' '));
    }
    const rows = await shown('--text', text, ...filter);
    const passing = filter.length === 0 ? rows : await shown('--text', text);
    const within = filter.length === 0 ? rows : await shown(...filter);
    const expected = passing.filter((position) => within.includes(position));
    const found: number[] = [];
    await driven.press('g', '/');
    await driven.type(text);
    const [first] = within;
    if (first !== undefined && expected[0] === first) found.push(first);
    for (let turn = 0; turn <= expected.length; turn += 1) {
      const current = await driven.current();
      if (expected.includes(current) && current !== found.at(-1)) found.push(current);
      await driven.press('n');
    }
    expect(found).toEqual(expected);
    const back = (await driven.lines()).at(-2);
    expect(back).toContain(`No later row has ${text}.`);
  });

  it.each([['--tool Bash --failed'], ['--type agent:text'], ['--source user'], ['Wien'], ['--agent w']])(
    '& %s shows the rows that show prints with it',
    async (words) => {
      const random = randomFrom(seed);
      await record(randomLog(random, 250));
      const driven = await Driven.open({ columns: 80, lines: 24 });
      await driven.press('&');
      await driven.type(words);
      await driven.until((lines) => !lines.at(-1)?.includes('% read'));
      const options = words.startsWith('-') ? words.split(' ') : ['--text', words];
      const rows = await shown(...options);
      await driven.press('g');
      expect(await driven.walk('j')).toEqual(rows);
      await driven.press('&', 'return', 'g');
      expect(await driven.current()).toBe(0);
    },
  );
});

it.each([
  ['--agent nobody', 'There is no agent "nobody". The agents are: Jack (a), w.'],
  ['--agent "Jack', 'The quote before Jack is not closed.'],
  ["--agent Jack --text '", 'The quote before the end is not closed.'],
  ['--agnt Jack', "unknown option '--agnt'"],
])('& %s says why it filters nothing, and leaves the rows as they are', async (words, why) => {
  const created = newEvent('agent:created', { name: 'Jack' }, { agentId: 'a' });
  await record([created, said('Hello', 'a'), said('Good evening')]);
  const driven = await Driven.open({ columns: 100, lines: 24 });
  await driven.press('&');
  await driven.type(words);
  const lines = (await driven.lines()).join('\n');
  expect(lines).toContain(why);
  expect(lines).toContain('Good evening');
  expect(lines).not.toContain('0 rows');
  expect(await driven.walk('j')).toEqual([0, 1, 2]);
});

it('says that the session that is opened lacks the agent of the filter', async () => {
  const created = newEvent('agent:created', { name: 'Jack' }, { agentId: 'a' });
  await record([created, said('Hello', 'a')]);
  await record([said('Good evening')], { dispatchId: 'two' });
  const driven = await Driven.open({ columns: 100, lines: 24 });
  await driven.press('&');
  await driven.type('--agent Jack');
  await driven.press('tab', 'G', 'return');
  const lines = (await driven.lines()).join('\n');
  expect(lines).toContain('/two');
  expect(lines).toContain('There is no agent "Jack". The agents are: w.');
});

const fileOf = (dispatchId: string) =>
  join(root, 'lab', taskDir.slice(4), 'dispatches', `${dispatchId}.json`);

/** Changes a byte of the first event with a text. */
function damage(dispatchId: string, text: string): void {
  const file = fileOf(dispatchId);
  const before = readFileSync(file, 'utf8');
  // In an event: the title in the head can have the same text, and the head is stored twice.
  const at = before.indexOf(text, before.indexOf('"type":"'));
  expect(at).toBeGreaterThan(0);
  writeFileSync(file, before.slice(0, at) + before.slice(at).replace(text, text.replace(/.$/, '#')));
}

const said = (text: string, agentId?: string): NewEvent => ({
  type: 'agent:text',
  ...(agentId === undefined ? {} : { agentId }),
  data: { text },
});

it('an agent at the side has its own conversation, and the session has all', async () => {
  const created = (agentId: string, name: string): NewEvent => ({
    type: 'agent:created',
    agentId,
    data: { name, languageModel: 'm' },
  });
  await record([
    created('a', 'Jack'),
    created('b', 'Jill'),
    said('one', 'a'),
    said('two', 'b'),
    said('three', 'a'),
  ]);
  await record([said('by another session')], { dispatchId: 'two' });
  const driven = await Driven.open({ columns: 80, lines: 24 });
  const text = async () => (await driven.lines()).join('\n');
  expect(await text()).toMatch(/one[\s\S]*two[\s\S]*three/);
  await driven.press('tab', 'g');
  while (!/▌[ ●]\s+Jill/.test(await text())) await driven.press('j');
  await driven.press('return');
  await driven.until((lines) => !lines.at(-1)?.includes('% read'));
  expect(await text()).toMatch(/● *Jill/);
  expect(await text()).toContain('two');
  expect(await text()).not.toMatch(/ one\b| three\b/);
  expect(await driven.walk('j')).toEqual(await shown('--agent', 'Jill'));
  await driven.press('tab', 'G', 'return');
  expect(await text()).toContain('by another session');
  expect(await text()).not.toContain('three');
});

describe('a log that', () => {
  it('is empty says so', async () => {
    await record([], { isEnded: false });
    const driven = await Driven.open({ columns: 80, lines: 24 });
    await driven.press('j', 'k', ' ', 'b', 'g', 'G', 'return', 'tab', 'n');
    expect((await driven.lines()).join('\n')).toContain('(no events)');
  });

  it('is written is followed: each event once', async () => {
    const dispatch = await record([said('the first')], { isEnded: false });
    const driven = await Driven.open({ columns: 80, lines: 24 });
    await driven.press('F');
    for (let at = 0; at < 30; at += 1) await dispatch.append(said(`text ${at}.`));
    const lines = await driven.until((all) => all.join('\n').includes('text 29.'));
    for (let at = 20; at < 30; at += 1)
      expect(
        lines.filter((text) => text.includes(`text ${at}.`)),
        String(at),
      ).toHaveLength(1);
    await dispatch.end({ status: 'completed' });
    await driven.until((all) => all[0]?.includes('completed') === true);
    expect(await driven.walk('k')).toEqual((await shown()).toReversed());
  });

  it('is rewritten while it is open shows the new texts, and nothing twice', async () => {
    const secret = `sk-ant-api03-${'Ab3'.repeat(31)}xAA`;
    await record([said('before'), said(`key ${secret}`), said('after')]);
    const driven = await Driven.open({ columns: 80, lines: 24 });
    expect((await driven.lines()).join('\n')).toContain('sk-ant');
    const { code } = await line.hansard('secrets', 'redact', `${taskDir}/one`, '--yes');
    expect(code).toBe(0);
    const lines = await driven.until((all) => !all.join('\n').includes('sk-ant'));
    expect(lines.filter((text) => text.includes('before'))).toHaveLength(1);
    expect(await driven.walk('j')).toEqual(await shown());
  });

  it('is damaged shows its whole events and says so, also after its loss is accepted while it is open', async () => {
    const random = randomFrom(seed);
    await record(randomLog(random, 700));
    damage('one', 'naïve 東京 3');
    const driven = await Driven.open({ columns: 80, lines: 24 });
    const whole = await shown('--damaged');
    expect(await driven.walk('j')).toEqual(whole);
    expect((await driven.lines()).join('\n')).toContain('The log is damaged: its whole events are shown');
    await driven.press('/');
    await driven.type('wien');
    await driven.press('G');
    expect(await driven.current()).toBe(whole.at(-1));
    await store.acceptLoss({ taskDir, dispatchId: 'one' });
    await driven.until((lines) => lines.at(-1)?.includes('of 700 events') === true);
    await driven.press('g');
    expect(await driven.walk('j')).toEqual(await shown());
  });

  it('becomes shorter while it is open is read again', async () => {
    await record(Array.from({ length: 30 }, (_, at) => said(`text ${at}.`)));
    const driven = await Driven.open({ columns: 80, lines: 24 });
    await driven.press('G');
    damage('one', 'text 4.');
    damage('one', 'text 5.');
    damage('one', 'text 6.');
    await store.acceptLoss({ taskDir, dispatchId: 'one' });
    await driven.until((lines) => lines.join('\n').includes('was rewritten'));
    await driven.press('g');
    expect(await driven.walk('j')).toEqual(await shown());
    expect((await driven.until((lines) => lines.join('\n').includes('text 29.'))).join('\n')).not.toMatch(
      /text [456]\./,
    );
  });

  it('cannot be read at the side is named, and the one that is shown stays', async () => {
    await record([said('readable')]);
    await record([said('in the other')], { dispatchId: 'two' });
    const driven = await Driven.open({ columns: 80, lines: 24 });
    writeFileSync(fileOf('two'), '{ not a dispatch');
    await driven.reader.refreshSessions();
    await driven.press('tab', 'G');
    expect((await driven.lines()).join('\n')).toContain('unreadable');
    await driven.press('return');
    const text = (await driven.lines()).join('\n');
    expect(text).toContain('readable');
    expect(text).toContain('does not begin with the head');
  });

  it('is rewritten far from its end shows the new texts', async () => {
    const secret = `sk-ant-api03-${'Ab3'.repeat(31)}xAA`;
    const texts = Array.from({ length: 2_600 }, (_, at) => said(at === 2 ? `key ${secret}` : `text ${at}.`));
    await record(texts);
    const driven = await Driven.open({ columns: 80, lines: 24 });
    expect((await driven.lines()).join('\n')).toContain('sk-ant');
    expect((await line.hansard('secrets', 'redact', `${taskDir}/one`, '--yes')).code).toBe(0);
    await driven.until((all) => !all.join('\n').includes('sk-ant'));
  });

  it('has other events at the same number of positions is read again', async () => {
    await record(Array.from({ length: 30 }, (_, at) => said(`text ${at}.`)));
    const driven = await Driven.open({ columns: 80, lines: 24 });
    damage('one', 'text 4.');
    await store.acceptLoss({ taskDir, dispatchId: 'one' });
    await driven.until((lines) => lines.join('\n').includes('was rewritten'));
    expect(await driven.walk('j')).toEqual(await shown());
  });

  it('is written shows with a filter the row that a later event completes', async () => {
    const dispatch = await record([said('before')], { isEnded: false });
    const driven = await Driven.open({ columns: 80, lines: 24 });
    await driven.press('&');
    await driven.type('--failed');
    const call = { tool: 'Bash', toolCallId: 'c', metadata: {} };
    await dispatch.append({ type: 'agent:tool_call', data: { ...call, input: { command: 'ls' } } });
    await driven.until(
      (lines) =>
        /of 2 events(?!.*% read)/.test(lines.at(-1) ?? '') || lines.join('').includes('(no event passes)'),
    );
    await dispatch.append({
      type: 'agent:tool_result',
      data: { ...call, status: 'error', output: 'no such file', durationMs: 1 },
    });
    await driven.until((lines) => lines.join('\n').includes('no such file'));
    await dispatch.end({ status: 'completed' });
  });

  it('is deleted while it is open says so, and keeps what was read', async () => {
    await record([said('before'), said('after')]);
    const driven = await Driven.open({ columns: 80, lines: 24 });
    expect((await driven.lines()).join('\n')).toContain('after');
    await store.deleteDispatch({ taskDir, dispatchId: 'one' });
    const lines = await driven.until((all) => all.join('\n').includes('was deleted'));
    expect(lines.join('\n')).toContain('after');
  });
});

it('a text of the log never reaches the terminal as a control, in any pane', async () => {
  const hostile = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\u200b\r\u0000 end\ttab';
  await record([
    { type: 'agent:created', agentId: 'a', data: { name: hostile, languageModel: hostile } },
    said(hostile, 'a'),
    {
      type: 'agent:tool_call',
      data: { tool: hostile, toolCallId: 'c', metadata: {}, target: hostile, input: { [hostile]: hostile } },
    },
    newEvent('user:message', { text: hostile, source: { kind: 'user' } }) as NewEvent,
  ]);
  for (const size of sizes) {
    const driven = await Driven.open(size);
    const check = async () => {
      for (const text of await driven.lines()) {
        expect(forbiddenIn(text)).toEqual([]);
        expect(columnsOf(text)).toBeLessThanOrEqual(size.columns);
      }
    };
    for (const key of [
      'j',
      'j',
      'return',
      'return',
      'G',
      'tab',
      'tab',
      'h',
      'h',
      '/',
      ...hostile,
      'return',
      '&',
      ...hostile,
      'return',
      ':',
      'x',
      'return',
    ]) {
      await driven.press(key);
      await check();
    }
  }
});

it('fits every window, also one that is too small for its panes', async () => {
  await record(randomLog(randomFrom(seed), 80));
  for (const columns of [1, 5, 20, 59, 60, 80, 200])
    for (const lines of [1, 2, 3, 4, 10, 24]) {
      const driven = await Driven.open({ columns, lines });
      for (const key of ['j', 'return', 'tab', 'return', 'tab', 'h', 'G']) {
        await driven.press(key);
        const shownLines = await driven.lines();
        expect(shownLines).toHaveLength(lines);
        for (const text of shownLines) expect(columnsOf(text), text).toBeLessThanOrEqual(columns);
      }
      driven.reader.close();
    }
});
