import { openDispatchStore } from '@hansard/dispatch';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { Gate, turn } from '../support/gate.ts';
import { begin, say, task } from '../support/route-models.ts';

/** A store whose append of the text `slow` waits for the gate, with what was written, in order. */
function slowFirst() {
  const gate = new Gate();
  const made: unknown[] = [];
  const provider = changedStore((store) => ({
    async appendEvent(taskDir, dispatchId, event) {
      if (event.data.text === 'slow') await gate.opened;
      const position = store.appendEvent(taskDir, dispatchId, event);
      made.push(event.data.text);
      return position;
    },
    async appendEvents(taskDir, dispatchId, events) {
      const positions = store.appendEvents(taskDir, dispatchId, events);
      made.push(...events.map(({ data }) => data.text));
      return positions;
    },
    async updateDispatch(taskDir, dispatchId, updates) {
      made.push(`model ${updates.model}`);
      return store.updateDispatch(taskDir, dispatchId, updates);
    },
    async releaseDispatch(taskDir, dispatchId) {
      made.push('released');
      store.releaseDispatch(taskDir, dispatchId);
    },
  }));
  return { provider, gate, made };
}

describe('writes without waiting', () => {
  it('keep the order of their calls even if the store answers later and in another order', async () => {
    const gates: Gate[] = [];
    const provider = changedStore((store) => ({
      async appendEvent(taskDir, dispatchId, event) {
        const gate = new Gate();
        gates.push(gate);
        await gate.opened;
        return store.appendEvent(taskDir, dispatchId, event);
      },
    }));
    const store = openDispatchStore(provider);
    const dispatch = await begin(store);
    const writes: Promise<unknown>[] = ['a', 'b', 'c'].map((text) => dispatch.append(say(text)));
    writes.push(dispatch.append([say('d')]));
    writes.push(dispatch.update({ status: 'completed' }));
    for (let opened = 0; opened < 3; opened += 1) {
      await turn();
      expect(gates).toHaveLength(opened + 1);
      gates[opened]?.open();
    }
    await Promise.all(writes);
    const texts = (await store.getDispatchEvents(task, dispatch.dispatchId)).map(({ data }) => data.text);
    expect(texts).toEqual(['a', 'b', 'c', 'd']);
  });

  it('are not made after the dispatch was abandoned, except the one that the store already received', async () => {
    const { provider, gate, made } = slowFirst();
    const store = openDispatchStore(provider);
    const dispatch = await begin(store);
    const writes = [
      dispatch.append(say('slow')),
      dispatch.append(say('late')),
      dispatch.append([say('later')]),
      dispatch.update({ model: 'm' }),
    ];
    dispatch.abandon();
    gate.open();
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'made'))).toEqual(
      ['made', 'STORE_LOCKED', 'STORE_LOCKED', 'STORE_LOCKED'],
    );
    expect(made).toEqual(['slow']);
  });

  it('do not wait for another dispatch', async () => {
    const gate = new Gate();
    let slow = '';
    const provider = changedStore((store) => ({
      async appendEvent(taskDir, dispatchId, event) {
        if (dispatchId === slow) await gate.opened;
        return store.appendEvent(taskDir, dispatchId, event);
      },
    }));
    const store = openDispatchStore(provider);
    const waits = await begin(store);
    slow = waits.dispatchId;
    const quick = await begin(store);
    const waiting = waits.append(say('a'));
    await quick.append(say('b'));
    expect(await store.getDispatchEvents(task, slow)).toEqual([]);
    gate.open();
    await waiting;
  });

  it('continue after one that failed, which rejects', async () => {
    let failures = 1;
    const provider = changedStore((store) => ({
      async appendEvent(taskDir, dispatchId, event) {
        await turn();
        failures -= 1;
        if (failures === 0) throw new Error('disk full');
        return store.appendEvent(taskDir, dispatchId, event);
      },
    }));
    const store = openDispatchStore(provider);
    const dispatch = await begin(store);
    const results = await Promise.allSettled([dispatch.append(say('a')), dispatch.append(say('b'))]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await store.getDispatchEvents(task, dispatch.dispatchId)).toHaveLength(1);
  });

  it('reject if the provider throws synchronously', async () => {
    const provider = changedStore(() => ({
      appendEvent() {
        throw new Error('disk full');
      },
    }));
    const store = openDispatchStore(provider);
    const dispatch = await begin(store);
    await expect(dispatch.append(say('a'))).rejects.toThrow('disk full');
  });

  it('are made in the tick of their call if the store is synchronous', async () => {
    const made: unknown[] = [];
    const provider = changedStore((store) => ({
      appendEvent(taskDir, dispatchId, event) {
        made.push(event.data.text);
        return store.appendEvent(taskDir, dispatchId, event);
      },
      appendEvents(taskDir, dispatchId, events) {
        made.push(...events.map(({ data }) => data.text));
        return store.appendEvents(taskDir, dispatchId, events);
      },
      updateDispatch(taskDir, dispatchId, updates) {
        made.push(updates);
        return store.updateDispatch(taskDir, dispatchId, updates);
      },
    }));
    const dispatch = await begin(openDispatchStore(provider));
    const writes = [dispatch.append(say('a')), dispatch.append([say('b'), say('c')])];
    const named = dispatch.as('agent_002').append(say('d'));
    const updated = dispatch.update({ model: 'm' });
    expect(made).toEqual(['a', 'b', 'c', 'd', { model: 'm' }]);
    await Promise.all([...writes, named, updated]);
  });

  it('of all kinds keep the order of their calls after a slow one', async () => {
    const { provider, gate, made } = slowFirst();
    const dispatch = await begin(openDispatchStore(provider));
    const writes = [
      dispatch.append(say('slow')),
      dispatch.append([say('a'), say('b')]),
      dispatch.accept([say('c')]).recorded,
      dispatch.as('agent_002').append(say('d')),
      dispatch.update({ model: 'm' }),
      dispatch.append(say('e')),
      dispatch.release(),
    ];
    await turn();
    expect(made).toEqual([]);
    gate.open();
    await Promise.all(writes);
    expect(made).toEqual(['slow', 'a', 'b', 'c', 'd', 'model m', 'e', 'released']);
  });

  it('after a failed one are not made and fail with its error, if the dispatch halts on failure', async () => {
    const gate = new Gate();
    const full = new Error('disk full');
    const made: unknown[] = [];
    const provider = changedStore((store) => ({
      async appendEvent(taskDir, dispatchId, event) {
        made.push(event.data.text);
        if (event.data.text === 'lost') {
          await gate.opened;
          throw full;
        }
        return store.appendEvent(taskDir, dispatchId, event);
      },
    }));
    for (const haltsOnFailure of [true, false]) {
      made.length = 0;
      const store = openDispatchStore(provider);
      const dispatch = await store.beginDispatch(task, { role: 'worker' }, { haltsOnFailure });
      const writes = ['lost', 'a', 'b'].map((text) => dispatch.append(say(text)));
      const settled = dispatch.settled();
      gate.open();
      const results = await Promise.allSettled(writes);
      await settled;
      const reasons = results.map((result) => (result.status === 'rejected' ? result.reason : 'made'));
      expect(reasons).toEqual(haltsOnFailure ? [full, full, full] : [full, 'made', 'made']);
      expect(made).toEqual(haltsOnFailure ? ['lost'] : ['lost', 'a', 'b']);
      // No write waits for the failed one any more.
      expect(await dispatch.append(say('later'))).toMatchObject({ data: { text: 'later' } });
    }
  });

  it('are settled when none is pending, whether they succeeded or failed', async () => {
    const { provider, gate, made } = slowFirst();
    const dispatch = await begin(openDispatchStore(provider));
    await dispatch.settled();
    const first = dispatch.append(say('slow'));
    let isSettled = false;
    const settled = dispatch.settled().then(() => {
      isSettled = true;
    });
    await turn();
    expect(isSettled).toBe(false);
    const second = dispatch.append(say('a'));
    gate.open();
    await settled;
    expect(made).toEqual(['slow', 'a']);
    await Promise.all([first, second]);
  });
});
