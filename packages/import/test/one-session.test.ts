import { appendFileSync } from 'node:fs';
import { openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { importAll, LogFolder, lines, prompts } from './logs.ts';

const snapshot = {
  type: 'file-history-snapshot',
  messageId: 'm1',
  snapshot: { messageId: 'm1', trackedFileBackups: {} },
  sessionId: 'session-1',
};
const queued = {
  type: 'queue-operation',
  operation: 'enqueue',
  timestamp: '2026-03-01T09:29:00.000Z',
  sessionId: 'session-1',
};

async function sessionsOf(store: ReturnType<typeof openDispatchStore>) {
  const found: { taskDir: string; dispatchId: string }[] = [];
  for await (const { taskDir, dispatchId = '' } of store.dispatches()) found.push({ taskDir, dispatchId });
  return found;
}

describe('a session of Claude Code', () => {
  it.each([
    ['no record with a time', [snapshot]],
    ['no record with a folder', [snapshot, queued]],
  ])('that begins with %s is the same dispatch in the same task once it has one', async (_, first) => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('session-1.jsonl', lines(...first));
    await importAll(store, [path], { as: 'claude-transcript' });
    const [before] = await sessionsOf(store);
    appendFileSync(path, lines(...prompts(3)));
    await importAll(store, [path]);
    expect(await sessionsOf(store)).toEqual([before]);
    const envelope = await store.getDispatchEnvelope(before ?? { taskDir: '', dispatchId: '' });
    expect(envelope).toMatchObject({
      cwd: '/home/ann/house',
      startedAt: expect.stringMatching(/^2026-03-01T09:/),
    });
    expect(envelope?.source?.files).toHaveLength(1);
  });

  it('that moved to another folder stays in the task of its first import', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    await importAll(store, [folder.put('projects/one/session-1.jsonl', lines(...prompts(2)))]);
    await importAll(store, [folder.put('projects/two/session-1.jsonl', lines(...prompts(3)))]);
    expect((await sessionsOf(store)).map(({ taskDir }) => taskDir)).toEqual(['one/tasks/session-1']);
    await importAll(store, [folder.path], { task: 'lab/tasks/given' });
    expect((await sessionsOf(store)).map(({ taskDir }) => taskDir)).toContain('lab/tasks/given');
  });

  it('with a teammate is the same, whichever of the two files was there or grew first', async () => {
    const [first, ...rest] = prompts(7);
    const message = (role: string, content: readonly object[]) => ({ role, content });
    const input = { prompt: 'Count.', name: 'alice' };
    const calls = [{ type: 'tool_use', id: 'c1', name: 'Agent', input }];
    const results = [{ type: 'tool_result', tool_use_id: 'c1', content: 'Spawned.' }];
    const toolUseResult = { status: 'teammate_spawned', name: 'alice' };
    const note = '<teammate-message teammate_id="alice">\nSeven.\n</teammate-message>';
    const main = [
      first,
      { ...rest[0], type: 'assistant', message: { ...message('assistant', calls), id: 'm1' } },
      { ...rest[1], message: message('user', results), toolUseResult },
      { ...rest[2], message: message('user', [{ type: 'text', text: note }]) },
    ].filter((record) => record !== undefined);
    const agent = rest.slice(3, 5).map((record) => ({ ...record, isSidechain: true, agentId: 'a1' }));
    const meta = JSON.stringify({ name: 'alice', taskKind: 'in_process_teammate' });
    const read = async (stages: readonly (readonly [ofMain: number, ofAgent: number])[]) => {
      using folder = new LogFolder();
      await using store = openDispatchStore(createMemoryStore());
      for (const [ofMain, ofAgent] of stages) {
        folder.put('session-1.jsonl', lines(...main.slice(0, ofMain)));
        if (ofAgent > 0) folder.put('session-1/subagents/agent-a1.meta.json', meta);
        if (ofAgent > 0) folder.put('session-1/subagents/agent-a1.jsonl', lines(...agent.slice(0, ofAgent)));
        await importAll(store, [folder.path]);
      }
      const [one = { taskDir: '', dispatchId: '' }] = await sessionsOf(store);
      const events = await store.getDispatchEvents(one.taskDir, one.dispatchId);
      return events.map((event) => JSON.stringify(event)).sort();
    };
    const whole = await read([[4, 2]]);
    expect(whole.filter((event) => /agent:created.*"cause"/.test(event))).toHaveLength(1);
    for (const ofMain of [1, 2, 3, 4])
      for (const ofAgent of ofMain === 1 ? [0] : [0, 1, 2])
        expect(
          await read([
            [ofMain, ofAgent],
            [4, 2],
          ]),
          `${ofMain} and ${ofAgent}`,
        ).toEqual(whole);
  });

  it('has a dispatch of its own beside another session of the same time', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const others = prompts(2).map((record) => ({ ...record, sessionId: 'session-2' }));
    folder.put('session-1.jsonl', lines(...prompts(2)));
    folder.put('session-2.jsonl', lines(...others));
    await importAll(store, [folder.path]);
    expect(new Set((await sessionsOf(store)).map(({ dispatchId }) => dispatchId)).size).toBe(2);
  });
});
