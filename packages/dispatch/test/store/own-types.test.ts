import { openDispatchStore, runDispatch } from '@hansard/dispatch';
import { isEvent, type JsonObject, type NewEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { createDispatch, updateDispatch } from '@hansard/testing';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { EventDiagnostic } from '../../src/intake/event-intake.ts';
import { agent } from '../support/scripted-agent.ts';

const taskDir = 'lab/tasks/game';
const move: JsonObject = {
  note: 'two\nlines',
  output: 'e4',
  stdout: 'x'.repeat(1_000),
  details: { deep: ['a\nb'] },
};

async function recorded(
  events: readonly NewEvent[],
  options: Parameters<typeof openDispatchStore>[1] = {},
  isMapped = false,
) {
  const diagnostics: EventDiagnostic[] = [];
  const store = openDispatchStore(createMemoryStore(), {
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    ...options,
  });
  await using dispatch = await store.beginDispatch(taskDir, { role: 'r' }, { isMapped });
  await dispatch.append(events);
  const stored = await store.getDispatchEvents(taskDir, dispatch.dispatchId);
  return { data: stored.map((event) => event.data), diagnostics };
}

describe('a narrative', () => {
  it('keeps an event type of a program whole, also under a type of a later version', async () => {
    const types = ['game:move', 'my_app:note', 'agentx:text'] as const;
    const { data, diagnostics } = await recorded(types.map((type) => ({ type, data: move })));
    expect(data).toEqual([move, move, move]);
    expect(diagnostics).toEqual([]);
  });

  it('keeps it whole by the run of an agent, and when the dispatch becomes narrative later', async () => {
    const store = openDispatchStore(createMemoryStore());
    const runner = agent(async function* () {
      yield { kind: 'event' as const, event: { type: 'game:move' as const, data: move } };
    });
    const run = await runDispatch({ store, taskDir, agent: runner, role: 'r' });
    const later = await createDispatch(store, taskDir, { role: 'r', fidelity: 'full' });
    await updateDispatch(store, taskDir, later.dispatchId, { fidelity: 'narrative' });
    await using dispatch = await store.openDispatch(taskDir, later.dispatchId, { write: true });
    await dispatch.append({ type: 'game:move', data: move });
    for (const { dispatchId } of [run, later]) {
      const stored = await store.getDispatchEvents(taskDir, dispatchId);
      expect(stored.filter(({ type }) => type === 'game:move').map(({ data }) => data)).toEqual([move]);
    }
  });

  it('keeps the fields beside the data of such an event', async () => {
    const store = openDispatchStore(createMemoryStore());
    await using dispatch = await store.beginDispatch(taskDir, { role: 'r' });
    const beside = { type: 'game:move', data: {}, board: 'a\nb', output: 'c' } as NewEvent;
    expect(await dispatch.append(beside)).toMatchObject({ board: 'a\nb', output: 'c' });
  });

  it('keeps the fields that a registered schema names, and counts the others', async () => {
    const schema = z
      .object({ note: z.string(), output: z.string() })
      .loose()
      .meta({ narrative: ['note', 'leftOut'] });
    const { data } = await recorded([{ type: 'game:move', data: move }], {
      schemas: { 'game:move': schema },
    });
    expect(data).toEqual([{ note: move.note, leftOut: { output: 2, stdout: 1_000, details: 17 } }]);
  });

  it('keeps all of a type whose registered schema names nothing, and nothing where it names no field', async () => {
    const schema = z.object({ note: z.string() }).loose();
    const whole = await recorded([{ type: 'game:move', data: move }], { schemas: { 'game:move': schema } });
    expect(whole.data).toEqual([move]);
    const none = { 'game:move': schema.meta({ narrative: [] }) };
    const { data } = await recorded([{ type: 'game:move', data: move }], { schemas: none });
    expect(Object.keys(data[0] ?? {})).toEqual(['leftOut']);
  });

  it('keeps the short fields of what a mapping captures, and those of a program in the categories of mappings', async () => {
    const short = { leftOut: { note: 9, output: 2, stdout: 1_000, deep: 3 }, details: { deep: [] } };
    const types = ['system:kind_of_tomorrow', 'claude:entry', 'game_log:record', 'session_v2:odd'] as const;
    const appended = await recorded(types.map((type) => ({ type, data: move })));
    expect(appended.data).toEqual(types.map(() => short));
    const mapped = await recorded([{ type: 'agent:block_of_tomorrow', data: move }], {}, true);
    expect(mapped.data).toEqual([short]);
    expect([...appended.diagnostics, ...mapped.diagnostics]).toEqual([]);
  });
});

describe('a type that does not exist in a category of Hansard', () => {
  it('is recorded whole and reported once, with the type that was probably meant', async () => {
    const mistyped: NewEvent = { type: 'agent:txt', data: move };
    const { data, diagnostics } = await recorded([mistyped, mistyped, { type: 'harness:odd', data: {} }]);
    expect(data).toEqual([move, move, {}]);
    expect(diagnostics).toEqual([
      {
        code: 'unknown_type',
        message:
          'agent:txt is not an event type of Hansard. It is recorded as it is, and views do not read it. Did you mean agent:text? Use a category of your own for types of your own, such as my_app:txt.',
      },
      {
        code: 'unknown_type',
        message:
          'harness:odd is not an event type of Hansard. It is recorded as it is, and views do not read it. Use a category of your own for types of your own, such as my_app:odd.',
      },
    ]);
    expect(isEvent({ ...mistyped, id: 'E1', timestamp: '2026-03-01T09:30:00.000Z' })).toBe(true);
  });

  it('is a warning of the process where nothing else receives it', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const store = openDispatchStore(createMemoryStore());
    await using dispatch = await store.beginDispatch(taskDir, { role: 'r' });
    await dispatch.append({ type: 'agent:txt', data: {} });
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('agent:txt'), {
      type: 'HansardEventWarning',
    });
    warn.mockRestore();
  });

  it('is not reported where a schema is registered for it', async () => {
    const schemas = { 'agent:txt': z.object({}).loose() };
    expect((await recorded([{ type: 'agent:txt', data: move }], { schemas })).diagnostics).toEqual([]);
  });
});
