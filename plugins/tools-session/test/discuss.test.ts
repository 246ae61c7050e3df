import type { Delivery } from '@hansard/provider';
import { LoggedString } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { call } from './call.ts';
import { agent, fakeHost } from './fake-host.ts';

const both = () => [agent('Jack'), agent('Jill')];

describe('discuss', () => {
  it('gives the prompt to all once, lets each speak in turn, and lets the others hear it under their name', async () => {
    const host = fakeHost([...both(), agent('Waiter')], { says: { Jack: ['Hello.'], Jill: ['Hi Jack.'] } });
    const outcome = await call(
      'discuss',
      { prompt: 'You meet.', speakers: ['Jack', 'Jill'], listeners: ['Waiter'] },
      host,
    );
    expect(host.happened).toEqual([
      'piece: You meet.',
      'to Jack: You meet.',
      'to Jill: You meet.',
      'to Waiter: You meet.',
      'Jack says: Hello.',
      'to Jill: [Jack]: Hello.',
      'to Waiter: [Jack]: Hello.',
      'Jill says: Hi Jack.',
      'to Jack: [Jill]: Hi Jack.',
      'to Waiter: [Jill]: Hi Jack.',
    ]);
    expect(outcome).toMatchObject({
      status: 'completed',
      text: '[Jack]: Hello.\n[Jill]: Hi Jack.',
      madeFrom: ['Jack_1', 'Jill_1'],
    });
  });

  it('says of each delivery whose words it carries on, and who said them', async () => {
    const host = fakeHost(both());
    await call('discuss', { prompt: 'You meet.', speakers: ['Jack', 'Jill'] }, host);
    expect(
      host.deliveries.map(({ to, delivery: { substance, from } }) => `${to} ${substance} of ${from}`),
    ).toEqual([
      'agent_Jack piece_1 of agent_root',
      'agent_Jill piece_1 of agent_root',
      'agent_Jill Jack_1 of agent_Jack',
      'agent_Jack Jill_1 of agent_Jill',
    ]);
  });

  it('gives back the bare words of one speaker, as made from that utterance', async () => {
    const host = fakeHost(both(), { says: { Jack: ['Hello.'] } });
    expect(await call('discuss', { prompt: 'Speak.', speakers: ['Jack'] }, host)).toMatchObject({
      text: 'Hello.',
      madeFrom: ['Jack_1'],
    });
  });

  it('continues for several rounds, and the result is made from all of them', async () => {
    const host = fakeHost(both());
    const outcome = await call('discuss', { speakers: ['Jack', 'Jill'], rounds: 2 }, host);
    expect(outcome.text).toBe('[Jack]: Jack 1\n[Jill]: Jill 1\n[Jack]: Jack 2\n[Jill]: Jill 2');
    expect(outcome.madeFrom).toEqual(['Jack_1', 'Jill_1', 'Jack_2', 'Jill_2']);
  });

  it('records no piece of text where there is no prompt', async () => {
    const host = fakeHost(both());
    await call('discuss', { speakers: ['Jack'] }, host);
    expect(host.happened).toEqual(['Jack says: Jack 1']);
  });

  it('delivers to each agent once, however often and by whichever name it is listed', async () => {
    const host = fakeHost(both());
    await call(
      'discuss',
      { prompt: 'You meet.', speakers: ['Jack', 'agent_Jack'], listeners: ['Jill', 'Jack'] },
      host,
    );
    expect(host.happened).toEqual([
      'piece: You meet.',
      'to Jack: You meet.',
      'to Jill: You meet.',
      'Jack says: Jack 1',
      'to Jill: [Jack]: Jack 1',
    ]);
  });

  it('puts the name of the caller before a prompt to agents that are not its children', async () => {
    const inner = agent('Inner', { parentAgentId: 'agent_Jill' });
    const host = fakeHost([...both(), inner], { callerName: 'Jill' });
    await call('discuss', { prompt: 'And you?', speakers: ['Jack'], listeners: ['Inner'] }, host);
    expect(host.happened.slice(1, 3)).toEqual(['to Jack: [Jill]: And you?', 'to Inner: And you?']);
  });

  it('reports in the result which agent a text did not reach, and why', async () => {
    const host = fakeHost(both(), { denied: { Jill: 'Jill is asleep.' } });
    const outcome = await call('discuss', { speakers: ['Jack'], listeners: ['Jill'] }, host);
    expect(outcome).toMatchObject({
      status: 'completed',
      text: 'Jack 1\nNot delivered to Jill: Jill is asleep.',
      madeFrom: ['Jack_1'],
    });
  });

  it('keeps what the others said where one speaker fails, and says who failed and why', async () => {
    const host = fakeHost([...both(), agent('Joe')]);
    const failing = {
      ...host,
      respond: (agentId: string) =>
        agentId === 'agent_Jill'
          ? Promise.reject(new Error('Its model is overloaded.'))
          : host.respond(agentId),
    };
    const outcome = await call('discuss', { speakers: ['Jack', 'Jill', 'Joe'] }, failing);
    expect(outcome).toMatchObject({
      status: 'completed',
      text: '[Jack]: Jack 1\n[Joe]: Joe 1\nJill failed to speak: Its model is overloaded.',
      madeFrom: ['Jack_1', 'Joe_1'],
      metadata: { failed: ['agent_Jill'] },
    });
    expect(host.happened).toContain('to Jill: [Joe]: Joe 1');
  });

  it('asks a speaker that failed again in the next round', async () => {
    const host = fakeHost(both());
    let asked = 0;
    const failing = {
      ...host,
      respond: (agentId: string) => {
        asked += 1;
        return asked === 1 ? Promise.reject(new Error('Its model is overloaded.')) : host.respond(agentId);
      },
    };
    const outcome = await call('discuss', { speakers: ['Jack', 'Jill'], rounds: 2 }, failing);
    expect(outcome.text).toBe(
      '[Jill]: Jill 1\n[Jack]: Jack 1\n[Jill]: Jill 2\nJack failed to speak in round 1: Its model is overloaded.',
    );
  });

  it('is an error that names every speaker where nobody said anything', async () => {
    const host = fakeHost(both(), { respond: () => Promise.reject(new Error('No model.')) });
    expect(await call('discuss', { speakers: ['Jack', 'Jill'] }, host)).toMatchObject({
      status: 'error',
      text: 'Jack failed to speak: No model.\nJill failed to speak: No model.',
      metadata: { failed: ['agent_Jack', 'agent_Jill'] },
    });
  });

  it('keeps what was said where a listener can receive nothing any more', async () => {
    const host = fakeHost([...both(), agent('Waiter')]);
    const gone = {
      ...host,
      deliver: (to: string, delivery: Delivery) =>
        to === 'agent_Waiter' ? Promise.reject(new Error('It was terminated.')) : host.deliver(to, delivery),
    };
    const outcome = await call('discuss', { speakers: ['Jack', 'Jill'], listeners: ['Waiter'] }, gone);
    expect(outcome).toMatchObject({ status: 'completed', madeFrom: ['Jack_1', 'Jill_1'] });
    expect(outcome.text).toContain(
      '[Jack]: Jack 1\n[Jill]: Jill 1\nNot delivered to Waiter: It was terminated.',
    );
  });

  it('says which agents there are when it is given a name that none has, before anything is said', async () => {
    const host = fakeHost(both());
    expect(
      await call('discuss', { prompt: 'You meet.', speakers: ['Jack'], listeners: ['Joe'] }, host),
    ).toEqual({ status: 'error', text: 'There is no agent Joe. There are: Jack, Jill.' });
    expect(host.happened).toEqual([]);
  });

  it('says so when there is nobody to speak with', async () => {
    expect(await call('discuss', { speakers: ['Joe'] }, fakeHost([]))).toEqual({
      status: 'error',
      text: 'There is no agent Joe. There are no other agents yet.',
    });
  });

  it('asks for the id where a name fits several agents', async () => {
    const host = fakeHost([
      agent('Inner', { agentId: 'agent_3', parentAgentId: 'agent_Jack' }),
      agent('Inner', { agentId: 'agent_5', parentAgentId: 'agent_Jill' }),
    ]);
    expect((await call('discuss', { speakers: ['Inner'] }, host)).text).toBe(
      'Several agents are called Inner: say which by its id, agent_3 or agent_5.',
    );
  });

  it('refuses the caller itself and an agent that was terminated', async () => {
    const host = fakeHost([agent('Jack', { state: 'terminated' }), agent('Jill')], { callerName: 'Jill' });
    expect(await call('discuss', { speakers: ['Jill'] }, host)).toEqual({
      status: 'error',
      text: 'Jill is you: name other agents. There are: agent_root.',
    });
    expect((await call('discuss', { speakers: ['Jack'] }, host)).text).toBe(
      'The agent Jack was terminated. There are: agent_root.',
    );
  });

  it.each([
    ['no speakers', { speakers: [] }, 'input.speakers'],
    ['a speaker that is not a name', { speakers: [1] }, 'input.speakers[0] is 1'],
    ['no speaker at once', { speakers: ['Jack'], at_once: 0 }, 'input.at_once is 0'],
    ['rounds that never end', { speakers: ['Jack'], rounds: 1e9 }, 'input.rounds is 1000000000'],
  ])('says what is wrong with an input that has %s', async (_what, input, fault) => {
    expect(await call('discuss', input, fakeHost(both()))).toMatchObject({
      status: 'error',
      text: expect.stringContaining(fault),
    });
  });

  it('asks at_once speakers at the same time, and delivers in their order when all have spoken', async () => {
    const speakers = ['Jack', 'Jill', 'Joe', 'Kim'];
    const answers = new Map<string, (text: string) => void>();
    const asked: string[] = [];
    const host = fakeHost(
      speakers.map((name) => agent(name)),
      {
        respond: async (agentId) => {
          const { promise, resolve } = Promise.withResolvers<string>();
          asked.push(agentId);
          answers.set(agentId, resolve);
          return new LoggedString(await promise, `${agentId}_1`);
        },
      },
    );
    const result = call('discuss', { prompt: 'Vote.', speakers, at_once: 3 }, host);
    const rest = () => new Promise((resolve) => setImmediate(resolve));
    const delivered = host.happened;
    await rest();
    expect(asked).toEqual(['agent_Jack', 'agent_Jill', 'agent_Joe']);
    answers.get('agent_Joe')?.('yes');
    await rest();
    expect(asked.at(-1)).toBe('agent_Kim');
    for (const name of ['Kim', 'Jill', 'Jack']) {
      expect(delivered.filter((line) => line.includes('['))).toEqual([]);
      answers.get(`agent_${name}`)?.('no');
      await rest();
    }
    expect(await result).toMatchObject({
      text: '[Jack]: no\n[Jill]: no\n[Joe]: yes\n[Kim]: no',
      madeFrom: speakers.map((name) => `agent_${name}_1`),
    });
    expect(delivered.filter((line) => line.includes('['))).toEqual(
      [
        ['Jack', 'no'],
        ['Jill', 'no'],
        ['Joe', 'yes'],
        ['Kim', 'no'],
      ].flatMap(([speaker, text]) =>
        speakers.filter((name) => name !== speaker).map((name) => `to ${name}: [${speaker}]: ${text}`),
      ),
    );
  });

  it('keeps what the others said where one of several speakers at the same time fails', async () => {
    const host = fakeHost([...both(), agent('Joe')]);
    const failing = {
      ...host,
      respond: (agentId: string) =>
        agentId === 'agent_Jack' ? Promise.reject(new Error('No model.')) : host.respond(agentId),
    };
    const speakers = ['Jack', 'Jill', 'Joe'];
    expect(await call('discuss', { speakers, rounds: 2, at_once: 3 }, failing)).toMatchObject({
      status: 'completed',
      text: [
        '[Jill]: Jill 1',
        '[Joe]: Joe 1',
        '[Jill]: Jill 2',
        '[Joe]: Joe 2',
        'Jack failed to speak in round 1: No model.',
        'Jack failed to speak in round 2: No model.',
      ].join('\n'),
      madeFrom: ['Jill_1', 'Joe_1', 'Jill_2', 'Joe_2'],
      metadata: { failed: ['agent_Jack'] },
    });
  });

  it('lets nobody speak any more once it is cancelled', async () => {
    const cancel = new AbortController();
    const asked: string[] = [];
    const host = fakeHost(both(), {
      respond: async (agentId) => {
        asked.push(agentId);
        cancel.abort(new Error('cancelled'));
        return new LoggedString('Hello.', 'm1');
      },
    });
    await expect(call('discuss', { speakers: ['Jack', 'Jill'] }, host, cancel.signal)).rejects.toThrow(
      'cancelled',
    );
    expect(asked).toEqual(['agent_Jack']);
  });
});
