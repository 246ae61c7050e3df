import { appendFileSync, utimesSync } from 'node:fs';
import { openDispatchStore } from '@hansard/dispatch';
import { logImporters } from '@hansard/import';
import type { LogImporterProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { importAll, LogFolder, lines, logOfFormat, prompts } from './logs.ts';

const task = 'lab/tasks/house';
const openStore = () => openDispatchStore(createMemoryStore());

/** The known importers, which count the logs that are read. */
function countingImporters() {
  const counted = { reads: 0 };
  const importers = logImporters.map(
    (importer): LogImporterProvider => ({
      ...importer,
      open: async (source, context) =>
        (await importer.open(source, context)).map((log) => ({
          ...log,
          summary: () => log.summary(),
          read(options) {
            counted.reads += 1;
            return log.read(options);
          },
        })),
    }),
  );
  return { counted, importers };
}

describe('a log that has not changed since its last import', () => {
  it.each(Object.entries(logOfFormat))('is not read, in the format %s', async (as, content) => {
    using folder = new LogFolder();
    await using store = openStore();
    const { counted, importers } = countingImporters();
    const path = folder.put(as === 'werewolf-match' ? 's.json' : 's.jsonl', content);
    const importIt = () => importAll(store, [path], { task, as, importers });
    const first = await importIt();
    const { reads } = counted;
    expect(reads).toBe(first.length);
    expect((await importIt()).map(({ kind }) => kind)).toEqual(first.map(() => 'unchanged'));
    expect(counted.reads).toBe(reads);
  });

  it('is read again when it is asked for', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    const path = folder.put('s.jsonl', lines(...prompts(2)));
    await importAll(store, [path], { task });
    const again = await importAll(store, [path], { task, reread: true });
    expect(again).toMatchObject([{ kind: 'imported', added: 0, events: 2 }]);
  });

  it('is read again after its time, its size or its files have changed, or its dispatch was deleted', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    const path = folder.put('s.jsonl', lines(...prompts(2)));
    const kinds = async () => (await importAll(store, [path], { task })).map(({ kind }) => kind);
    expect(await kinds()).toEqual(['imported']);
    expect(await kinds()).toEqual(['unchanged']);
    utimesSync(path, 1_000, 1_000);
    expect(await kinds()).toEqual(['imported']);
    expect(await kinds()).toEqual(['unchanged']);
    appendFileSync(path, lines(...prompts(3).slice(2)));
    expect(await kinds()).toEqual(['imported']);
    expect(await kinds()).toEqual(['unchanged']);
    const agent = prompts(4)
      .slice(3)
      .map((record) => ({ ...record, isSidechain: true, agentId: 'a1' }));
    folder.put('s/subagents/agent-a1.jsonl', lines(...agent));
    expect(await kinds()).toEqual(['imported']);
    expect(await kinds()).toEqual(['unchanged']);
    const [envelope] = await store.getDispatchEnvelopes(task);
    await store.deleteDispatch({ taskDir: task, dispatchId: envelope?.dispatchId ?? '' }, { exclude: false });
    expect(await kinds()).toEqual(['imported']);
  });

  it('is read again after an import that was interrupted', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    const path = folder.put('s.jsonl', lines(...prompts(2_000)));
    const stop = new AbortController();
    await importAll(store, [path], { task, signal: stop.signal, onProgress: () => stop.abort() });
    const [partly] = await store.getDispatchEnvelopes(task);
    expect(partly).toMatchObject({ status: 'aborted', source: { format: 'claude-transcript', files: [] } });
    expect(await importAll(store, [path], { task })).toMatchObject([{ kind: 'imported', events: 2_000 }]);
    expect(await importAll(store, [path], { task })).toMatchObject([{ kind: 'unchanged' }]);
  });

  it('is read again after an import that failed', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    const path = folder.put('s.jsonl', lines(...prompts(2)));
    await importAll(store, [path], { task });
    const failing = logImporters.map(
      (importer): LogImporterProvider => ({
        ...importer,
        open: async (source, context) =>
          (await importer.open(source, context)).map((log) => ({
            ...log,
            summary: () => log.summary(),
            // biome-ignore lint/correctness/useYield: it fails before its first batch
            async *read() {
              throw new Error('The disk is gone.');
            },
          })),
      }),
    );
    const failed = await importAll(store, [path], { task, importers: failing, reread: true });
    expect(failed).toMatchObject([{ kind: 'failed' }]);
    expect(await importAll(store, [path], { task })).toMatchObject([{ kind: 'imported', events: 2 }]);
  });

  it('is named in the envelope by name, size and time, without its folder', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    const content = lines(...prompts(2));
    const path = folder.put('s.jsonl', content);
    utimesSync(path, 1_000, 1_000);
    await importAll(store, [path], { task });
    const [envelope] = await store.getDispatchEnvelopes(task);
    expect(envelope?.source).toMatchObject({
      format: 'claude-transcript',
      files: [{ name: 's.jsonl', bytes: Buffer.byteLength(content), modifiedAt: 1_000_000 }],
    });
    const source = JSON.stringify(envelope?.source);
    expect(source).not.toContain(folder.path);
    expect(source).not.toContain('Prompt 1');
  });
});
