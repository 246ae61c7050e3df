import { DatabaseSync } from 'node:sqlite';
import { dispatchId, envelope, growingEvents, taskDir, textEvent } from '@hansard/testing/store-samples';
import { describe, expect, it } from 'vitest';
import { openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

describe('searchEvents', () => {
  it('finds events with every word, without regard to case, accents and punctuation', () => {
    const store = storeWithDispatch();
    store.appendEvents(taskDir, dispatchId, [
      textEvent('a', 'Das Café öffnet src/main.ts'),
      textEvent('b', 'a cafe, closed'),
    ]);
    const found = (query: string) => store.searchEvents(query, { taskDir }).map((hit) => hit.event.id);
    expect(found('CAFE')).toEqual(['a', 'b']);
    expect(found('cafe closed')).toEqual(['b']);
    expect(found('main.ts src')).toEqual(['a']);
    expect(found('o\u0308ffnet')).toEqual(['a']);
    expect(found('cafe elsewhere')).toEqual([]);
  });

  it('searches tool targets, errors, results and events of unknown types, but not signatures', () => {
    const store = storeWithDispatch();
    const timestamp = '2026-03-01T09:00:01.000Z';
    const data = [
      { toolCallId: 'toolu_ibis', tool: 'Bash', target: 'heron', metadata: {} },
      { toolCallId: 'toolu_ibis', tool: 'Bash', status: 'error', error: 'heron', metadata: {} },
      { status: 'failed', errors: ['x', 'heron'] },
      { deep: [{ deeper: { words: 'a heron' } }] },
      { text: 'nothing', signature: 'zebra' },
    ];
    store.appendEvents(
      taskDir,
      dispatchId,
      data.map((item, index) => ({ id: `e${index}`, type: 'game:bird', timestamp, data: item })),
    );
    expect(store.searchEvents('heron', { taskDir }).map((hit) => hit.position)).toEqual([0, 1, 2, 3]);
    expect(store.searchEvents('zebra', { taskDir })).toEqual([]);
    expect(store.searchEvents('toolu_ibis', { taskDir }).map((hit) => hit.position)).toEqual([0, 1]);
  });

  it.each([
    '"',
    'AND',
    'NOT x',
    'NEAR(a b)',
    'text:word',
    '-word',
    '^word',
    '(',
    "'",
    '*',
    '\0',
    '\ud800',
    'a\0b',
  ])('searches for %j as words, never as a command', (query) => {
    const store = storeWithDispatch();
    store.appendEvent(taskDir, dispatchId, textEvent('a', 'one plain sentence'));
    expect(store.searchEvents(query, { taskDir })).toEqual([]);
    expect(store.searchEvents('plain', { taskDir })).toHaveLength(1);
  });

  it('finds events that any store on the database appended after an earlier search', () => {
    const path = temporaryPath();
    const store = storeWithDispatch(path);
    const reader = openStore(path);
    store.appendEvents(taskDir, dispatchId, growingEvents(1200));
    expect(reader.searchEvents('e001199', { taskDir })).toHaveLength(1);
    store.appendEvent(taskDir, dispatchId, textEvent('f', 'heron'));
    expect(reader.searchEvents('heron', { taskDir })).toEqual([
      { taskDir, dispatchId, position: 1200, event: textEvent('f', 'heron') },
    ]);
    expect(reader.searchEvents('text', { taskDir, limit: 5000 })).toHaveLength(1200);
  });

  it('returns the newest hits of all dispatches, newest last, or those of one dispatch', () => {
    const store = storeWithDispatch();
    store.createDispatch(taskDir, envelope({ dispatchId: 'later' }));
    store.createDispatch('another/task', envelope());
    const at = (second: number) => `2026-03-01T09:00:0${second}.000Z`;
    store.appendEvent(taskDir, 'later', textEvent('b', 'heron', at(2)));
    store.appendEvent(taskDir, dispatchId, textEvent('a', 'heron', at(1)));
    store.appendEvent(taskDir, dispatchId, textEvent('c', 'heron', at(3)));
    store.appendEvent('another/task', dispatchId, textEvent('d', 'heron', at(4)));
    const ids = (options = {}) =>
      store.searchEvents('heron', { taskDir, ...options }).map((hit) => hit.event.id);
    expect(ids()).toEqual(['a', 'b', 'c']);
    expect(ids({ limit: 2 })).toEqual(['b', 'c']);
    expect(ids({ dispatchId })).toEqual(['a', 'c']);
    expect(ids({ dispatchId: 'unknown' })).toEqual([]);
  });

  it('makes an index of another rule of words again, and reports how far it is', () => {
    const path = temporaryPath();
    const store = storeWithDispatch(path);
    const texts = Array.from({ length: 1_200 }, (_, at) =>
      textEvent(`t${at}`, at === 7 ? '明天开项目会议' : 'heron'),
    );
    store.appendEvents(taskDir, dispatchId, texts);
    expect(store.searchEvents('项目', { taskDir })).toHaveLength(1);
    // As another rule makes it: the runs of letters as words, and no text that names the rule.
    const database = new DatabaseSync(path);
    database.exec(`INSERT INTO event_search (event_search) VALUES ('delete-all')`);
    const insert = database.prepare('INSERT INTO event_search (rowid, text) VALUES (1 << 32 | ?, ?)');
    for (const [at, event] of texts.entries()) insert.run(at, String(event.data.text));
    database.close();
    expect(store.searchEvents('项目', { taskDir })).toEqual([]);
    const reader = openStore(path);
    const indexed: number[] = [];
    const hits = reader.searchEvents('项目', { taskDir, onIndexed: (events) => indexed.push(events) });
    expect(hits.map(({ position }) => position)).toEqual([7]);
    expect(indexed).toEqual([500, 1_000, 1_200]);
    expect(reader.searchEvents('heron', { taskDir, limit: 2_000 })).toHaveLength(1_199);
    const again = openStore(path);
    const repeated: number[] = [];
    again.searchEvents('项目', { taskDir, onIndexed: (events) => repeated.push(events) });
    expect(repeated).toEqual([]);
  });

  it('finds nothing of a dispatch that was deleted', () => {
    const store = storeWithDispatch();
    store.appendEvent(taskDir, dispatchId, textEvent('a', 'heron'));
    expect(store.searchEvents('heron', { taskDir })).toHaveLength(1);
    store.deleteDispatch(taskDir, dispatchId);
    store.createDispatch(taskDir, envelope());
    store.appendEvent(taskDir, dispatchId, textEvent('a', 'egret'));
    expect(store.searchEvents('heron', { taskDir })).toEqual([]);
    expect(store.searchEvents('egret', { taskDir })).toHaveLength(1);
  });
});
