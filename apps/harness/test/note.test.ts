import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createDispatch } from '@hansard/testing';
import { expect, it } from 'vitest';
import { commandLine } from './command-line.ts';

it('marks an event, lists, finds and removes marks, and changes no list of sessions', async () => {
  using line = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  const { dispatchId } = await createDispatch(store, 'lab/tasks/maps', { role: 'worker' });
  const dispatch = await store.openDispatch('lab/tasks/maps', dispatchId, { write: true });
  const event = await dispatch.append({ type: 'agent:text', data: { text: 'Drawn.' } });
  await dispatch.end({ status: 'completed' });
  await store.close();
  const before = (await line.hansard('ls', '--json')).out;
  const made = ['note', 'latest', 'Is the scale right?', '--event', '0', '--tag', '#scale', '--as', 'ann'];
  expect((await line.hansard(...made)).code).toBe(0);
  await line.hansard('note', 'latest', '--rate', '4', '--as', 'ben');
  const rows = async (...args: string[]) =>
    (await line.hansard('note', ...args, '--json')).out
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
  expect(await rows()).toEqual([
    expect.objectContaining({ dispatchId, eventId: event.id, position: 0, kind: 'note', reader: 'ann' }),
    expect.objectContaining({ eventId: event.id, kind: 'tag', text: 'scale' }),
    expect.objectContaining({ eventId: null, kind: 'rating', rating: 4, reader: 'ben' }),
  ]);
  const [found] = await rows('--search', 'SCALE RIGHT');
  expect((await line.hansard('note', 'latest', '--remove', found.id, '--as', 'ben')).code).toBe(1);
  expect((await line.hansard('note', 'latest', '--remove', found.id, '--as', 'ann')).out).toContain(
    'Removed',
  );
  expect((await rows('latest')).map(({ kind }) => kind)).toEqual(['tag', 'rating']);
  expect((await line.hansard('ls', '--json')).out).toBe(before);
  expect((await line.hansard('search', 'scale')).out).toBe('');
});
