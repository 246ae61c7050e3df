import { type Dispatch, openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent, NewEvent } from '@hansard/events';
import { createRedactor, type Redactor } from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { changedStore } from '../support/changed-store.ts';
import { codeOf } from '../support/code-of.ts';
import { Gate } from '../support/gate.ts';
import { begin, say, task } from '../support/route-models.ts';

/** A redactor that changes events by a function. */
const redactBy = (event: (event: CapturedEvent) => CapturedEvent): Redactor => ({
  ...createRedactor(),
  event: event as Redactor['event'],
});

describe('an event that is appended', () => {
  it('gets an id and the time where it has none, and keeps those it came with', async () => {
    const store = openDispatchStore(createMemoryStore(), { clock: new ManualClock() });
    const dispatch = await begin(store);
    const minted = await dispatch.append(say('a'));
    const kept = {
      id: 'own:1',
      type: 'agent:text',
      timestamp: '2020-01-01T00:00:00.000Z',
      data: { text: 'b' },
    };
    await dispatch.append(kept as NewEvent);
    expect(minted).toMatchObject({
      timestamp: '2026-03-01T09:00:00.000Z',
      id: expect.stringMatching(/^.{26}$/),
    });
    expect(await store.getDispatchEvents(task, dispatch.dispatchId)).toEqual([minted, kept]);
  });

  it('is a copy without undefined keys, which later changes of the original do not touch', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    const data = { deep: { list: [1, { gone: undefined }] }, gone: undefined };
    const given: NewEvent = { type: 'game:turn', data, ...({ agentId: undefined } as object) };
    const captured = await dispatch.append(given);
    data.deep.list.push(2);
    expect(Object.keys(captured)).not.toContain('agentId');
    expect(captured.data).toStrictEqual({ deep: { list: [1, {}] } });
    expect(await store.getDispatchEvents(task, dispatch.dispatchId)).toStrictEqual([captured]);
  });

  it('keeps a key named __proto__ as a key', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    const data = JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":[{"c":2}]}}');
    const captured = await dispatch.append({ type: 'game:turn', data });
    expect(JSON.stringify(captured.data)).toBe(JSON.stringify(data));
    expect(Object.getPrototypeOf(captured.data)).toBe(Object.prototype);
  });

  it('is refused where it is a streaming delta: a delta is never recorded', async () => {
    const store = openDispatchStore(createMemoryStore(), { schemas: { 'delta:text': z.any() } });
    const dispatch = await begin(store);
    const delta = { type: 'delta:text', text: 'a', data: { text: 'a' } } as NewEvent;
    expect(await codeOf(dispatch.append(delta))).toBe('EVENT_EPHEMERAL');
    expect(await store.getDispatchEvents(task, dispatch.dispatchId)).toEqual([]);
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  it.each([
    ['NaN', Number.NaN],
    ['a Date', new Date(0)],
    ['a function', () => 1],
    ['a Map', new Map()],
    ['a hole in a list', [1, undefined]],
    ['a BigInt', 1n],
    ['a cycle', cycle],
  ])('is refused where it holds %s, which JSON cannot', async (_, value) => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    const event = { type: 'game:turn', data: { value } } as unknown as NewEvent;
    expect(await codeOf(dispatch.append(event))).toBe('EVENT_NOT_JSON');
    expect(await store.getDispatchEvents(task, dispatch.dispatchId)).toEqual([]);
  });

  it('is refused if it is not an event at all', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    for (const nothing of [undefined, null, 'text', 7]) {
      const event = nothing as unknown as NewEvent;
      expect(await codeOf(dispatch.append(event))).toBe('EVENT_INVALID');
    }
  });

  it('is checked by the schemas of plugins beside those of Hansard, which they cannot loosen', async () => {
    const schemas = { 'game:vote': z.object({ for: z.string() }), 'agent:text': z.any() };
    const store = openDispatchStore(createMemoryStore(), { schemas });
    const dispatch = await begin(store);
    await dispatch.append({ type: 'game:vote', data: { for: 'Jill' } });
    await dispatch.append({ type: 'game:other', data: { anything: true } });
    expect(await codeOf(dispatch.append({ type: 'game:vote', data: {} }))).toBe('EVENT_INVALID');
    expect(await codeOf(dispatch.append({ type: 'agent:text', data: {} }))).toBe('EVENT_INVALID');
  });

  it('is refused where redaction makes it invalid', async () => {
    const store = openDispatchStore(createMemoryStore(), {
      redact: redactBy((event) => ({ ...event, data: {} })),
    });
    const dispatch = await begin(store);
    expect(await codeOf(dispatch.append(say('a')))).toBe('EVENT_INVALID');
  });

  it('of a batch with an invalid one is not recorded, nor are the others', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    const bad = { type: 'agent:text', data: {} } as NewEvent;
    expect(await codeOf(dispatch.append([say('a'), bad]))).toBe('EVENT_INVALID');
    expect(await store.getDispatchEvents(task, dispatch.dispatchId)).toEqual([]);
    const captured = await dispatch.append([say('a'), say('b')]);
    expect(await store.getDispatchEvents(task, dispatch.dispatchId)).toEqual(captured);
  });

  it('has its keys in the order of the line, data last, whatever the order in which it was made', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    const event = await dispatch.append({ data: { text: 'x' }, agentId: 'a', type: 'agent:text' });
    expect(Object.keys(event)).toEqual(['id', 'type', 'timestamp', 'agentId', 'data']);
  });
});

describe('events that are checked before they are appended', () => {
  /** A dispatch whose store counts how often an event is checked, by a schema, and copied, by its redaction. */
  async function counted() {
    const counts = { checks: 0, redactions: 0 };
    const vote = z.object({ for: z.string() }).refine(() => {
      counts.checks += 1;
      return true;
    });
    const store = openDispatchStore(createMemoryStore(), {
      schemas: { 'game:vote': vote },
      redact: redactBy((event) => {
        counts.redactions += 1;
        return { ...event };
      }),
    });
    const dispatch = await begin(store);
    return { counts, store, dispatch };
  }
  const votes = (...names: string[]): NewEvent[] =>
    names.map((name) => ({ type: 'game:vote', data: { for: name } }));

  it('are not recorded by the check, and have the form in which they will be', async () => {
    const { store, dispatch } = await counted();
    const checked = dispatch.check(votes('Jill', 'Jack'));
    expect(await store.getDispatchEvents(task, dispatch.dispatchId)).toEqual([]);
    expect(checked).toMatchObject([{ id: expect.any(String), timestamp: expect.any(String) }, {}]);
    const { events, recorded } = dispatch.accept(checked);
    await recorded;
    expect(events).toEqual(checked);
    expect(await store.getDispatchEvents(task, dispatch.dispatchId)).toEqual(checked);
  });

  it('are refused by the check, all of them, as an append refuses them', async () => {
    const { store, dispatch } = await counted();
    const wrong: NewEvent = { type: 'game:vote', data: {} };
    const check = (event: NewEvent) => () => dispatch.check([...votes('Jill'), event]);
    expect(check(wrong)).toThrow(expect.objectContaining({ code: 'EVENT_INVALID' }));
    const notJson: NewEvent = { type: 'game:turn', data: { at: Number.NaN } };
    expect(check(notJson)).toThrow(expect.objectContaining({ code: 'EVENT_NOT_JSON' }));
    const delta = { type: 'delta:text', data: {} } as NewEvent;
    expect(check(delta)).toThrow(expect.objectContaining({ code: 'EVENT_EPHEMERAL' }));
    expect(await store.getDispatchEvents(task, dispatch.dispatchId)).toEqual([]);
  });

  it('are checked and redacted once, whether one, a list or an accepted list', async () => {
    for (const record of [
      async (dispatch: Dispatch, events: readonly NewEvent[]) => {
        for (const event of events) await dispatch.append(event);
      },
      (dispatch: Dispatch, events: readonly NewEvent[]) => dispatch.append(events),
      (dispatch: Dispatch, events: readonly NewEvent[]) => dispatch.append(dispatch.check(events)),
      (dispatch: Dispatch, events: readonly NewEvent[]) => dispatch.accept(events).recorded,
      (dispatch: Dispatch, events: readonly NewEvent[]) => dispatch.accept(dispatch.check(events)).recorded,
    ]) {
      const { counts, store, dispatch } = await counted();
      await record(dispatch, votes('Jill', 'Jack', 'Joan'));
      // The redacted form is checked, too: that is the second check of each.
      expect(counts).toEqual({ checks: 6, redactions: 3 });
      expect(await store.getDispatchEvents(task, dispatch.dispatchId)).toHaveLength(3);
    }
  });

  it('are checked again where the list is not the one that the check of this dispatch gave', async () => {
    const { counts, store, dispatch } = await counted();
    const checked = dispatch.check(votes('Jill'));
    await dispatch.append([...checked]);
    expect(counts.redactions).toBe(2);
    const other = await begin(store);
    await other.append(checked);
    expect(counts.redactions).toBe(3);
  });

  it('are accepted at once where the store answers at once, and otherwise when it has answered', async () => {
    const gate = new Gate();
    const provider = changedStore((inner) => ({
      async appendEvents(taskDir, dispatchId, events) {
        await gate.opened;
        return inner.appendEvents(taskDir, dispatchId, events);
      },
    }));
    const quick = await begin(openDispatchStore(createMemoryStore()));
    const { events, recorded } = quick.accept([say('a'), say('b')]);
    expect(recorded).toBeNull();
    expect(events.map(({ data }) => data.text)).toEqual(['a', 'b']);

    const store = openDispatchStore(provider);
    const slow = await begin(store);
    const accepted = slow.accept([say('a')]);
    expect(accepted.events).toHaveLength(1);
    expect(await store.getDispatchEvents(task, slow.dispatchId)).toEqual([]);
    gate.open();
    await accepted.recorded;
    expect(await store.getDispatchEvents(task, slow.dispatchId)).toEqual(accepted.events);
  });

  it('throw at once where they are invalid, and reject where the store refuses them', async () => {
    const provider = changedStore(() => ({
      appendEvents() {
        throw new Error('disk full');
      },
    }));
    const dispatch = await begin(openDispatchStore(provider));
    const wrong = { type: 'agent:text', data: {} } as NewEvent;
    expect(() => dispatch.accept([wrong])).toThrow(expect.objectContaining({ code: 'EVENT_INVALID' }));
    const { events, recorded } = dispatch.accept([say('a')]);
    expect(events).toHaveLength(1);
    await expect(recorded).rejects.toThrow('disk full');
  });
});
