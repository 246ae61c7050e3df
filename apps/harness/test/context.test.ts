import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, newEvent } from '@hansard/events';
import { createTokenCounter } from '@hansard/prompt/tokens';
import { createRedactor } from '@hansard/redaction';
import { openSession } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { appendEvents, createDispatch, updateDispatch } from '@hansard/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

const task = 'cafe/menu';
const taskDir = 'cafe/tasks/menu';

describe('hansard context', () => {
  let line: CommandLine;
  const given: unknown[] = [];
  let calls: readonly string[] = [];

  beforeAll(async () => {
    line = commandLine();
    const store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
    const session = await openSession({
      store,
      taskDir,
      dispatchId: 'D1',
      systemPrompt: 'Read the menu aloud.',
      context: { name: 'faded', budget: 600 },
      tokens: await createTokenCounter(),
      model: {
        contract: 1,
        generate: ({ messages }) => {
          given.push(messages);
          const text = `Tea, coffee, rye. `.repeat(10);
          return { text, toolCalls: [], model: 'reader-1', usage: { inputTokens: 9, outputTokens: 9 } };
        },
      },
    });
    const { root } = session;
    for (let page = 1; page <= 12; page += 1) {
      await root.harken(`Page ${page}, please.`);
      await root.response();
    }
    const events = await store.getDispatchEvents(taskDir, 'D1');
    calls = events.flatMap(({ type, id }) => (type === 'agent:inference' ? [id] : []));
    await session.complete('completed', 'All twelve pages.');
    await createDispatch(store, taskDir, {
      dispatchId: 'N1',
      role: 'waiter',
      botId: 'bot-7',
      fidelity: 'narrative',
    });
    await appendEvents(store, taskDir, 'N1', [newEvent('agent:text', { text: 'Served.' })]);
    await updateDispatch(store, taskDir, 'N1', { status: 'completed', structuredResult: { tables: 2 } });
    await store.close();
  });
  afterAll(() => line[Symbol.dispose]());

  it('takes a call by any address of it or of its answer, and by a time', async () => {
    const events = (await line.hansard('show', `${task}/D1`, '--raw', '--json')).json() as CapturedEvent[];
    const called = async (address: string) => {
      const answer = await line.hansard('context', `${task}/D1`, address, '--json');
      return (answer.json() as { inference: string }[])[0]?.inference;
    };
    const id = calls[5] ?? '';
    const position = events.findIndex((event) => event.id === id);
    const answer = events.findIndex(
      ({ type, messageId }) => type === 'agent:text' && messageId === events[position]?.messageId,
    );
    expect(answer).toBeGreaterThanOrEqual(0);
    for (const address of [id, id.slice(-12), String(position), String(answer)])
      expect([address, await called(address)]).toEqual([address, id]);
    expect(await called('@2999-01-01')).toBe(calls.at(-1));
    const message = events.findIndex(({ type }) => type === 'user:message');
    const refused = await line.hansard('context', `${task}/D1`, String(message));
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining(`There is no model call ${message}.`),
    ]);
  });

  it('prints the context of the latest model call, and its policy, detail and tokens', async () => {
    const { code, out, err } = await line.hansard('context', `${task}/D1`);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`call     ${calls.at(-1)} of agent_001\npolicy   faded, budget 600\n`);
    expect(out).toMatch(/prompt {3}\d+ messages, \d+ tokens \(gpt-tokenizer\/o200k_base\)/);
    expect(out).toContain('── system\nRead the menu aloud.');
    expect(out).toContain('── user\nPage 12, please.');
    expect(out).not.toContain('Page 1, please.');
  });

  it('gives the exact messages of each call to programs', async () => {
    for (const [index, call] of calls.entries()) {
      const [answer] = (await line.hansard('context', `${task}/D1`, call, '--json')).json();
      expect(answer).toMatchObject({ inference: call, messages: given[index] });
    }
  });

  it('verifies that it renders again to the same bytes', async () => {
    const { code, out } = await line.hansard('context', `${task}/D1`, '--verify');
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Identical: .*sha256:/),
    });
    const json = await line.hansard('context', `${task}/D1`, calls[3] ?? '', '--verify', '--json');
    expect(json.json()).toEqual([{ inference: calls[3], isSame: true, differences: [] }]);
  });

  it('says so and exits 1 where the log was changed', async () => {
    const path = join(line.cwd, '.projects', 'cafe/tasks/menu/dispatches/D1.json');
    const original = readFileSync(path, 'utf8');
    const store = openJsonFileStore({ root: join(line.cwd, '.projects') });
    const envelope = store.getDispatchEnvelope('cafe/tasks/menu', 'D1');
    const events = JSON.stringify(store.getDispatchEvents('cafe/tasks/menu', 'D1'));
    store.deleteDispatch('cafe/tasks/menu', 'D1');
    if (envelope !== null) store.createDispatch('cafe/tasks/menu', envelope);
    store.claimDispatch('cafe/tasks/menu', 'D1');
    const changed = events.replace('Read the menu aloud.', 'Read the menu alive.');
    store.appendEvents('cafe/tasks/menu', 'D1', JSON.parse(changed));
    store.close();
    try {
      const { code, err } = await line.hansard('context', `${task}/D1`, '--verify');
      expect({ code, err }).toMatchObject({
        code: 1,
        err: expect.stringContaining('hash: recorded sha256:'),
      });
      const shown = await line.hansard('context', `${task}/D1`);
      expect(shown.err).toContain('this differs from the recorded context');
    } finally {
      writeFileSync(path, original);
    }
  });

  it('shows what another policy would have shown', async () => {
    const { out } = await line.hansard('context', `${task}/D1`, 'latest', '--policy', 'full');
    expect(out).toContain('Page 1, please.');
    expect(out).toContain('policy   full\n');
    const small = await line.hansard('context', `${task}/D1`, 'latest', '--policy', 'faded:5');
    expect(small).toMatchObject({
      code: 1,
      err: expect.stringContaining('CONTEXT_BUDGET_TOO_SMALL: The budget of 5 tokens'),
    });
  });

  it.each([
    [['D1', 'nothing'], 1, 'D1 has no event or message nothing.'],
    [['D1', '--agent', 'nobody'], 1, 'There is no agent "nobody".'],
    [['N1'], 1, 'recorded as a narrative'],
    [['D1', '--policy', 'some'], 2, 'write full, last:MESSAGES'],
    [['D1', '--policy', 'full', '--verify'], 2, 'can not be combined with --policy'],
  ] as const)('refuses %j', async (args, code, message) => {
    expect(await line.hansard('context', `${task}/${args[0]}`, ...args.slice(1))).toMatchObject({
      code,
      err: expect.stringContaining(message),
    });
  });

  it('prints the outcomes of earlier dispatches, from their envelopes', async () => {
    const { out } = await line.hansard('context', task, '--history');
    expect(out).toContain('The outcomes of 2 earlier dispatches of this task');
    expect(out).toMatch(/N1: waiter, bot bot-7, completed.*\n\{"tables":2\}/);
    const before = await line.hansard('context', `${task}/D1`, '--history');
    expect(before).toMatchObject({ out: '', err: expect.stringContaining('No session') });
  });

  it('prints only the outcomes of sessions with a status', async () => {
    const { out } = await line.hansard('context', task, '--history', '--status', 'completed');
    expect(out).toContain('N1: waiter');
    const none = await line.hansard('context', task, '--history', '--status', 'crashed,aborted');
    expect(none.out).not.toContain('N1: waiter');
    const wrong = await line.hansard('context', task, '--history', '--status', 'done');
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('running, completed')]);
  });

  it('has the events of one bot beside it', async () => {
    const { out, err } = await line.hansard('show', task, '--raw', '--bot', 'bot-7');
    expect(out.trimEnd().split('\n')).toEqual([expect.stringContaining('Served.')]);
    expect(err).toContain('bot-7: 1 session');
    const nobody = await line.hansard('show', task, '--raw', '--bot', 'bot-9');
    expect(nobody).toMatchObject({ code: 1, err: expect.stringContaining('Its bots: bot-7.') });
  });
});

describe('the request that hansard context prints', () => {
  const secret =
    'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-abcdefghijklmnopqrstuvw-AA';
  const definition = {
    name: 'order',
    description: `Orders with the key ${secret}.`,
    inputSchema: { type: 'object', properties: { dish: { type: 'string' } } },
  };
  const options = (root: string): Parameters<typeof openSession>[0] => ({
    store: openDispatchStore(openJsonFileStore({ root }), { redact: createRedactor() }),
    taskDir,
    dispatchId: 'D1',
    systemPrompt: 'Serve.',
    tools: [
      { contract: 1, listTools: () => [definition], callTool: () => ({ status: 'completed', text: '' }) },
    ],
    model: {
      contract: 1,
      generate: () => ({
        ...{ text: 'Served.', toolCalls: [], model: 'waiter-1', usage: { inputTokens: 9, outputTokens: 9 } },
        sent: { parameters: { temperature: 0.2, topP: 1 } },
      }),
    },
  });

  it('is whole, without the secret of a tool, and recorded once also after the session is loaded', async () => {
    using line = commandLine();
    const root = join(line.cwd, '.projects');
    for (let life = 0; life < 3; life += 1) {
      const session = await openSession(options(root));
      await session.root.harken('Soup, please.');
      await session.root.response();
      await session.close();
    }
    const { out } = await line.hansard('context', `${task}/D1`);
    expect(out).toMatch(/\ntools {4}1: order, with texts left out or redacted, sha256:[0-9a-f]{64}\n/);
    expect(out).toMatch(/\nparams {3}\{"temperature":0.2,"topP":1\}, sha256:[0-9a-f]{64}\n/);
    expect(out).toMatch(
      /── tool order\nOrders with the key .*REDACTED.*\ninput \{"type":"object","properties"/i,
    );
    expect(out).not.toContain(secret);
    const [row] = (await line.hansard('context', `${task}/D1`, '--json')).json() as { request: unknown }[];
    expect(row?.request).toMatchObject({
      tools: { basis: 'recorded', isWhole: false, value: [{ name: 'order' }] },
      parameters: { basis: 'recorded', isWhole: true, value: { temperature: 0.2, topP: 1 } },
    });
    const log = (await line.hansard('show', `${task}/D1`, '--raw', '--json')).json() as CapturedEvent[];
    expect(log.filter(({ type }) => type === 'request:stored')).toHaveLength(2);
    const { out: shown } = await line.hansard('show', `${task}/D1`);
    expect(shown.match(/given to the model: .*/g)).toEqual([
      'given to the model: 1 tool: order, temperature 0.2, topP 1',
    ]);
    expect(shown).not.toContain('not recorded');
    expect(JSON.stringify(log)).not.toContain(secret);
  });
});
