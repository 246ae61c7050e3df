import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { expect, it, onTestFinished } from 'vitest';
import {
  type DispatchStore,
  dispatchErrors,
  dispatchesWithNotes,
  NoteWriter,
  openDispatchStore,
  readNotes,
} from '../../src/index.ts';

const taskDir = 'lab/tasks/maps';
const session = { taskDir, dispatchId: 'd1' };
const event = { ...session, event: { id: 'e1', position: 3 } };

/** Several openings of one store, as several processes have them. */
async function openings(count: number): Promise<readonly DispatchStore[]> {
  const root = mkdtempSync(join(tmpdir(), 'hansard-notes-'));
  const stores = await Promise.all(
    Array.from({ length: count }, () => openDispatchStore(openJsonFileStore({ root }))),
  );
  onTestFinished(async () => {
    for (const store of stores) await store.close();
    rmSync(root, { recursive: true, force: true });
  });
  return stores;
}

it('keeps every mark of tabs and readers that write at the same time', async () => {
  const [one, other] = (await openings(2)) as [DispatchStore, DispatchStore];
  const ann = new NoteWriter(one, 'ann');
  const writers = [ann, ann, new NoteWriter(other, 'ann'), new NoteWriter(other, 'ben')];
  const texts = writers.flatMap((_, at) => [`${at} first`, `${at} second`]);
  await Promise.all(
    texts.map((text) => (writers[Number(text[0])] as NoteWriter).add({ on: session, kind: 'note', text })),
  );
  const { notes, errors } = await readNotes(one, session);
  expect([notes.map(({ text }) => text).sort(), errors]).toEqual([texts, []]);
  expect(notes.filter(({ reader }) => reader === 'ben').map(({ text }) => text)).toEqual([
    '3 first',
    '3 second',
  ]);
  const kept: (string | undefined)[] = [];
  for await (const { taskDir: task, dispatchId } of dispatchesWithNotes(one)) kept.push(task, dispatchId);
  expect(kept.filter((word) => word === '_hansard/notes/lab')).toHaveLength(2);
  expect((await one.listDispatches()).dispatches).toEqual([]);
  for await (const letter of one.readLetters()) throw new Error(`A letter: ${letter.letterId}`);
});

it('a rating, a bookmark and a tag replace themselves, and a removed mark is gone', async () => {
  const [store] = (await openings(1)) as [DispatchStore];
  const ann = new NoteWriter(store, 'ann');
  await ann.add({ on: session, kind: 'rating', rating: 2 });
  await ann.add({ on: session, kind: 'rating', rating: 5 });
  await ann.add({ on: event, kind: 'tag', text: ' parser ' });
  await ann.add({ on: event, kind: 'tag', text: 'parser' });
  const bookmark = await ann.add({ on: event, kind: 'bookmark' });
  await ann.add({ on: { taskDir: 'lab/tasks/other', dispatchId: 'd1' }, kind: 'note', text: 'elsewhere' });
  await ann.add({ on: null, kind: 'filter', text: 'costly', address: '#/?sort=cost' });
  const shown = async () =>
    (await readNotes(store, session)).notes.map(({ kind, text, rating, on }) => [
      kind,
      text,
      rating,
      on?.event?.position ?? null,
    ]);
  expect(await shown()).toEqual([
    ['rating', '', 5, null],
    ['tag', 'parser', 0, 3],
    ['bookmark', '', 0, 3],
  ]);
  await expect(new NoteWriter(store, 'ben').remove(bookmark)).rejects.toSatisfy((error) =>
    dispatchErrors.is(error, 'DISPATCH_NOTE_NOT_FOUND'),
  );
  await ann.remove(bookmark);
  expect((await shown()).map(([kind]) => kind)).toEqual(['rating', 'tag']);
  const all = (await readNotes(store)).notes.map(({ kind, text }) => `${kind} ${text}`);
  expect(all).toEqual(['rating ', 'tag parser', 'note elsewhere', 'filter costly']);
});

it('refuses a mark without its words, and records nothing', async () => {
  const [store] = (await openings(1)) as [DispatchStore];
  const ann = new NoteWriter(store, 'ann');
  for (const note of [
    { on: session, kind: 'note', text: ' ' },
    { on: session, kind: 'tag', text: 'a\nb' },
    { on: session, kind: 'rating', rating: 6 },
    { on: session, kind: 'filter', text: 'costly', address: '#/' },
    { on: null, kind: 'bookmark' },
  ] as const)
    await expect(ann.add(note)).rejects.toSatisfy((error) =>
      dispatchErrors.is(error, 'DISPATCH_NOTE_INVALID'),
    );
  for await (const entry of dispatchesWithNotes(store)) throw new Error(`Recorded: ${entry.dispatchId}`);
});
