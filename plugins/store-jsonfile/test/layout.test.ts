import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import { dispatchFile, makeEvent, makeEvents, makeRoot, openStore, readDocument, taskDir } from './sample.ts';

describe('the file of a dispatch', () => {
  it('is valid JSON after each step, envelope first and events below', () => {
    const root = makeRoot();
    const store = openStore(root);
    const file = dispatchFile(root, 'd1');
    store.createDispatch(taskDir, makeEnvelope('d1'));
    expect(readDocument(file)).toMatchObject({
      format: 1,
      epoch: 1,
      envelope: makeEnvelope('d1'),
      events: [],
    });
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    expect(readDocument(file).events).toEqual([makeEvent(1)]);
    store.appendEvents(taskDir, 'd1', makeEvents(2, 3));
    store.updateDispatch(taskDir, 'd1', { cost: 0.25 });
    store.appendEvent(taskDir, 'd1', makeEvent(5));
    const { envelope, events } = readDocument(file);
    expect(envelope).toEqual(makeEnvelope('d1', { cost: 0.25 }));
    expect(events).toEqual(makeEvents(1, 5));
  });

  it('has each event on one line, so that grep finds all of it', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    store.appendEvents(taskDir, 'd1', [makeEvent(1), makeEvent(2, 'line one\nline two'), makeEvent(3)]);
    const found = execFileSync('grep', ['line two', dispatchFile(root, 'd1')], { encoding: 'utf8' });
    expect(JSON.parse(found.trim().replace(/,$/, ''))).toEqual({
      ...makeEvent(2, 'line one\nline two'),
      crc: expect.stringMatching(/^[0-9a-f]{8}$/),
    });
  });

  it('stays the same file when the envelope changes and fits its slot', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    const before = statSync(dispatchFile(root, 'd1'));
    store.updateDispatch(taskDir, 'd1', { model: 'a-model', structuredResult: { text: 'short' } });
    const after = statSync(dispatchFile(root, 'd1'));
    expect([after.ino, after.size]).toEqual([before.ino, before.size]);
  });

  it.each([3_000, 4_100, 3_000_000])(
    'grows its envelope by %i characters without losing an event',
    (length) => {
      const root = makeRoot();
      const store = openStore(root);
      const reader = openStore(root);
      store.createDispatch(taskDir, makeEnvelope('d1'));
      store.appendEvents(taskDir, 'd1', makeEvents(1, 2_000));
      expect(reader.readEvents(taskDir, 'd1', { after: 899, limit: 1 }).events).toEqual([makeEvent(901)]);
      const structuredResult = { text: 'x'.repeat(length) };
      store.updateDispatch(taskDir, 'd1', { structuredResult });
      store.appendEvent(taskDir, 'd1', makeEvent(2_001));
      store.updateDispatch(taskDir, 'd1', { structuredResult: { ...structuredResult, more: true } });
      store.appendEvent(taskDir, 'd1', makeEvent(2_002));
      for (const each of [store, reader]) {
        expect(each.getDispatchEnvelope(taskDir, 'd1')?.structuredResult).toEqual({
          ...structuredResult,
          more: true,
        });
        expect(each.readEvents(taskDir, 'd1', { after: 1_998, limit: 2 }).events).toEqual(
          makeEvents(2_000, 2),
        );
        expect(each.getRecentEvents(taskDir, 'd1', 3)).toEqual(makeEvents(2_000, 3));
      }
      expect(readDocument(dispatchFile(root, 'd1')).events).toEqual(makeEvents(1, 2_002));
    },
  );

  it('keeps its slots when the envelope becomes short again', () => {
    const root = makeRoot();
    const store = openStore(root);
    const file = dispatchFile(root, 'd1');
    store.createDispatch(taskDir, makeEnvelope('d1', { structuredResult: 'x'.repeat(10_000) }));
    const { ino, size } = statSync(file);
    store.updateDispatch(taskDir, 'd1', { structuredResult: null });
    expect(statSync(file)).toMatchObject({ ino, size });
    expect(readDocument(file)).toMatchObject({ envelope: makeEnvelope('d1'), events: [] });
  });

  it('has only its lock beside it while it is written, and nothing when the store is closed', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    const folder = join(root, taskDir, 'dispatches');
    expect(readdirSync(folder).sort()).toEqual(['d1.json', 'd1.lock.1']);
    store.close();
    expect(readdirSync(folder)).toEqual(['d1.json']);
    expect(readdirSync(join(root, '.writers'))).toEqual([]);
    expect(readdirSync(join(root, taskDir)).sort()).toEqual(['dispatches', 'task.json']);
  });

  it('shows in its closing brackets whether ids grow, so that opening it again does not read all events', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    store.appendEvents(taskDir, 'd1', [makeEvent(2), makeEvent(3)]);
    expect(readFileSync(dispatchFile(root, 'd1'), 'utf8').endsWith('}\n]}\n')).toBe(true);
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    store.appendEvent(taskDir, 'd1', makeEvent(4));
    expect(readFileSync(dispatchFile(root, 'd1'), 'utf8').endsWith('}\n] }\n')).toBe(true);
    expect(readDocument(dispatchFile(root, 'd1')).events).toHaveLength(4);
  });

  it('loses no event when more dispatches are written at once than files are kept open', () => {
    const root = makeRoot();
    const store = openStore(root);
    const ids = Array.from({ length: 100 }, (_, index) => `d${index}`);
    for (const id of ids) store.createDispatch(taskDir, makeEnvelope(id));
    for (let round = 1; round <= 3; round += 1) {
      for (const id of ids) store.appendEvent(taskDir, id, makeEvent(round));
    }
    for (const id of ids) expect(store.getDispatchEvents(taskDir, id)).toEqual(makeEvents(1, 3));
    const other = openStore(root);
    expect(() => other.appendEvent(taskDir, 'd0', makeEvent(4))).toThrow(
      /another open store of this process/,
    );
  });
});
