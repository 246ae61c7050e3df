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
