import { appendFileSync, utimesSync } from 'node:fs';
import { closeAbandonedDispatches, type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import type { ImportOptions } from '../src/index.ts';
import { importAll, LogFolder, lines } from './logs.ts';

const task = 'lab/tasks/quiet';
const start = Date.parse('2026-03-01T09:30:00.000Z');
const minute = 60_000;
const hour = 60 * minute;

const record = (number: number, fields: object) => ({
  parentUuid: null,
  isSidechain: false,
  cwd: '/srv/shop',
  sessionId: 'session-1',
  uuid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  timestamp: new Date(start + number * 1_000).toISOString(),
  ...fields,
});
const asks = (number: number, content: unknown = 'go') =>
  record(number, { type: 'user', message: { role: 'user', content } });
const answers = (number: number, ...content: object[]) =>
  record(number, {
    type: 'assistant',
    message: {
      id: `m${number}`,
      role: 'assistant',
      model: 'opus',
      stop_reason: null,
      content,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  });
const text = { type: 'text', text: 'Half' };
const call = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: { command: 'make' } });
const result = (id: string, content: unknown = 'made') => [{ type: 'tool_result', tool_use_id: id, content }];
const interrupted = '[Request interrupted by user for tool use]';

async function importAt(store: DispatchStore, path: string, now: number, options: ImportOptions = {}) {
  const [item] = await importAll(store, [path], { task, now: () => now, ...options });
  if (item?.kind === 'failed') throw item.error;
  const [envelope] = await store.getDispatchEnvelopes(task);
  const { status, completedAt, ended } = envelope ?? {};
  return { item, end: { status, completedAt, ended }, envelope };
}

const running = { status: 'running', completedAt: null, ended: null };
const endedAt = (status: string, number: number) => {
  const since = new Date(start + number * 1_000).toISOString();
  return { status, completedAt: since, ended: { because: 'quiet', since } };
};

/** Of a log without times, only its file says since when it is quiet, and the end is not recorded. */
const endedUnknown = (status: string, number: number) => ({ ...endedAt(status, number), completedAt: null });

describe('an imported session without an end', () => {
  it('is running while its last record is new, and has ended an hour later, although nothing was read', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('s.jsonl', lines(asks(1), answers(2, text)));
    expect((await importAt(store, path, start + 2_000 + hour)).end).toEqual(running);
    expect(await closeAbandonedDispatches(store, task)).toEqual([]);
    const again = await importAt(store, path, start + 2_000 + hour);
    expect(again).toMatchObject({ end: running, item: { kind: 'unchanged', quietEnd: null } });
    const later = await importAt(store, path, start + 2_001 + hour);
    const quietEnd = { status: 'completed', since: new Date(start + 2_000).toISOString() };
    expect(later).toMatchObject({ end: endedAt('completed', 2), item: { kind: 'unchanged', quietEnd } });
    const events = await store.getDispatchEvents(task, later.envelope?.dispatchId ?? '');
    expect(events.map(({ type }) => type)).toEqual(['user:message', 'session:init', 'agent:text']);
    expect(await importAt(store, path, start + 9 * hour)).toMatchObject({
      end: endedAt('completed', 2),
      item: { kind: 'unchanged', quietEnd: null },
    });
  });

  it('is running again when its file grows', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('s.jsonl', lines(asks(1), answers(2, call('t1'))));
    expect((await importAt(store, path, start + 2 * hour)).end).toEqual(endedAt('crashed', 2));
    const late = { ...asks(3), timestamp: new Date(start + 2 * hour).toISOString() };
    appendFileSync(path, lines(late));
    expect((await importAt(store, path, start + 2 * hour + minute)).end).toEqual(running);
    expect((await importAt(store, path, start + 4 * hour)).end).toMatchObject({ status: 'crashed' });
  });

  it.each([
    ['completed', 'a final text', [asks(1), answers(2, text)]],
    [
      'completed',
      'a final text after its calls',
      [asks(1), answers(2, call('t1')), asks(3, result('t1')), answers(4, text)],
    ],
    [
      'completed',
      'a final text and a command',
      [asks(1), answers(2, text), asks(3, '<command-name>/cost</command-name>')],
    ],
    ['aborted', 'an interrupted call', [asks(1), answers(2, call('t1')), asks(3, result('t1', interrupted))]],
    [
      'aborted',
      'an interruption',
      [asks(1), answers(2, call('t1')), asks(3, [{ type: 'text', text: interrupted }])],
    ],
    ['crashed', 'an open call', [asks(1), answers(2, call('t1'))]],
    [
      'crashed',
      'one of two calls open',
      [asks(1), answers(2, call('t1'), call('t2')), asks(3, result('t1'))],
    ],
    ['crashed', 'a text beside an open call', [asks(1), answers(2, call('t1')), answers(3, text)]],
    ['crashed', 'a result without an answer', [asks(1), answers(2, call('t1')), asks(3, result('t1'))]],
    ['crashed', 'a prompt without an answer', [asks(1)]],
    ['crashed', 'a prompt after an answer', [asks(1), answers(2, text), asks(3)]],
  ])('ends as %s after %s, imported once or after each record', async (status, _, records) => {
    using folder = new LogFolder();
    await using once = openDispatchStore(createMemoryStore());
    const path = folder.put('s.jsonl', lines(...records));
    expect((await importAt(once, path, start + 9 * hour)).end.status).toBe(status);
    await using grown = openDispatchStore(createMemoryStore());
    for (let count = 1; count <= records.length; count += 1) {
      folder.put('s.jsonl', lines(...records.slice(0, count)));
      await importAt(grown, path, start);
    }
    expect((await importAt(grown, path, start + 9 * hour)).end).toEqual(
      (await importAt(once, path, start + 9 * hour)).end,
    );
  });

  it('ends after the time that is asked for', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('s.jsonl', lines(asks(1)));
    const at = start + 1_000 + 5 * minute;
    expect((await importAt(store, path, at, { quietAfterMs: 5 * minute })).end.status).toBe('running');
    expect((await importAt(store, path, at + 1, { quietAfterMs: 5 * minute })).end.status).toBe('crashed');
  });

  it('takes the latest of times that are out of order, and that of the file only if no record has one', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('s.jsonl', lines(asks(7_200), asks(1), answers(2, text)));
    utimesSync(path, start / 1_000, start / 1_000);
    expect((await importAt(store, path, start + 2 * hour + hour)).end.status).toBe('running');
    expect((await importAt(store, path, start + 2 * hour + hour + 1)).end).toEqual(
      endedAt('completed', 7_200),
    );

    await using other = openDispatchStore(createMemoryStore());
    const { timestamp: _, ...timeless } = asks(1);
    folder.put('s.jsonl', lines(timeless));
    utimesSync(path, start / 1_000, start / 1_000);
    expect((await importAt(other, path, start + hour)).end.status).toBe('running');
    expect((await importAt(other, path, start + hour + 1)).end).toEqual(endedUnknown('crashed', 0));
  });

  it('keeps its own end: what its log says is not quiet', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const done = record(2, {
      type: 'assistant',
      message: { id: 'm2', role: 'assistant', model: 'opus', stop_reason: 'end_turn', content: [text] },
    });
    const path = folder.put('s.jsonl', lines(asks(1), done));
    const { end, envelope } = await importAt(store, path, start + 9 * hour);
    expect(end).toMatchObject({ status: 'completed', ended: null });
    expect(envelope?.source?.ifQuiet).toBeUndefined();
  });

  it('stays as it is while another program writes it', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('s.jsonl', lines(asks(1)));
    const { envelope } = await importAt(store, path, start);
    await using writer = await store.openDispatch(task, envelope?.dispatchId ?? '', { write: true });
    expect((await importAt(store, path, start + 9 * hour)).end).toEqual(running);
    await writer.release();
    expect((await importAt(store, path, start + 9 * hour)).end).toEqual(endedAt('crashed', 1));
  });

  it('ends a recorded stream without a result in the same way', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const message = (number: number, type: string, content: unknown) => ({
      type,
      session_id: 's',
      uuid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
      message: {
        id: `m${number}`,
        role: type,
        model: 'opus',
        content,
        usage: { input_tokens: 7, output_tokens: 2 },
      },
    });
    const path = folder.put(
      's.jsonl',
      lines(message(1, 'user', 'go'), message(2, 'assistant', [call('t1')])),
    );
    utimesSync(path, start / 1_000, start / 1_000);
    const options = { as: 'claude-stream' };
    expect((await importAt(store, path, start + hour, options)).end).toEqual(running);
    const { end, envelope } = await importAt(store, path, start + hour + 1, options);
    expect(end).toEqual(endedUnknown('crashed', 0));
    expect(envelope?.openCalls).toMatchObject([
      { id: 'm2:inference', usage: { inputTokens: 7, outputTokens: 2 } },
    ]);
  });
});
