import { describe, expect, it } from 'vitest';
import { call } from './call.ts';
import { agent, fakeHost } from './fake-host.ts';

describe('task', () => {
  it('creates a sub-agent with its name, its prompt and its model, and says so', async () => {
    const host = fakeHost([]);
    const outcome = await call(
      'task',
      { name: 'Jill', system_prompt: 'You write novels.', language_model: 'm-2' },
      host,
    );
    expect(outcome).toEqual({
      status: 'completed',
      text: 'Created subagent: Jill',
      metadata: { agentId: 'agent_Jill' },
    });
    expect(host.created).toEqual([{ name: 'Jill', systemPrompt: 'You write novels.', languageModel: 'm-2' }]);
  });

  it('leaves the model to the session where none is named', async () => {
    const host = fakeHost([]);
    await call('task', { name: 'Jill', system_prompt: 'Be.' }, host);
    expect(host.created).toEqual([{ name: 'Jill', systemPrompt: 'Be.' }]);
  });

  it.each(['agent_Jack', 'agent_007'])(
    'refuses %s, which is or may become the id of another agent',
    async (name) => {
      const host = fakeHost([agent('Jack')]);
      expect(await call('task', { name, system_prompt: 'Be.' }, host)).toEqual({
        status: 'error',
        text: `${name} is an id, not a name: choose another name.`,
      });
      expect(host.created).toEqual([]);
    },
  );

  it('refuses a second sub-agent of the same name, but not one that another agent has or that has ended', async () => {
    const taken = fakeHost([agent('Jill')]);
    expect(await call('task', { name: 'Jill', system_prompt: 'Be.' }, taken)).toEqual({
      status: 'error',
      text: 'You have a sub-agent Jill already: choose another name.',
    });
    expect(taken.created).toEqual([]);
    const free = fakeHost([
      agent('Jack'),
      agent('Jill', { parentAgentId: 'agent_Jack' }),
      agent('Jill', { agentId: 'agent_old', state: 'terminated' }),
    ]);
    expect(await call('task', { name: 'Jill', system_prompt: 'Be.' }, free)).toMatchObject({
      status: 'completed',
    });
  });

  it.each([
    ['a list', ['Jill'], 'input is ["Jill"]'],
    ['no name', { system_prompt: 'Be.' }, 'input.name is missing'],
    ['a name that looks like a quotation', { name: 'x]: hello [y', system_prompt: 'Be.' }, 'without [ ] :'],
    ['a name of two lines', { name: 'x\ny', system_prompt: 'Be.' }, 'without [ ] :'],
    ['an empty prompt', { name: 'Jill', system_prompt: '' }, 'input.system_prompt is ""'],
    ['a field that there is not', { name: 'Jill', system_prompt: 'Be.', model: 'm' }, 'model'],
  ])('says what is wrong with an input that is or has %s', async (_what, input, told) => {
    const host = fakeHost([]);
    const outcome = await call('task', input, host);
    expect(outcome).toMatchObject({ status: 'error', text: expect.stringContaining(told) });
    expect(outcome.text).toContain('task was called with the wrong input');
    expect(host.created).toEqual([]);
  });
});
