import { constants } from 'node:buffer';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemFiles } from '../src/files.ts';
import { makeEnvelope } from './envelope.ts';
import { codeOf, makeEvent, makeRoot, openStore, taskDir } from './sample.ts';

const { MAX_STRING_LENGTH } = constants;

describe('a value that no string can hold', () => {
  it('is STORE_TOO_LARGE for an append, which changes nothing', () => {
    const store = openStore(makeRoot());
    store.createDispatch(taskDir, makeEnvelope('d1'));
    const half = 'x'.repeat(MAX_STRING_LENGTH / 2);
    const event = { ...makeEvent(1), data: { first: half, second: half } };
    expect(codeOf(() => store.appendEvent(taskDir, 'd1', event))).toBe('STORE_TOO_LARGE');
    expect(codeOf(() => store.appendEvents(taskDir, 'd1', [makeEvent(2), event]))).toBe('STORE_TOO_LARGE');
    store.appendEvent(taskDir, 'd1', makeEvent(3));
    expect(store.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(3)]);
  });

  it('is STORE_TOO_LARGE for the record of a task in a file of 600 MB, which prevents nothing else', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    const file = join(root, taskDir, 'task.json');
    writeFileSync(file, '{');
    truncateSync(file, 600_000_000);
    expect(codeOf(() => store.findTask(taskDir))).toBe('STORE_TOO_LARGE');
    expect(store.listTasks()).toMatchObject([{ taskDir, error: { code: 'STORE_TOO_LARGE' } }]);
    expect(store.listDispatches({ taskDir }).dispatches).toHaveLength(1);
    truncateSync(file, 0);
  });
});

it('a head that grows moves a long dispatch through one buffer, and keeps every event', () => {
  const copied: ArrayBufferLike[] = [];
  const read: typeof systemFiles.read = (fd, buffer, offset, length, position) => {
    if (length >= 1024 * 1024) copied.push(buffer.buffer);
    return systemFiles.read(fd, buffer, offset, length, position);
  };
  const store = openStore(makeRoot(), {}, { files: { ...systemFiles, read } });
  store.createDispatch(taskDir, makeEnvelope('d1'));
  const events = Array.from({ length: 5 }, (_, at) => makeEvent(at, 'x'.repeat(1_000_000)));
  store.appendEvents(taskDir, 'd1', events);
  copied.length = 0;
  store.updateDispatch(taskDir, 'd1', { title: 'x'.repeat(3_000) });
  expect([copied.length, new Set(copied).size]).toEqual([4, 1]);
  expect(store.getDispatchEvents(taskDir, 'd1')).toEqual(events);
});
