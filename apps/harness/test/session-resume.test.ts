import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent } from '@hansard/events';
import { createLogIndex } from '@hansard/views';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandFromSource, commandLine } from './command-line.ts';
import {
  killWhen,
  marketLines,
  signalWhen,
  type TurnName,
  writeMarket,
  writeScenario,
} from './market-scenario.ts';
import { danglingCalls, envelopesOf, eventsOf } from './read-back.ts';

const task = 'chat/market';

interface Kill {
  readonly moment: string;
  /** The turn that never ends. */
  readonly slow: TurnName;
  readonly seen: RegExp;
  /** How many calls it interrupts; absent: that depends on how fast the kill is. */
  readonly interrupted?: number;
}

const kills: readonly Kill[] = [
  {
    moment: 'while the root makes up its first answer',
    slow: 'opening',
    seen: /message +from user/,
    interrupted: 0,
  },
  { moment: 'while it creates its agents', slow: 'closed', seen: /call +task/ },
  { moment: 'while Ann is asked', slow: 'annThinks', seen: /\(Bo\).*What do you sell/, interrupted: 1 },
  {
    moment: 'while the inner voice of Ann is asked, two calls deep',
    slow: 'inner',
    seen: /\(Inner\).*What shall I praise/,
    interrupted: 2,
  },
  {
    moment: 'between a result and the answer to it',
    slow: 'opened',
    seen: /\(agent_001\).*result +discuss/,
    interrupted: 0,
  },
  {
    moment: 'after the second message of the user',
    slow: 'closed',
    seen: /message +from system/,
    interrupted: 0,
  },
];

describe('a session whose process was killed', { concurrent: true }, () => {
  it.each(kills)('$moment continues to its end', async ({ slow, seen, interrupted }) => {
    using line = commandLine();
    await killWhen(line.cwd, ['chat', writeMarket(line.cwd, slow)], seen);
    const before = await eventsOf(line, task);

    writeMarket(line.cwd);
    const resumed = await line.hansard('chat', '--resume', task, '--quiet');
    expect(resumed.code).toBe(0);
    expect(resumed.out).toContain('The market is closed.');

    const after = await eventsOf(line, task);
    expect(after.slice(0, before.length)).toEqual(before);
    await expectWholeMarket(line);
    if (interrupted === undefined) return;
    expect(interruptedIn(after)).toHaveLength(interrupted);
    expect(resumed.err).toBe('');
  });

  it('shows the call that was interrupted, in its log and to the agent whose call it was', async () => {
    using line = commandLine();
    await killWhen(line.cwd, ['chat', writeMarket(line.cwd, 'bo')], /\(Bo\).*Plums, and nothing/);
    writeMarket(line.cwd);
    expect(await line.hansard('chat', '--resume', task, '--quiet')).toMatchObject({ code: 0 });

    await expectWholeMarket(line);
    expect(interruptedIn(await eventsOf(line, task))).toMatchObject([
      { agentId: 'agent_001', data: { tool: 'discuss', status: 'error' } },
    ]);
    const { out } = await line.hansard('perspective', task, '--agent', 'agent_001');
    expect(out).toMatch(/received +discuss.*interrupted: the session stopped/);
    expect((await line.hansard('show', task)).out).toMatch(/discuss.*error/);
  });

  it('can be killed again while it is resumed, in the SQLite store as well', async () => {
    using line = commandLine();
    writeFileSync(join(line.cwd, 'hansard.config.json'), '{ "store": "@hansard/store-sqlite" }');
    await killWhen(line.cwd, ['chat', writeMarket(line.cwd, 'inner')], /\(Inner\).*What shall I praise/);
    writeMarket(line.cwd, 'bo');
    await killWhen(line.cwd, ['chat', '--resume', task], /\(Bo\).*Plums, and nothing/);
    writeMarket(line.cwd);
    const last = await line.process('chat', '--resume', task);
    expect(last).toMatchObject({ code: 0, err: '' });
    await expectWholeMarket(line);
    expect(interruptedIn(await eventsOf(line, task))).toHaveLength(3);
    expect(existsSync(join(line.cwd, '.projects', 'hansard.sqlite'))).toBe(true);
  });

  it('resumes after a last record that was cut off, and reports the repair', async () => {
    using line = commandLine();
    await killWhen(line.cwd, ['chat', writeMarket(line.cwd, 'bo')], /\(Bo\).*Plums, and nothing/);
    const before = await eventsOf(line, task);
    const [log = ''] = globSync('.projects/chat/tasks/market/dispatches/*', { cwd: line.cwd });
    appendFileSync(join(line.cwd, log), '{"id":"01K0000000000000000000TORN","type":"agent:te');
    writeMarket(line.cwd);
    expect(await line.hansard('chat', '--resume', task, '--quiet')).toMatchObject({
      code: 0,
      err: expect.stringMatching(/repaired .*An append was interrupted/),
    });
    expect((await eventsOf(line, task)).slice(0, before.length)).toEqual(before);
    await expectWholeMarket(line);
  });
});

describe('a session that ended', () => {
  it('is left as it was said when it is resumed, and says that nothing was left', async () => {
    using line = commandLine();
    expect(await line.hansard('chat', writeMarket(line.cwd), '--quiet')).toMatchObject({ code: 0 });
    const said = (await line.hansard('dialog', task)).out;
    expect(resultOf(await eventsOf(line, task))).toBe('The market is closed.');

    expect(await line.hansard('chat', '--resume', task, '--quiet')).toMatchObject({
      code: 0,
      err: expect.stringContaining('There was nothing to answer'),
    });
    expect((await line.hansard('dialog', task)).out).toBe(said);
    await expectWholeMarket(line);
  });

  it('keeps its result when it is resumed and nothing was left', async () => {
    using line = commandLine();
    await line.hansard('chat', writeMarket(line.cwd), '--quiet');
    await line.hansard('chat', '--resume', task, '--quiet');
    expect(resultOf(await eventsOf(line, task))).toBe('The market is closed.');
  });

  it('resumes with a scenario that has more lines', async () => {
    using line = commandLine();
    const talk = {
      user: ['Hello.'],
      agents: { root: [{ when: { contains: 'Hello' }, say: 'Welcome.' }] },
    };
    expect(await line.hansard('chat', writeScenario(line.cwd, 'talk.yaml', talk), '--quiet')).toMatchObject({
      code: 0,
    });
    const longer = {
      user: ['Hello.', 'Goodbye.'],
      agents: { root: [...talk.agents.root, { when: { contains: 'Goodbye' }, say: 'Come again.' }] },
    };
    writeScenario(line.cwd, 'longer.yaml', longer);
    const resumed = await line.hansard('chat', 'longer.yaml', '--resume', 'chat/talk', '--json');
    expect(resumed.json()).toMatchObject([{ text: 'Come again.' }]);
    const rows = (await line.hansard('dialog', 'chat/talk', '--json')).json() as { text: string }[];
    expect(rows.map(({ text }) => text)).toEqual(['Hello.', 'Welcome.', 'Goodbye.', 'Come again.']);
  });
});

describe('a session that is typed', () => {
  it('answers each line, and is resumed with what it had not answered', async () => {
    using line = commandLine();
    const root = [{ say: 'Welcome.' }, { say: 'I have plums.' }, { error: 'The model is on strike.' }];
    writeScenario(line.cwd, 'talk.yaml', { user: ['Hello.'], agents: { root } });
    const args = [...commandFromSource, 'chat', 'talk.yaml', '-i', '--json'];
    const input = 'What do you have?\n\nHow many?\n';
    const { stdout, status } = spawnSync(process.execPath, args, {
      cwd: line.cwd,
      input,
      encoding: 'utf8',
      timeout: 15_000,
    });
    expect(status).toBe(1);
    const said = stdout
      .trimEnd()
      .split('\n')
      .map((row) => JSON.parse(row).text);
    expect(said).toEqual(['Welcome.', 'I have plums.']);

    const mended = [...root.slice(0, 2), { say: 'Seven.' }];
    writeScenario(line.cwd, 'talk.yaml', { user: ['Hello.'], agents: { root: mended } });
    expect((await line.hansard('chat', '--resume', 'chat/talk', '--json')).json()).toMatchObject([
      { text: 'Seven.' },
    ]);
    const rows = (await line.hansard('dialog', 'chat/talk', '--json')).json() as { text: string }[];
    expect(rows.map(({ text }) => text)).toEqual([
      'Hello.',
      'Welcome.',
      'What do you have?',
      'I have plums.',
      'How many?',
      'Seven.',
    ]);
  });
});

describe('a session that is running', () => {
  it('is not resumed beside its process, and a model that never answers can be stopped and asked again', async () => {
    using line = commandLine();
    const asked = /\(Inner\).*What shall I praise/;
    const ended = await signalWhen(
      line.cwd,
      ['chat', writeMarket(line.cwd, 'inner')],
      asked,
      'SIGINT',
      async () => {
        const beside = await line.hansard('chat', '--resume', task, '--quiet');
        expect(beside).toMatchObject({ code: 1, err: expect.stringMatching(/STORE_LOCKED/) });
      },
    );
    expect(ended).toMatchObject({ code: 1, signal: null });
    const stopped = await eventsOf(line, task);
    expect(stopped.map(({ type }) => type)).toContain('harness:abort');
    expect(danglingCalls(stopped)).toEqual([]);

    writeMarket(line.cwd);
    expect(await line.hansard('chat', '--resume', task, '--quiet')).toMatchObject({ code: 0 });
    await expectWholeMarket(line);
  });
});

describe.each(['SIGINT', 'SIGTERM'] as const)('a session that was stopped with %s', (signal) => {
  let line: CommandLine;
  let output = '';
  beforeAll(async () => {
    line = commandLine();
    const args = ['chat', writeMarket(line.cwd, 'bo')];
    ({ output } = await signalWhen(line.cwd, args, /\(Bo\).*Plums, and nothing/, signal));
  });
  afterAll(() => line[Symbol.dispose]());

  it('has closed the call that was open, and says who stopped it', async () => {
    const events = await eventsOf(line, task);
    expect(events.map(({ type }) => type)).toContain('harness:abort');
    expect(danglingCalls(events)).toEqual([]);
  });

  it('is reported as stopped, not as a fault of Hansard', () => {
    expect(output).not.toMatch(/unexpected|fault of Hansard/);
    expect(output).toMatch(new RegExp(`hansard chat --resume ${task}/\\w{26}\``));
  });

  it('is no longer running: its envelope says aborted', async () => {
    expect(await envelopesOf(line, task)).toMatchObject([{ status: 'aborted' }]);
  });
});

/** The market has ended: all of it was said, nothing is open, and the log adds up. */
async function expectWholeMarket(line: CommandLine): Promise<void> {
  const rows = (await line.hansard('dialog', task, '--json')).json() as { text: string }[];
  expect(rows.map(({ text }) => text)).toEqual(expect.arrayContaining(marketLines));
  const events = await eventsOf(line, task);
  expect(danglingCalls(events)).toEqual([]);
  const index = createLogIndex(events);
  expect(index.diagnostics).toEqual([]);
  expect([...index.agents.values()].map(({ name }) => name).sort()).toEqual(['Ann', 'Bo', 'Inner', null]);
  expect(await envelopesOf(line, task)).toMatchObject([{ status: 'completed' }]);
}

function interruptedIn(events: readonly CapturedEvent[]): CapturedEvent[] {
  return events.filter(
    ({ type, data }) => type === 'agent:tool_result' && String(data.error).startsWith('interrupted'),
  );
}

function resultOf(events: readonly CapturedEvent[]): unknown {
  return events.findLast(({ type }) => type === 'session:complete')?.data.result;
}
