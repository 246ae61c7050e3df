import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { openSession } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';
import { CopiedSessions, recordsOf } from './copies/copied-sessions.ts';

let cli: CommandLine;

function call(id: string, command: string, isFailed: boolean): NewEvent[] {
  const fields = { toolCallId: id, tool: 'Bash', target: command, metadata: {} };
  return [
    newEvent('agent:tool_call', { ...fields, input: { command } }),
    newEvent(
      'agent:tool_result',
      isFailed
        ? { ...fields, status: 'error', error: 'no' }
        : { ...fields, status: 'completed', output: 'yes' },
    ),
  ];
}

beforeAll(async () => {
  cli = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
  for (const [taskDir, dispatchId, isFailed] of [
    ['lab/tasks/one', 'first', false],
    ['lab/tasks/one', 'again', false],
    ['lab/tasks/two', 'fails', true],
  ] as const) {
    await using dispatch = await store.beginDispatch(taskDir, { role: 'dev', dispatchId, fidelity: 'full' });
    await dispatch.append([
      newEvent('user:message', { text: 'Build it.', source: { kind: 'user' } }),
      { type: 'session:status', data: { at: dispatchId } },
      ...call('c1', 'make', false),
      ...call('c2', 'make test', isFailed),
      ...(isFailed ? call('c3', 'make test', false) : []),
      newEvent('session:complete', {
        status: 'completed',
        result: isFailed ? 'Built at last.' : 'Built.',
        costUsd: isFailed ? 0.3 : 0.2,
        usage: { inputTokens: 100, outputTokens: isFailed ? 30 : 20 },
      }),
    ]);
    await dispatch.end({ status: 'completed' });
  }
  await store.close();
});

afterAll(() => cli?.[Symbol.dispose]());

describe('hansard compare', () => {
  it('names the head that a fork repeats in the words of show, and compares from there', async () => {
    const folder = join(cli.cwd, 'claude');
    mkdirSync(folder);
    const [origin, fork] = new CopiedSessions(1).sessions;
    for (const made of [origin, fork])
      if (made !== undefined)
        writeFileSync(
          join(folder, `${made.id}.jsonl`),
          recordsOf(made)
            .map((record) => `${JSON.stringify(record)}\n`)
            .join(''),
        );
    await cli.hansard('import', folder, '--task', 'lab/copies');
    const listed = (await cli.hansard('ls', 'lab/copies', '--json')).out.trim().split('\n');
    const idOf = (id = '') =>
      listed.map((line) => JSON.parse(line)).find(({ source }) => source.files[0].name.startsWith(id))
        ?.dispatchId;
    const [from, of] = [idOf(origin?.id), idOf(fork?.id)];
    const shown = (await cli.hansard('show', of)).out;
    const [head] = /the first [\d,]+ events are those of \w+/.exec(shown) ?? ['no head'];
    const { out } = await cli.hansard('compare', of, from);
    expect(out).toContain(`imported ${of.slice(-8)}: ${head}.\nAfter these, they differ at once in text:\n`);
    const turned = await cli.hansard('compare', from, of, '--json');
    expect(JSON.parse(turned.out)).toMatchObject({ head: { in: 'other' }, firstDifference: { same: 0 } });
    expect((await cli.hansard('compare', of, of)).out).toContain('Both say and do the same.');
  });

  it('finds no difference between two dispatches that say and do the same', async () => {
    const { code, out, err } = await cli.hansard('compare', 'lab/one/first', 'lab/one/again');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('The results are the same.\n\nBoth say and do the same.\n');
    expect(out).not.toContain('differs');
  });

  it('shows figures, tools, results and the first difference, also across tasks', async () => {
    const { code, out } = await cli.hansard('compare', 'lab/one/first', 'lab/two/fails');
    expect(code).toBe(0);
    const lines = out.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, '|'));
    for (const line of [
      '|dev first|dev fails|difference'.slice(1),
      'task|lab/one|lab/two|differs',
      'events|7|9|+2 (+29 %)',
      'tokens out|20|30|+10 (+50 %)',
      'cost|$0.20|$0.30|+$0.10 (+50 %)',
      'calls of Bash|2|3|+1 (+50 %)',
      'failed|0|1|+1',
    ])
      expect(lines).toContain(line);
    expect(out).toContain('The results differ:\n  dev first: Built.\n  dev fails: Built at last.\n');
    expect(out).toContain(
      'The first 4 things that they say and do are the same, then they differ in status:\n  dev first: 5  ',
    );
  });

  it('prints the same as one JSON document', async () => {
    const { out } = await cli.hansard('compare', 'lab/one/first', 'lab/two/fails', '--json');
    expect(JSON.parse(out)).toMatchObject({
      one: {
        dispatchId: 'first',
        events: 7,
        costUsd: 0.2,
        tools: [{ tool: 'Bash', toolCalls: 2, failedToolCalls: 0 }],
      },
      other: { dispatchId: 'fails', events: 9, outputTokens: 30, result: 'Built at last.' },
      isResultEqual: false,
      firstDifference: { same: 4, field: 'status', one: { position: 5 }, other: { position: 5 } },
    });
  });
});

describe('two sessions whose models were given other requests', () => {
  /** The tools and the temperature of each call. */
  type Calls = readonly (readonly [
    tools: readonly string[],
    parameters: Record<string, number> | undefined,
  ])[];
  const definition = (word: string) => {
    const [name = '', version] = word.split('@');
    return { name, description: `Version ${version ?? 1}.`, inputSchema: { type: 'object' } };
  };

  async function sessionOf(store: DispatchStore, dispatchId: string, calls: Calls): Promise<void> {
    let call = 0;
    const generate = () => {
      const [tools, parameters] = calls[call++] ?? [[], undefined];
      const sent = { tools: tools.map(definition), ...(parameters !== undefined && { parameters }) };
      return { text: 'Yes.', toolCalls: [], model: 'm', usage: { inputTokens: 1, outputTokens: 1 }, sent };
    };
    const session = await openSession({
      store,
      taskDir: 'lab/tasks/asked',
      dispatchId,
      model: { contract: 1, generate },
    });
    for (const _ of calls) {
      await session.root.harken('Go on.');
      await session.root.response();
    }
    await session.close();
  }

  it('are distinguished by the first call with other tools and the first one with other parameters', async () => {
    using line = commandLine();
    const store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
    const cold = { temperature: 0, topP: 1 };
    await sessionOf(store, 'one', [
      [['look'], cold],
      [['look', 'take'], cold],
      [['look'], undefined],
    ]);
    await sessionOf(store, 'two', [
      [['look'], cold],
      [['look@2', 'give'], { temperature: 1 }],
      [[], cold],
    ]);
    await sessionOf(store, 'same', [
      [['look'], { topP: 1, temperature: 0 }],
      [['take', 'look'], cold],
      [['look'], cold],
    ]);
    await store.close();
    const { out, code } = await line.hansard('compare', 'asked/one', 'asked/two');
    expect(code).toBe(0);
    expect(out).toContain('Both say and do the same.');
    expect(out).toMatch(
      /\nThe tools that models were given differ at call 2 of an agent:\n.*one: \d+ {2}only here take, another definition of look\n.*two: \d+ {2}only here give, another definition of look\n/,
    );
    expect(out).toMatch(
      /\nThe parameters that models were given differ at call 2 of an agent:\n.*one: \d+ {2}only here topP 1, temperature 0\n.*two: \d+ {2}temperature 1\n/,
    );
    const ordered = await line.hansard('compare', 'asked/one', 'asked/same');
    expect(ordered.out).toMatch(
      /differ at call 2 of an agent:\n.*the same in another order\n.*the same in another order\n$/,
    );
    expect(ordered.out).not.toContain('The parameters');
    const [document] = (await line.hansard('compare', 'asked/one', 'asked/two', '--json')).json() as {
      requestDifferences: { part: string; call: number; onlyOther: string[] }[];
    }[];
    expect(document?.requestDifferences.map(({ part, call, onlyOther }) => [part, call, onlyOther])).toEqual([
      ['tools', 2, ['give']],
      ['parameters', 2, []],
    ]);
  });
});
