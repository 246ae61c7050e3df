import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { causesAcross, readSession } from '../src/reading.ts';

const taskDir = 'lab/tasks/talk';

/** A message of another dispatch, as a dispatch records it. */
const heard = (id: string, text: string, from: string, cause?: string): NewEvent =>
  newEvent(
    'user:message',
    { text, source: { kind: 'agent', dispatchId: from } },
    { id, ...(cause === undefined ? {} : { cause }) },
  );
const said = (id: string, text: string, cause: string): NewEvent =>
  newEvent('agent:text', { text }, { id, cause });
const sent = (id: string, to: string, text: string, cause: string): NewEvent =>
  newEvent('agent:message_sent', { text, to: { dispatchId: to } }, { id, cause });

async function storeWith(logs: Readonly<Record<string, readonly NewEvent[]>>): Promise<DispatchStore> {
  const store = openDispatchStore(createMemoryStore());
  for (const [dispatchId, events] of Object.entries(logs)) {
    const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId, fidelity: 'full' });
    await dispatch.append(events);
    await dispatch.end({ status: 'completed' });
  }
  return store;
}

/** The lead asks the worker, which asks back; the answer of the worker is the last event of the lead. */
const talk = {
  LEAD: [
    newEvent('user:message', { text: 'Find the leak.', source: { kind: 'user' } }, { id: 'l0' }),
    sent('l1', 'WORK', 'Look at the pump.', 'l0'),
    heard('l2', 'Which pump?', 'WORK', 'w1'),
    sent('l3', 'WORK', 'The red one.', 'l2'),
    heard('l4', 'It drips.', 'WORK', 'w3'),
  ],
  WORK: [
    heard('w0', 'Look at the pump.', 'LEAD', 'l1'),
    sent('w1', 'LEAD', 'Which pump?', 'w0'),
    heard('w2', 'The red one.', 'LEAD', 'l3'),
    sent('w3', 'LEAD', 'It drips.', 'w2'),
  ],
};

async function why(logs: typeof talk | Record<string, readonly NewEvent[]>, id: string, depth = 50) {
  const store = await storeWith(logs);
  const asked = await readSession(store, 'LEAD');
  const { sessions, lost } = await causesAcross(store, asked, id, depth);
  return {
    rows: sessions.map(({ session, rows }) => [
      session.envelope.dispatchId,
      rows.map((row) => `${row.id}:${row.distance}`),
    ]),
    lost,
  };
}

describe('the causes of a message from another session', () => {
  it('continue there, and back again, each with its distance from the event', async () => {
    expect(await why(talk, 'l4')).toEqual({
      rows: [
        ['LEAD', ['l0:8', 'l1:7', 'l2:4', 'l3:3', 'l4:0']],
        ['WORK', ['w0:6', 'w1:5', 'w2:2', 'w3:1']],
      ],
      lost: [],
    });
  });

  it('are followed as far as asked', async () => {
    expect((await why(talk, 'l4', 2)).rows).toEqual([
      ['LEAD', ['l4:0']],
      ['WORK', ['w2:2', 'w3:1']],
    ]);
    expect((await why(talk, 'l4', 0)).rows).toEqual([['LEAD', ['l4:0']]]);
  });

  it('end where the store has no such session or event, which is named once', async () => {
    const { LEAD, WORK } = talk;
    const alone = await why(
      { LEAD: [...LEAD, heard('l5', 'Still.', 'WORK', 'w3'), said('l6', 'So?', 'l5')] },
      'l6',
    );
    expect(alone).toEqual({
      rows: [['LEAD', ['l5:1', 'l6:0']]],
      lost: [{ dispatchId: 'WORK', id: 'w3', hasSession: false }],
    });
    expect((await why({ LEAD, WORK: WORK.slice(0, 3) }, 'l4')).lost).toEqual([
      { dispatchId: 'WORK', id: 'w3', hasSession: true },
    ]);
  });

  it('end in a circle of two damaged logs', async () => {
    const circle = { LEAD: [heard('l0', 'a', 'WORK', 'w0')], WORK: [heard('w0', 'b', 'LEAD', 'l0')] };
    expect(await why(circle, 'l0')).toEqual({
      rows: [
        ['LEAD', ['l0:0']],
        ['WORK', ['w0:1']],
      ],
      lost: [],
    });
  });
});
