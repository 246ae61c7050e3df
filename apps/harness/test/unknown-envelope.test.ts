import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { type DurableStore, durableStores, recordedIn } from './durable-stores.ts';

const unknown: Readonly<Record<string, object>> = {
  'an unknown status': { status: 'paused' },
  'an unknown fidelity': { fidelity: 'summary' },
  'the version and the values of a later one': { schemaVersion: 2, status: 'paused', cost: 'much' },
};

/** The dispatches of `recordedIn`, and D4LATER in a/one, as a later version of Hansard would have stored it. */
async function storeOfLater(store: DurableStore, fields: object) {
  const line = await recordedIn(store);
  const opened = store.open(line.cwd);
  const [envelope] = opened.getDispatchEnvelopes('a/tasks/one');
  const later = { ...envelope, status: 'running', dispatchId: 'D4LATER' } as DispatchEnvelope;
  opened.createDispatch('a/tasks/one', later);
  const [event] = opened.getDispatchEvents('a/tasks/one', String(envelope?.dispatchId));
  const words = { ...event, id: 'later', type: 'agent:text', data: { text: 'item later' } } as CapturedEvent;
  opened.appendEvent('a/tasks/one', 'D4LATER', words);
  opened.updateDispatch('a/tasks/one', 'D4LATER', { status: 'completed', ...fields } as EnvelopeUpdates);
  opened.close();
  return line;
}

/** Commands that read the session, and what each prints of the others. */
const commands: readonly (readonly [args: readonly string[], shown: readonly string[]])[] = [
  [
    ['ls', '--tasks'],
    ['a/one', 'b/two'],
  ],
  [['ls'], ['D1FIRST', 'D2SECOND', 'D3OTHER']],
  [
    ['ls', 'a/one'],
    ['D1FIRST', 'D2SECOND'],
  ],
  [
    ['tree', 'a/one'],
    ['D1FIRST', 'D2SECOND'],
  ],
  [
    ['show', 'a/one'],
    ['D1FIRST', 'D2SECOND', 'item three'],
  ],
  [['usage'], ['3']],
  [
    ['usage', '--by', 'task'],
    ['a/one', 'b/two'],
  ],
  [
    ['search', 'item', '--json'],
    ['D1FIRST', 'D2SECOND', 'D3OTHER'],
  ],
  [
    ['store', 'verify'],
    ['4 sessions, 9 events', '1 of a newer version'],
  ],
  [['secrets', 'scan'], ['4 sessions, 9 events']],
];

describe.each(durableStores)('an envelope of a later version in the $name store', (store) => {
  it.each(Object.keys(unknown))(
    'with %s is named, and hides no other dispatch from a command',
    async (what) => {
      using line = await storeOfLater(store, unknown[what] as object);
      for (const [args, shown] of commands) {
        const { code, out, err } = await line.hansard(...args);
        const words = args.join(' ');
        expect([words, code, out + err]).toEqual([words, 3, expect.stringContaining('D4LATER')]);
        for (const text of shown) expect([words, out]).toEqual([words, expect.stringContaining(text)]);
      }
      for (const args of [
        ['show', 'b/two/D3OTHER'],
        ['show', 'a/one/D1FIRST', '--raw'],
        ['store', 'verify', 'b/two'],
      ])
        expect(await line.hansard(...args)).toMatchObject({ code: 0, err: '' });
      const { code, err } = await line.hansard('show', 'a/one/D4LATER');
      expect([code, err]).toEqual([3, expect.stringContaining('was written by a newer version of Hansard')]);
    },
  );
});
