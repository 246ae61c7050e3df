import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../command-line.ts';
import { lines, uuid } from '../import-files.ts';
import { type CommandCall, commandCalls } from './command-calls.ts';
import { countCalls } from './counting-store.ts';
import { files, type RecordedStore, recordStore, task } from './recorded-store.ts';

/** How many tasks, and how many dispatches of the task, the large store has more than the small one. */
const more = 40;
const folder = mkdtempSync(join(tmpdir(), 'hansard-store-calls-'));
let store: RecordedStore;
let calls: readonly CommandCall[];
const small = join(folder, 'small');
const large = join(folder, 'large');

/** Adds dispatches without events to the store of a folder. */
async function addDispatches(cwd: string, count: number, taskDirs: readonly ((at: number) => string)[]) {
  await using added = openDispatchStore(openJsonFileStore({ root: join(cwd, '.projects') }));
  for (let at = 0; at < count; at += 1)
    for (const taskDir of taskDirs) {
      // Older than the recorded ones, of which the last stays the latest.
      const dispatch = { role: 'worker', fidelity: 'full', startedAt: '2026-01-01T00:00:00.000Z' } as const;
      await using begun = await added.beginDispatch(taskDir(at), dispatch);
      await begun.end({ status: 'completed' });
    }
}

beforeAll(async () => {
  store = await recordStore({});
  calls = await commandCalls(store);
  for (const cwd of [small, large]) cpSync(store.line.cwd, cwd, { recursive: true });
  await addDispatches(large, more, [(at) => `chat/tasks/other-${at}`, () => task.replace('/', '/tasks/')]);
}, 240_000);

afterAll(() => {
  store.line[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * The calls for each dispatch of commands that read every dispatch of the task: the contract has no call that reads several. A read
 * of events has a page for the events, and one that is empty.
 */
const perDispatch: readonly (readonly [RegExp, number])[] = [
  [/^show chat\/talk(?: --\w+)*$/, 3],
  [/^search /, 1],
  [/^context .*--history/, 1],
  // With a task, also the letters to each dispatch.
  [/^store verify(?: chat\/talk)?$/, 2],
  [/^secrets scan(?: chat\/talk)?$/, 3],
  [/^secrets redact(?: chat\/talk)? --yes$/, 6],
  [/^export chat\/talk --as (?:otlp|markdown|html|pages|agent-trace|pull-request) ?/, 3],
  // Once for the agents that take part, and once for the lines.
  [/^export chat\/talk --as streams /, 4],
  [/^export chat\/talk --as (?:sft|trl|trl-chat|openai) /, 8],
];

/** The most calls of a command that reads. A packet is also checked against the log before it gets its name. */
const mostCalls = (words: string) => (words.startsWith('judge pack ') ? 28 : 20);

/** Commands that record: a call for each step of what they record. */
const recording = /^(?:run|chat|demo|import|secrets redact) /;

describe('the calls of the store', () => {
  it('of no command grow with the tasks and dispatches that it does not read', {
    timeout: 240_000,
  }, async () => {
    const tooMany: unknown[] = [];
    for (const { args } of calls) {
      const words = args.join(' ');
      const few = await countCalls(small, args);
      const many = await countCalls(large, args);
      expect([words, few.code, few.err, many.code]).toEqual([words, 0, expect.any(String), 0]);
      const each = perDispatch.find(([pattern]) => pattern.test(words))?.[1] ?? 0;
      // Without a task these also read the dispatch of each other task.
      const dispatches = ['store verify', 'search the', 'secrets scan', 'secrets redact --yes'].includes(
        words,
      )
        ? 2 * more
        : more;
      const isBounded = many.total <= few.total + each * dispatches;
      // The small store has two dispatches.
      if (!isBounded || (few.total - 2 * each > mostCalls(words) && !recording.test(words)))
        tooMany.push([words, few.total, many.total, many.calls]);
    }
    expect(tooMany).toEqual([]);
  });

  it.each([
    [['ls'], { listDispatches: 1, getRepairs: 1 }],
    [['ls', '--tasks'], { listTasks: 1, listDispatches: 1, getRepairs: 1 }],
    [['ls', '--limit', '20'], { listDispatches: 1, getRepairs: 1 }],
  ])('of %j are few for 300 tasks', { timeout: 240_000 }, async (args, expected) => {
    using line = commandLine();
    await addDispatches(line.cwd, 300, [(at) => `chat/tasks/task-${at}`]);
    const { code, calls: byName } = await countCalls(line.cwd, args);
    expect([code, byName]).toEqual([0, expected]);
  });

  it.each(['ls', 'tree'])(
    'of %s of a task are at most 4 for 300 dispatches that are running',
    {
      timeout: 240_000,
    },
    async (command) => {
      using line = commandLine();
      await using running = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
      for (let at = 0; at < 300; at += 1)
        await running.beginDispatch(task.replace('/', '/tasks/'), { role: 'worker' });
      const { code, total, calls: byName } = await countCalls(line.cwd, [command, task]);
      expect([code, byName]).toMatchObject([0, { findClaims: 1 }]);
      expect(total, JSON.stringify(byName)).toBeLessThanOrEqual(4);
    },
  );

  it.each([
    ['a recorded stream', files.stream, null],
    ['a transcript', 'transcript.jsonl', transcript(66)],
  ])('of an import of %s that adds nothing are at most 4', async (_, name, content) => {
    using line = commandLine();
    cpSync(join(store.line.cwd, files.stream), join(line.cwd, files.stream));
    if (content !== null) writeFileSync(join(line.cwd, name), content);
    // The first import adds everything. With --reread, one that adds nothing claims the dispatch and compares.
    for (const [again, most] of [
      [[], Number.POSITIVE_INFINITY],
      [[], 4],
      [['--reread'], 12],
    ] as const) {
      const args = ['import', name, '--task', task, ...again];
      const { code, calls: byName, total } = await countCalls(line.cwd, args);
      expect([args, code, byName]).toEqual([args, 0, byName]);
      expect(total, JSON.stringify(byName)).toBeLessThanOrEqual(most);
    }
    const imported = await line.hansard('ls', task, '--json');
    expect(imported.json()).toHaveLength(1);
  });
});

/** A transcript of Claude Code with this many messages. */
function transcript(count: number): string {
  const records = Array.from({ length: count }, (_, at) => ({
    type: 'user',
    uuid: uuid(at + 1),
    parentUuid: at === 0 ? null : uuid(at),
    sessionId: uuid(999),
    isSidechain: false,
    cwd: '/work',
    version: '2.0.0',
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString(),
    message: { role: 'user', content: `message ${at}` },
  }));
  return lines(...records);
}
