import { type DispatchStore, LetterInbox, openDispatchStore, startDispatch } from '@hansard/dispatch';
import { type DispatchLetter, type NewEvent, newEvent } from '@hansard/events';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { expect, it, vi } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { agent, says } from '../support/scripted-agent.ts';

const taskDir = 'lab/tasks/lamps';
const dispatchId = 'D1';
const place = { taskDir, dispatchId };
const inbox = `_hansard/inbox/${dispatchId}`;

/** An owner of the dispatch that looks when it is asked to. */
async function owner(store: DispatchStore, take?: (letter: DispatchLetter) => Promise<boolean>) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId });
  const notices: NewEvent[] = [];
  const letters = new LetterInbox({
    store,
    dispatch,
    take:
      take ??
      (async ({ from: id, text = '', source }) => {
        await dispatch.append(newEvent('user:message', { text, source }, { id }));
        return true;
      }),
    report: async (notice) => notices.push(notice),
  });
  return { dispatch, letters, notices, look: () => vi.advanceTimersByTimeAsync(1_000) };
}

const textsOf = async (store: DispatchStore) =>
  (await store.getDispatchEvents(place)).flatMap(({ type, data }) =>
    type === 'user:message' ? [data.text] : [],
  );

const unavailable = (isTransient: boolean) =>
  storeErrors.error('STORE_UNAVAILABLE', 'The inbox refuses.', { isTransient, details: {} });

/** A store whose inbox can be closed. */
function closable() {
  const state: { error: Error | null; looks: number } = { error: null, looks: 0 };
  const provider = changedStore((good: DispatchStoreProvider) => ({
    listDispatches(options = {}) {
      if (options.taskDir !== inbox) return good.listDispatches(options);
      state.looks += 1;
      if (state.error !== null) throw state.error;
      return good.listDispatches(options);
    },
  }));
  return { state, store: openDispatchStore(provider, { retryMs: 0 }) };
}

it('reports an inbox that cannot be listed once for each time that it closes, and takes the letters when it opens', async () => {
  const { state, store } = closable();
  const { letters, notices, look } = await owner(store);
  await letters.start();
  for (const round of [1, 2]) {
    await store.sendLetter(place, { text: `Round ${round}.` });
    state.error = unavailable(false);
    const { looks } = state;
    for (let again = 0; again < 3; again += 1) await look();
    expect(state.looks).toBe(looks + 3);
    expect(notices).toHaveLength(round);
    state.error = null;
    await look();
  }
  expect(notices[0]).toMatchObject({
    type: 'system:notice',
    data: { letters: [{ letterId: null, code: 'STORE_UNAVAILABLE' }], count: 1 },
  });
  expect(await textsOf(store)).toEqual(['Round 1.', 'Round 2.']);
  letters.stop();
  vi.useRealTimers();
});

it('leaves what passes by itself to the store, which reports it, and takes the letters afterwards', async () => {
  const { state, store } = closable();
  const { letters, notices, look } = await owner(store);
  await letters.start();
  await store.sendLetter(place, { text: 'Later.' });
  state.error = unavailable(true);
  await look();
  expect(notices).toEqual([]);
  state.error = null;
  await look();
  expect(await textsOf(store)).toEqual(['Later.']);
  letters.stop();
  vi.useRealTimers();
});

it('reports each letter that cannot be taken once, and takes the others in their order', async () => {
  const provider = createMemoryStore();
  const store = openDispatchStore(provider);
  let refused = '';
  const taken: string[] = [];
  const { letters, notices, look } = await owner(store, async ({ from, text = '' }) => {
    if (from === refused) throw storeErrors.error('STORE_EVENT_CONFLICT', 'Another event.', { details: {} });
    taken.push(text);
    return true;
  });
  const letterIds = [];
  for (const text of ['One.', 'Two.', 'Three.'])
    letterIds.push((await store.sendLetter(place, { text })).from);
  refused = letterIds[1] ?? '';
  const [first] = await provider.getDispatchEnvelopes(inbox);
  if (first === undefined) throw new Error('no letter');
  const newer = { ...first, dispatchId: 'letter_newer', schemaVersion: 2 };
  await provider.createDispatch(inbox, newer);
  await letters.start();
  for (let again = 0; again < 3; again += 1) await look();
  expect(taken).toEqual(['One.', 'Three.']);
  expect(notices.map(({ data }) => data.letters)).toEqual([
    [
      { letterId: 'letter_newer', code: 'DISPATCH_LETTER_INVALID' },
      { letterId: refused, code: 'STORE_EVENT_CONFLICT' },
    ],
  ]);
  for (let number = 0; number < 30; number += 1)
    await provider.createDispatch(inbox, { ...newer, dispatchId: `letter_newer${number}` });
  await look();
  expect(notices).toHaveLength(2);
  expect(notices[1]?.data).toMatchObject({ count: 30 });
  expect(notices[1]?.data.letters).toHaveLength(20);
  letters.stop();
  vi.useRealTimers();
});

it('takes no letter twice that an earlier owner has taken, and reads the log for that once', async () => {
  const store = openDispatchStore(createMemoryStore());
  const { dispatch, letters, look } = await owner(store);
  const { from } = await store.sendLetter(place, { text: 'Once.' });
  await dispatch.append(newEvent('user:message', { text: 'Once.', source: { kind: 'user' } }, { id: from }));
  const read = vi.spyOn(dispatch, 'events');
  await letters.start();
  await store.sendLetter(place, { text: 'Next.' });
  await look();
  await look();
  expect(await textsOf(store)).toEqual(['Once.', 'Next.']);
  expect(read).toHaveBeenCalledTimes(1);
  letters.stop();
  vi.useRealTimers();
});

it('lets a run end as its agent does, with a notice, whatever lies in its inbox', async () => {
  const provider = createMemoryStore();
  const store = openDispatchStore(provider);
  const run = await startDispatch({
    store,
    taskDir,
    dispatchId,
    role: 'worker',
    agent: agent(async function* ({ messages }) {
      for await (const { data } of messages) {
        yield says(`Heard: ${String(data.text)}`);
        if (data.text === 'Stop.') return;
      }
    }),
  });
  const { from } = await store.sendLetter(place, { text: 'Go on.' });
  const [good] = await provider.getDispatchEnvelopes(inbox);
  if (good === undefined) throw new Error('no letter');
  await provider.createDispatch(inbox, { ...good, dispatchId: 'letter_other' });
  const { letter: _, ...without } = good;
  await provider.createDispatch(inbox, { ...without, dispatchId: 'letter_without' });
  await store.sendLetter(place, { text: 'Stop.' });
  expect((await run.ended).status).toBe('completed');
  const events = await store.getDispatchEvents(place);
  expect(events.filter(({ id }) => id === from)).toHaveLength(1);
  expect(events.filter(({ type }) => type === 'system:notice').map(({ data }) => data.count)).toEqual([2]);
  await store.close();
});
