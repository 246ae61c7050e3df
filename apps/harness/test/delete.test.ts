import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';
import { type DurableStore, durableStores } from './durable-stores.ts';
import { lines, put, uuid } from './import-files.ts';

const canary = 'kumquat-4711-canary';

/** A native session with a worker and a letter, and an imported one; both with the canary. */
async function recorded(kind: DurableStore): Promise<CommandLine> {
  const line = commandLine();
  put(line, 'hansard.config.json', kind.config);
  const base = {
    type: 'user',
    parentUuid: null,
    isSidechain: false,
    cwd: '/work/shop',
    sessionId: 'session-1',
  };
  const message = { role: 'user', content: `hello ${canary}` };
  const record = { ...base, uuid: uuid(1), timestamp: '2026-03-01T09:00:00.000Z', message };
  put(line, 'session-1.jsonl', lines(record));
  await line.hansard('import', 'session-1.jsonl', '--task', 'a/imported');
  await using store = openDispatchStore(await kind.open(line.cwd));
  const taskDir = 'a/tasks/one';
  await using session = await store.beginDispatch(taskDir, { dispatchId: 'D1FIRST', role: 'r' });
  await session.append(newEvent('user:message', { text: canary, source: { kind: 'user' } }));
  await using worker = await store.beginDispatch(taskDir, {
    dispatchId: 'D2WORKER',
    role: 'r',
    parentDispatchId: 'D1FIRST',
  });
  await worker.append(newEvent('system:notice', { problem: 'none' }));
  await store.sendLetter(session, { text: `a letter with ${canary}` });
  await session.release();
  await worker.release();
  return line;
}

/** Every file below the folder of the store that has the canary. */
function filesWith({ cwd }: CommandLine, text: string): string[] {
  return globSync('.projects/**', { cwd, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}

describe.each(durableStores)('hansard store delete in the $name store', (kind) => {
  it('says what is lost and what stays, and deletes nothing that nobody confirmed', async () => {
    using line = await recorded(kind);
    const answer = await line.hansard('store', 'delete', 'a/one/D1FIRST');
    expect(answer).toMatchObject({ code: 2, out: '' });
    expect(answer.err).toContain('Session D1FIRST of a/one: 1 event, 1 letter, its 1 worker stays.\n');
    expect(answer.err).toContain('Add --yes to go ahead. Nothing was changed.');
    expect((await line.hansard('ls', '--json')).json()).toHaveLength(3);
  });

  it('leaves no byte of the deleted sessions and their letters, and the others as they were', async () => {
    using line = await recorded(kind);
    const before = await line.hansard('show', 'a/one/D2WORKER', '--raw', '--json');
    expect(filesWith(line, canary)).not.toEqual([]);
    await line.hansard('search', canary);
    const answer = await line.hansard('store', 'delete', 'a/one/D1FIRST', 'a/imported', '--yes', '--json');
    expect([answer.code, answer.json()]).toEqual([
      0,
      [
        { taskDir: 'a/tasks/one', dispatchId: 'D1FIRST', deleted: true, excluded: false, copies: [] },
        {
          taskDir: 'a/tasks/imported',
          dispatchId: expect.any(String),
          deleted: true,
          excluded: true,
          copies: [],
        },
      ],
    ]);
    expect((await line.hansard('ls', '--json')).json()).toMatchObject([{ dispatchId: 'D2WORKER' }]);
    expect(await line.hansard('show', 'a/one/D2WORKER', '--raw', '--json')).toEqual(
      expect.objectContaining({ code: 0, out: before.out }),
    );
    expect(await line.hansard('search', canary)).toMatchObject({ code: 1, out: '' });
    expect(await line.hansard('store', 'verify')).toMatchObject({ code: 0 });
    expect(filesWith(line, canary)).toEqual([]);
  });

  it('keeps imports from bringing a session back, until that is allowed', async () => {
    using line = await recorded(kind);
    const [{ dispatchId }] = (await line.hansard('ls', 'a/imported', '--json')).json() as [
      { dispatchId: string },
    ];
    await line.hansard('store', 'delete', dispatchId, '--yes');
    const again = ['import', 'session-1.jsonl', '--task', 'a/other', '--json'] as const;
    expect((await line.hansard(...again)).json()).toMatchObject([{ leftOut: 'excluded' }]);
    expect((await line.hansard('store', 'info', '--json')).json()).toMatchObject([
      { excluded: 1, sessions: 2 },
    ]);
    expect(await line.hansard('store', 'delete', 'D9', '--allow')).toMatchObject({
      code: 2,
      err: expect.stringContaining(`Excluded are: ${dispatchId}`),
    });
    const allowed = await line.hansard('store', 'delete', dispatchId.slice(-8), '--allow');
    expect(allowed).toMatchObject({ code: 0, out: `Imports may bring ${dispatchId} back.\n` });
    expect((await line.hansard(...again)).json()).toMatchObject([{ dispatchId, added: 1 }]);
  });
});
