import { openDispatchStore, type RunDispatchOptions, runDispatch, startDispatch } from '@hansard/dispatch';
import type { TaskRecord } from '@hansard/events';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { says, yields } from '../support/scripted-agent.ts';

const taskDir = 'lab/tasks/route-models';

const existing: TaskRecord = {
  slug: 'route-models',
  name: 'Which models to route to',
  project: 'lab',
  status: 'completed',
  created: '2026-01-01T00:00:00.000Z',
};

function prepare(provider: DispatchStoreProvider = createMemoryStore()) {
  const store = openDispatchStore(provider);
  const base: RunDispatchOptions = {
    store,
    taskDir,
    role: 'worker',
    dispatchId: 'D1',
    agent: yields(says('done')),
  };
  return { store, base };
}

const damaged = storeErrors.error('STORE_CORRUPT', 'The record is damaged.');

describe('a run', () => {
  it('creates the record of a task that has none, from the start of its dispatch', async () => {
    const { store, base } = prepare();
    await runDispatch(base);
    const { startedAt: created } = (await store.getDispatchEnvelope(taskDir, 'D1')) ?? {};
    expect(await store.findTask(taskDir)).toEqual({
      slug: 'route-models',
      name: 'route-models',
      project: 'lab',
      status: 'open',
      created,
    });
  });

  it('has the record in the store before its agent begins', async () => {
    const { store, base } = prepare();
    const run = await startDispatch(base);
    expect(await store.findTask(taskDir)).toMatchObject({ slug: 'route-models' });
    await run.ended;
  });

  it('leaves a record that exists as it is', async () => {
    const { store, base } = prepare();
    await store.putTask(taskDir, existing);
    await runDispatch(base);
    expect(await store.findTask(taskDir)).toEqual(existing);
  });

  it('that does not begin leaves no task behind', async () => {
    const { store, base } = prepare();
    const tools = {
      contract: 1,
      listTools: () => Promise.reject(new Error('no server')),
      callTool: () => damaged as never,
    } as const;
    await expect(runDispatch({ ...base, tools: [tools] })).rejects.toThrow('no server');
    const agent = {
      contract: 1,
      run: base.agent.run,
      recordedStart: () => Promise.reject(new Error('no stream')),
    } as const;
    await expect(runDispatch({ ...base, agent })).rejects.toThrow('no stream');
    expect(await store.findTask(taskDir)).toBeNull();
  });

  it('continues without a record that cannot be read, and reports it', async () => {
    const { store, base } = prepare(changedStore(() => ({ findTask: () => Promise.reject(damaged) })));
    const problems: unknown[] = [];
    const { status } = await runDispatch({ ...base, onTaskProblem: (error) => problems.push(error) });
    expect(status).toBe('completed');
    expect(problems).toEqual([damaged]);
    expect(await store.getDispatchEvents(taskDir, 'D1')).toHaveLength(1);
  });

  it('gives its dispatch back if the listener of such problems throws', async () => {
    const { store, base } = prepare(changedStore(() => ({ findTask: () => Promise.reject(damaged) })));
    const onTaskProblem = () => {
      throw new Error('a broken listener');
    };
    await expect(startDispatch({ ...base, onTaskProblem })).rejects.toThrow('a broken listener');
    await using again = await store.openDispatch(taskDir, 'D1', { write: true });
    expect(again.envelope.status).toBe('running');
  });
});
