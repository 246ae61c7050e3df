import { isEvent, newEvent } from '@hansard/events';
import type { HookProvider } from '@hansard/provider';
import { LoggedString } from '@hansard/session';
import { describe, expect, it } from 'vitest';
import { find, prepare } from './prepare.ts';
import { answers, calls, hostOf, model, says, tools } from './scripted.ts';

const line = (text: string) => new LoggedString(text, 'e1');

/** Gives a line to each call of the host of a tool that takes a text. */
const relay = tools({
  relay: async (call) => {
    const host = hostOf(call);
    const { agentId } = await host.createAgent({ name: 'Jill', systemPrompt: line('host prompt') });
    await host.logPieceOfText(line('host piece'));
    await host.deliver(agentId, { text: line('host delivery') });
    await call.observe(line('host output'));
    return { status: 'completed', text: line('tool answer') };
  },
});

/** Gives a line to each call of the host of a hook, and keeps the texts that it is asked about. */
function echo(seen: unknown[]): HookProvider {
  return {
    contract: 1,
    name: 'Echo',
    decide: (question) => {
      if (question.on === 'delivery') seen.push(question.text);
      return question.on === 'delivery' && question.text === 'inform'
        ? { decision: 'alter', text: line('altered') }
        : { decision: 'allow' };
    },
    async observe({ event }, host) {
      if (event.data.text !== 'harken') return;
      await host.inform(event.agentId, line('hook inform'));
      const own = await host.agents?.createAgent({ name: 'Echo', systemPrompt: line('hook prompt') });
      await host.agents?.harken(own?.agentId ?? '', line('hook harken'));
    },
  };
}

/** What each of them, and each call of the session and its agents, is given. */
const recordedTexts = [
  'root prompt',
  'given',
  'peer prompt',
  'harken',
  'hook inform',
  'hook prompt',
  'hook harken',
  'host prompt',
  'host piece',
  'host delivery',
  'host output',
  'tool answer',
  'altered',
  'observed',
  'summary',
  'entry',
  'piece',
  'output',
  'own event',
  'end reason',
  'missed',
  'revive reason',
  'result',
];

describe('a LoggedString', () => {
  it('is a string for code that only needs its text', () => {
    const line = new LoggedString('Hello', 'e1');
    expect(`${line}, ${line.toUpperCase()}`).toBe('Hello, HELLO');
    expect(String(line)).toBe('Hello');
    expect(JSON.stringify({ line })).toBe('{"line":"Hello"}');
    expect(line.length).toBe(5);
  });

  it('has the text as a primitive string, for what compares', () => {
    const line = new LoggedString('Hello', 'e1');
    expect(line.text).toBe('Hello');
    expect([line].join()).toBe('Hello');
    expect(structuredClone({ line: line.text })).toEqual({ line: 'Hello' });
  });

  it.each([
    ['an answer', (said: LoggedString) => said],
    ['an answer in other words', (said: LoggedString) => said.reworded('[Root]: Done.')],
    [
      'a copy that another version of the package made',
      (said: LoggedString) => Object.assign(new String(said), { messageId: 'e1' }),
    ],
  ])('can be %s as the result of a session', async (_, resultOf) => {
    const { create, events } = prepare();
    const { root, session } = await create({ model: answers(says('Done.')) });
    await root.harken('Go');
    const result = resultOf(await root.response()) as LoggedString;
    await session.complete('completed', result);
    expect(find(await events(), 'session:complete').data.result).toBe(String(result));
  });

  it('keeps its substance in other words', () => {
    const quoted = new LoggedString('Hello', 'e1').reworded('[Jack]: Hello');
    expect(String(quoted)).toBe('[Jack]: Hello');
    expect(quoted.messageId).toBe('e1');
  });

  it('gives the substance of what an agent hears', async () => {
    const { create, events } = prepare();
    const { root } = await create();
    const messageId = await root.harken(new LoggedString('[Jack]: Hello', 'e1'));
    expect(find(await events(), 'user:message')).toMatchObject({ id: messageId, substance: 'e1' });
  });

  it('is recorded as its text by every API that takes a text, and reaches models and hooks as a string', async () => {
    const seen: unknown[] = [];
    const { create, events, envelope } = prepare();
    const { root, session } = await create({
      tools: [relay],
      hooks: [echo(seen)],
      systemPrompt: line('root prompt'),
      initPrompt: [{ role: 'user', content: line('given') as unknown as string }],
      model: model(({ messages }) => {
        for (const { text } of messages) seen.push(text);
        return messages.some(({ role }) => role === 'tool') ? says('said') : calls('relay');
      }),
    });
    const ann = await session.createAgent({ name: 'Ann', systemPrompt: line('peer prompt') });
    const asked = await root.harken(line('harken'));
    await root.response();
    await root.inform(ann, line('inform'));
    await root.observe([line('observed')]);
    await root.compact(line('summary'));
    session.logTranscriptEntry(ann.agentId, { role: 'user', content: line('entry') as unknown as string });
    session.logPieceOfText(root.agentId, line('piece'), asked);
    await root.observe([line('output')]);
    await session.append([
      newEvent('game:said' as 'agent:text', { text: line('own event') as unknown as string }),
    ]);
    await session.terminateAgent(ann.agentId, line('end reason') as unknown as string);
    await expect(ann.harken(line('missed'))).rejects.toThrow();
    await session.revive(ann, line('revive reason') as unknown as string);
    await session.complete('completed', line('result'));

    expect(seen.filter((text) => typeof text !== 'string')).toEqual([]);
    const log = JSON.stringify(await events());
    expect(recordedTexts.filter((text) => !log.includes(`"${text}"`))).toEqual([]);
    expect((await events()).filter((event) => !isEvent(event))).toEqual([]);
    expect(find(await events(), 'agent:tool_result').substance).toBe('e1');
    expect(find(await events(), 'agent:output', {}).data).toMatchObject({
      parts: [{ kind: 'text', text: 'host output' }],
    });
    expect(await envelope()).toMatchObject({ status: 'completed' });
  });

  it('is not what `===`, a key or a switch compares: its text is', () => {
    const line = new LoggedString('Hello', 'e1');
    // See docs/decisions/0024: an object is never a primitive string.
    expect((line as unknown) === 'Hello').toBe(false);
    expect(new Map([['Hello', 1]]).get(line.text)).toBe(1);
    expect(new Map<unknown, number>([['Hello', 1]]).has(line)).toBe(false);
    expect(typeof line.text).toBe('string');
    expect(line.text === 'Hello').toBe(true);
  });
});

it('a tool that delivers a line copied field by field gets an error, and one that delivers the line gets the id of the message', async () => {
  const { create, events } = prepare();
  const outcomes: unknown[] = [];
  const { session, root } = await create({
    tools: [
      tools({
        tell: async (call) => {
          const host = hostOf(call);
          const { agentId } = await host.createAgent({ name: 'Jill' });
          const said = await host.logPieceOfText('Hello');
          outcomes.push(await host.deliver(agentId, { text: said }));
          // @ts-expect-error
          await host.deliver(agentId, { ...said });
          return { status: 'completed', text: 'done' };
        },
      }),
    ],
    model: answers(calls('tell'), says('said')),
  });
  await root.harken('Tell Jill.');
  await root.response();
  const log = await events();
  expect(find(log, 'agent:tool_result').data).toMatchObject({
    status: 'error',
    error: expect.stringContaining('text'),
  });
  const heard = log.find(({ type, agentId }) => type === 'user:message' && agentId === 'agent_002');
  expect(outcomes).toEqual([{ status: 'delivered', text: 'Hello', messageId: heard?.id }]);
  await session.close();
});
