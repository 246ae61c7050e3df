import { appendFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { closeAbandonedDispatches, openDispatchStore } from '@hansard/dispatch';
import { BalanceSheet } from '@hansard/events';
import type { LogImporterProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import type { ImportProgress } from '../src/import-source.ts';
import { findLogs, logImporters } from '../src/index.ts';
import { importAll, LogFolder, lines, logOfFormat, prompts } from './logs.ts';

const task = 'lab/tasks/logs';
const openStore = () => openDispatchStore(createMemoryStore());

describe('importLogs', () => {
  it('records a log in the task that it names, and adds only what is new the second time', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    const path = folder.put('s.jsonl', lines(...prompts(2)));
    const [first] = await importAll(store, [path]);
    expect(first).toMatchObject({ taskDir: 'home-ann-house/tasks/session-1', added: 2, notInLog: 0 });
    expect(await store.findTask('home-ann-house/tasks/session-1')).toMatchObject({ slug: 'session-1' });
    appendFileSync(path, lines(...prompts(3).slice(2)));
    expect(await importAll(store, [path])).toMatchObject([{ events: 3, added: 1 }]);
  });

  it('counts what an older copy of a transcript lacks, and leaves the dispatch as it is', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    await importAll(store, [folder.put('s.jsonl', lines(...prompts(3)))], { task });
    const [before] = await store.getDispatchEnvelopes(task);
    const older = folder.put('s.jsonl', lines(...prompts(1)));
    expect(await importAll(store, [older], { task })).toMatchObject([{ events: 1, added: 0, notInLog: 2 }]);
    expect(await store.getDispatchEnvelopes(task)).toEqual([before]);
  });

  it('leaves a session without an end running and released, until a later copy has the end', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    const [asked] = prompts(1);
    const now = () => Date.parse('2026-03-01T09:32:00.000Z');
    const path = folder.put('s.jsonl', lines(...prompts(1)));
    await importAll(store, [path], { task, now });
    expect(await store.getDispatchEnvelopes(task)).toMatchObject([{ status: 'running', completedAt: null }]);
    expect(await closeAbandonedDispatches(store, task)).toEqual([]);

    const turnEnd = { ...asked, type: 'system', subtype: 'turn_duration', durationMs: 1, uuid: 'end' };
    const ended = lines(...prompts(1), { ...turnEnd, timestamp: '2026-03-01T09:31:00.000Z' });
    await importAll(store, [folder.put('s.jsonl', ended)], { task, now });
    const [completed] = await store.getDispatchEnvelopes(task);
    expect(completed).toMatchObject({ status: 'completed', completedAt: '2026-03-01T09:31:00.000Z' });

    await importAll(store, [folder.put('s.jsonl', lines(...prompts(1)))], { task, now });
    expect(await store.getDispatchEnvelopes(task)).toEqual([completed]);
    const asking = lines(...prompts(2).slice(1));
    await importAll(store, [folder.put('s.jsonl', `${ended}${asking}`)], { task, now });
    expect(await store.getDispatchEnvelopes(task)).toMatchObject([{ status: 'running', completedAt: null }]);
  });

  it('has the totals of the stored events, whichever copies are imported in whatever order', async () => {
    const [asked] = prompts(1);
    const answers = [1, 2, 3].map((number) => ({
      ...asked,
      type: 'assistant',
      uuid: `answer-${number}`,
      message: {
        id: `msg_${number}`,
        role: 'assistant',
        model: 'claude-test',
        content: [{ type: 'text', text: `Answer ${number}` }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 10 * number, output_tokens: number },
      },
    }));
    const copies = [1, 2, 3].map((count) => lines(...prompts(1), ...answers.slice(0, count)));
    for (const order of [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
      [2, 2],
    ]) {
      using folder = new LogFolder();
      await using store = openStore();
      let largest = 0;
      for (const at of order) {
        await importAll(store, [folder.put('s.jsonl', copies[at] ?? '')], { task });
        largest = Math.max(largest, at);
        const [envelope] = await store.getDispatchEnvelopes(task);
        const events = await store.getDispatchEvents(task, envelope?.dispatchId ?? '');
        const calls = events.filter(({ type }) => type === 'agent:inference');
        expect(calls, String(order)).toHaveLength(largest + 1);
        expect(envelope?.usage, String(order)).toMatchObject({
          inputTokens: [10, 30, 60][largest],
          outputTokens: [1, 3, 6][largest],
        });
      }
    }
  });

  it('records a continued session as a dispatch of its own, in the task of the session before', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    const [first, second] = ['a', 'b'].map((letter) => `${letter.repeat(8)}-0000-4000-8000-000000000000`);
    const copied = { ...prompts(1)[0], sessionId: first };
    const own = { ...prompts(2)[1], sessionId: second };
    folder.put(`${first}.jsonl`, lines(copied));
    folder.put(`${second}.jsonl`, lines(copied, own));
    const items = await importAll(store, [folder.path]);
    expect(items.map((item) => item.kind === 'imported' && item.counts)).toEqual([{}, {}]);
    const taskDir = `home-ann-house/tasks/${first}`;
    const [before, after] = await store.getDispatchEnvelopes(taskDir);
    expect(before).toMatchObject({ parentDispatchId: null });
    const from = { product: 'claude-code', sessionId: first, dispatchId: before?.dispatchId };
    expect(after).toMatchObject({ parentDispatchId: null, forkedFrom: { from, kind: 'fork' } });
    const again = await importAll(store, [folder.path], { reread: true });
    expect(again).toMatchObject([{ added: 0 }, { added: 0 }]);
  });

  it('reports the logs that failed, with codes, and imports the others', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    folder.put('a.jsonl', lines(...prompts(1)));
    const session = folder.put('b.jsonl', logOfFormat['session-v2'] ?? '');
    const empty = folder.put('c.jsonl', '');
    const items = await importAll(store, [folder.path]);
    expect(items).toMatchObject([
      { kind: 'imported', format: 'claude-transcript' },
      { kind: 'failed', path: session, isOnly: false, error: { code: 'IMPORT_TASK_REQUIRED' } },
      { kind: 'failed', path: empty, isOnly: false, error: { code: 'FORMAT_EMPTY' } },
    ]);
  });

  it('reports a folder without logs, and a second log with the same name and first record, with codes', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    const none = folder.put('none/readme.txt', 'no log');
    expect(await importAll(store, [dirname(none)])).toMatchObject([
      { kind: 'failed', error: { code: 'IMPORT_NO_LOGS', details: { path: dirname(none) } } },
    ]);
    const [file, other] = ['1', '2'].map((run) =>
      folder.put(`runs/${run}/logs/s.jsonl`, logOfFormat['session-v2'] ?? ''),
    );
    expect(await importAll(store, [join(folder.path, 'runs')], { task })).toMatchObject([
      { kind: 'imported' },
      { kind: 'failed', error: { code: 'IMPORT_AMBIGUOUS', details: { file: other, other: file } } },
    ]);
  });

  it('gives a session log without times the time of its first import', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    const path = folder.put('s.jsonl', logOfFormat['session-v2'] ?? '');
    await importAll(store, [path], { task, now: () => 1_000 });
    const again = await importAll(store, [path], { task, now: () => 2_000, reread: true });
    expect(again).toMatchObject([{ added: 0, rewrittenCount: 0 }]);
  });

  it('gives its progress in bytes of all files, and in logs', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    for (const name of ['a', 'b']) folder.put(`${name}.jsonl`, lines(...prompts(2)));
    const progress: ImportProgress[] = [];
    await importAll(store, [folder.path], { task, onProgress: (now) => progress.push(now) });
    const [{ of } = { of: 0 }] = progress;
    expect(progress).toEqual([
      { bytes: of / 2, of, log: 1, logs: 2 },
      { bytes: of, of, log: 2, logs: 2 },
    ]);
  });

  it('uses importers of other formats beside the known ones', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    const diary: LogImporterProvider = {
      contract: 1,
      id: 'diary',
      title: 'a diary',
      detect: ({ text }) => text.startsWith('Dear diary'),
      open: ({ files }) => [
        {
          format: 'diary',
          files,
          dispatchId: '01JNTEST000000000000000000',
          startedAt: 0,
          async *read() {
            yield [
              { id: 'e1', type: 'agent:text', timestamp: '1970-01-01T00:00:00.000Z', data: { text: 'Hi' } },
            ];
          },
          summary: () => ({
            records: 1,
            events: 1,
            status: 'completed',
            completedAt: 0,
            diagnostics: [],
            counts: {},
            balance: new BalanceSheet().balance,
          }),
        },
      ],
    };
    const path = folder.put('d.jsonl', 'Dear diary');
    const importers = [...logImporters, diary];
    expect(await importAll(store, [path], { task, importers })).toMatchObject([
      { kind: 'imported', format: 'diary', added: 1 },
    ]);
    expect(await store.getDispatchEnvelopes(task)).toMatchObject([{ role: 'imported', status: 'completed' }]);
  });
});

describe('findLogs', () => {
  it('has the files of sub-agents with their session, and names what cannot be read', () => {
    using folder = new LogFolder();
    const session = folder.put('s.jsonl', lines(...prompts(1)));
    const agent = folder.put('s/subagents/agent-x.jsonl', lines(...prompts(1)));
    const gone = join(folder.path, 'gone');
    expect(findLogs([folder.path, gone])).toMatchObject({
      logs: [{ files: [session, agent] }],
      problems: [{ path: gone, isNamed: true, error: { code: 'FORMAT_UNREADABLE' } }],
    });
  });
});
