import { describe, expect, it } from 'vitest';
import { call } from './call.ts';
import { agent, fakeHost } from './fake-host.ts';

describe('a text to one agent', () => {
  it('reaches no other agent, and does not let the agent speak', async () => {
    const host = fakeHost([agent('Jack'), agent('Jill')]);
    expect(await call('tell', { to: 'Jill', text: 'Jack is shy.' }, host)).toEqual({
      status: 'completed',
      text: 'Told Jill.',
      metadata: { to: 'agent_Jill' },
    });
    expect(host.happened).toEqual(['piece: Jack is shy.', 'to Jill: Jack is shy.']);
    expect(host.deliveries[0]?.delivery).toMatchObject({ substance: 'piece_1', from: 'agent_root' });
  });

  it('gives back the answer where one is expected, as made from that utterance', async () => {
    const host = fakeHost([agent('Jill')], { says: { Jill: ['I know.'] } });
    expect(await call('tell', { to: 'Jill', text: 'Jack is shy.', expect_answer: true }, host)).toMatchObject(
      {
        status: 'completed',
        text: 'I know.',
        madeFrom: ['Jill_1'],
      },
    );
  });

  it('is an error that says why when the words were stopped, and asks for no answer', async () => {
    const host = fakeHost([agent('Jill')], { denied: { Jill: 'Jill is asleep.' } });
    expect(await call('tell', { to: 'Jill', text: 'Psst.', expect_answer: true }, host)).toEqual({
      status: 'error',
      text: 'Not delivered to Jill: Jill is asleep.',
    });
    expect(host.happened).toEqual(['piece: Psst.', 'denied to Jill: Psst.']);
  });

  it('to an agent that has ended is handed to the session, which refuses it and names it in the log', async () => {
    const host = fakeHost([agent('Jill', { state: 'terminated' })], { denied: { Jill: 'Jill has ended.' } });
    expect(await call('tell', { to: 'Jill', text: 'Psst.' }, host)).toEqual({
      status: 'error',
      text: 'Not delivered to Jill: Jill has ended.',
    });
    expect(host.happened).toEqual(['piece: Psst.', 'denied to Jill: Psst.']);
  });

  it('says which agents there are when it is given a name that none has, and records nothing', async () => {
    const host = fakeHost([agent('Jill')]);
    expect(await call('tell', { to: 'Joe', text: 'Psst.' }, host)).toEqual({
      status: 'error',
      text: 'There is no agent Joe. There are: Jill.',
    });
    expect(host.happened).toEqual([]);
  });
});
