import { mkdirSync, renameSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { formatErrors, type JsonObject } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { createLogIndex } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { importAll, LogFolder, lines, prompts } from './logs.ts';

const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** A prompt or an answer after another one; null: after none. */
function row(number: number, parent: number | null, fields: JsonObject = {}): JsonObject {
  const isPrompt = number % 2 === 1;
  const text = `${isPrompt ? 'Prompt' : 'Answer'} ${number}`;
  const answer = { id: `msg_${number}`, type: 'message', role: 'assistant', model: 'claude-test' };
  const usage = { input_tokens: 1, output_tokens: 1 };
  return {
    type: isPrompt ? 'user' : 'assistant',
    ...{ isSidechain: false, cwd: '/home/ann/house', sessionId: 'session-1', uuid: uuid(number) },
    parentUuid: parent === null ? null : uuid(parent),
    timestamp: `2026-03-01T09:${String(number).padStart(2, '0')}:00.000Z`,
    message: isPrompt
      ? { role: 'user', content: text }
      : { ...answer, content: [{ type: 'text', text }], stop_reason: 'end_turn', usage },
    ...fields,
  };
}

const rows = (...numbers: number[]) =>
  numbers.map((number, at) => row(number, at === 0 ? null : (numbers[at - 1] ?? null)));

/** The first dispatch of a store. */
async function stored(store: DispatchStore) {
  for await (const entry of store.dispatches()) {
    if ('error' in entry) throw entry.error;
    const events = await store.getDispatchEvents(entry.taskDir, entry.dispatchId);
    const prompts = events.filter(({ type }) => type === 'user:message').length;
    return { envelope: entry.envelope, events, prompts };
  }
  throw new Error('The store has no dispatch.');
}

/** Imports a file of a session with some content after the other, and reads the dispatch. */
class Source implements Disposable {
  readonly folder = new LogFolder();
  readonly store: DispatchStore = openDispatchStore(createMemoryStore());

  async import(content: readonly JsonObject[], reread = false) {
    this.folder.put('session-1.jsonl', lines(...content));
    const [item] = await importAll(this.store, [this.folder.path], { reread });
    if (item?.kind !== 'imported') throw new Error(`The file was not imported: ${item?.kind}.`);
    return item;
  }

  /** The numbers of the rows that the last answer was given, and of those that were abandoned. */
  async read() {
    const { events } = await stored(this.store);
    const index = createLogIndex(events);
    const own = index.nodes.filter(({ event }) => /^(user:message|agent:text)$/.test(event.type));
    const numbersOf = (fate: 'abandoned' | null) =>
      own.filter((node) => index.fateOf(node) === fate).map(({ event }) => Number(event.id.slice(-4)));
    return { current: numbersOf(null), abandoned: numbersOf('abandoned') };
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
  }
}

describe('a transcript that has lost rows', () => {
  it('keeps what was imported, and says how much of that is not in the file', async () => {
    using source = new Source();
    await source.import(rows(1, 2, 3, 4));
    expect(await source.import(rows(1, 2))).toMatchObject({ added: 0, notInLog: 3, counts: {} });
    expect(await source.read()).toEqual({ current: [1, 2, 3, 4], abandoned: [] });
  });

  it('continues after the last row that it has, and what it lost is abandoned', async () => {
    using source = new Source();
    await source.import(rows(1, 2, 3, 4));
    const shorter = rows(1, 2, 5, 6);
    expect(await source.import(shorter)).toMatchObject({
      counts: { rows_lost: 2 },
      diagnostics: [
        { code: 'rows_lost', message: expect.stringContaining('The source has lost 2 messages') },
      ],
    });
    expect(await source.read()).toEqual({ current: [1, 2, 5, 6], abandoned: [3, 4] });
    expect(await source.import(shorter, true)).toMatchObject({ added: 0, counts: {} });
    expect(await source.import([...shorter, row(7, 6), row(8, 7)])).toMatchObject({ added: 3, counts: {} });
    expect(await source.read()).toEqual({ current: [1, 2, 5, 6, 7, 8], abandoned: [3, 4] });
    expect(await source.import(rows(1, 9, 10))).toMatchObject({ counts: { rows_lost: 7 } });
    expect(await source.read()).toEqual({ current: [1, 9, 10], abandoned: [2, 3, 4, 5, 6, 7, 8] });
  });

  it('continues after the end of the branch that it had, not after a late row of another one', async () => {
    using source = new Source();
    const late = row(7, 4, { isMeta: true });
    const begun = [...rows(1, 2, 3, 4), row(5, 2), row(6, 5), late];
    await source.import([...begun, row(9, 6), row(10, 9)]);
    await source.import([...begun, row(11, 6), row(12, 11)]);
    expect(await source.read()).toEqual({ current: [1, 2, 5, 6, 11, 12], abandoned: [3, 4, 7, 9, 10] });
  });

  it('begins anew where another conversation of the same session replaced it', async () => {
    using source = new Source();
    await source.import(rows(1, 2, 3, 4));
    expect(await source.import(rows(11, 12))).toMatchObject({ counts: { rows_lost: 4 } });
    expect(await source.read()).toEqual({ current: [11, 12], abandoned: [1, 2, 3, 4] });
  });

  it('has lost no branch where it has a new row between old ones', async () => {
    using source = new Source();
    await source.import(rows(1, 2, 3, 4));
    const [first, second, third] = rows(1, 2, 3);
    const content = [first, row(6, 1), second, third].filter((one) => one !== undefined);
    expect(await source.import(content)).toMatchObject({ counts: {} });
    expect((await source.read()).abandoned).toEqual([]);
  });
});

it('a file with the records of another session is that session, and the one that had the name stays', async () => {
  using folder = new LogFolder();
  await using store = openDispatchStore(createMemoryStore());
  const [one, other] = [uuid(0), uuid(1)];
  const of = (sessionId: string) => lines(...prompts(2).map((record) => ({ ...record, sessionId })));
  await importAll(store, [folder.put(`${one}.jsonl`, of(one))]);
  const [item] = await importAll(store, [folder.put(`${one}.jsonl`, of(other))]);
  const message = `The file has the name of the session ${one}, and records of ${other}.`;
  expect(item).toMatchObject({ added: 2, diagnostics: [{ code: 'session_changed', message }] });
  const counts: number[] = [];
  for await (const { taskDir, dispatchId = '' } of store.dispatches())
    counts.push((await store.getDispatchEvents(taskDir, dispatchId)).length);
  expect(counts).toEqual([2, 2]);
});

describe('a transcript that changes while it is read', () => {
  const many = Array.from({ length: 3_000 }, (_, at) => at + 1);
  const content = many.map((number) => ({ ...prompts(1)[0], uuid: uuid(number), parentUuid: null }));
  const agent = content.slice(0, 2).map((record, at) => ({
    ...record,
    ...{ uuid: uuid(9_000 + at), isSidechain: true, agentId: 'a1' },
  }));

  /** Imports a session of 3,000 prompts with a sub-agent, and calls back once while it is read. */
  async function reading(folder: LogFolder, store: DispatchStore, change: () => void) {
    folder.put('p/session-1.jsonl', lines(...content));
    folder.put('p/session-1/subagents/agent-a1.jsonl', lines(...agent));
    let isChanged = false;
    return await importAll(store, [folder.path], {
      onProgress: () => {
        if (!isChanged) change();
        isChanged = true;
      },
    });
  }

  it('is not complete after it was moved, and is at the next import from its new place', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const [item] = await reading(folder, store, () => {
      mkdirSync(join(folder.path, 'q'));
      for (const name of ['session-1.jsonl', 'session-1'])
        renameSync(join(folder.path, 'p', name), join(folder.path, 'q', name));
    });
    if (item?.kind !== 'failed') throw new Error(`The import did not fail: ${item?.kind}.`);
    expect(formatErrors.is(item.error, 'FORMAT_UNREADABLE')).toBe(true);
    expect((await stored(store)).envelope).toMatchObject({ status: 'aborted', source: { files: [] } });
    await importAll(store, [folder.path]);
    const { prompts: count, envelope } = await stored(store);
    expect(count).toBe(3_002);
    expect(envelope.source?.files).toHaveLength(2);
  });

  it('has what was read before it was shortened, and is read again by the next import', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = join(folder.path, 'p/session-1.jsonl');
    await reading(folder, store, () => truncateSync(path, 1_000));
    const before = await stored(store);
    expect(before.prompts).toBeGreaterThan(3);
    const [item] = await importAll(store, [folder.path]);
    expect(item).toMatchObject({ kind: 'imported', added: 0 });
    folder.put('p/session-1.jsonl', lines(...content));
    await importAll(store, [folder.path]);
    expect((await stored(store)).prompts).toBe(3_002);
  });

  it.each([
    ['are lost', [21, 24], 2, [22, 25]],
    ['are lost, also where it has as many bytes as before', [21, 23, 24], 2, [22, 25]],
    ['are not lost, where it only grew', [21, 22, 25, 26, 27], 0, []],
  ] as const)(
    'rows of a sub-agent, whose file was shortened and continued, %s',
    async (_, then, lost, gone) => {
      using source = new Source();
      const side = { isSidechain: true, agentId: 'a1' };
      const ofAgent = (numbers: readonly number[]) =>
        lines(...rows(...numbers).map((one) => ({ ...one, ...side })));
      const file = 'session-1/subagents/agent-a1.jsonl';
      source.folder.put(file, ofAgent([21, 22, 25]));
      await source.import(rows(1, 2, 3));
      source.folder.put(file, ofAgent(then));
      const { counts } = await source.import(rows(1, 2, 3, 4));
      expect(counts.rows_lost ?? 0).toBe(lost);
      const { events } = await stored(source.store);
      const index = createLogIndex(events);
      const isSaid = ({ type }: { type: string }) => /^(user:message|agent:text)$/.test(type);
      const abandoned = index.nodes.filter(
        (node) => isSaid(node.event) && index.fateOf(node) === 'abandoned',
      );
      expect(abandoned.map(({ event }) => event.id)).toEqual(gone.map(uuid));
      const again = await source.import(rows(1, 2, 3, 4, 5));
      expect(
        (await stored(source.store)).events.filter(({ type }) => type === 'session:rewind'),
      ).toHaveLength(lost === 0 ? 0 : 1);
      expect(again.rewrittenCount).toBe(0);
    },
  );
});
