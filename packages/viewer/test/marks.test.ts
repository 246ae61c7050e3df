import { NoteWriter } from '@hansard/dispatch';
import { expect, it, onTestFinished } from 'vitest';
import { createViewer } from '../src/index.ts';
import { openStore, taskDir } from './viewed.ts';

async function viewerOf(reader: string | null) {
  const store = await openStore();
  const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'd1' });
  const event = await dispatch.append({ type: 'agent:text', data: { text: 'one' } });
  await dispatch.end({ status: 'completed' });
  const viewer = createViewer({ store, notes: reader === null ? undefined : new NoteWriter(store, reader) });
  const running = await viewer.start();
  onTestFinished(() => running.close());
  const origin = `http://127.0.0.1:${running.port}`;
  const cookie = `hansard-${running.port}=${viewer.token}`;
  const own = { cookie, origin, 'x-hansard': 'page', 'content-type': 'application/json' };
  const post = async (path: string, body: unknown, headers: Record<string, string> = own) =>
    (await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status;
  const get = async (path: string) => (await fetch(`${origin}${path}`, { headers: { cookie } })).json();
  return { store, event, own, post, get };
}

const on = { task: taskDir, id: 'd1', position: 0 };
const note = { on, kind: 'note', text: 'Look here.' };

it('keeps a mark with the id of its event, and removes it', async () => {
  const { store, event, post, get } = await viewerOf('ann');
  expect(await post('/api/marks/add', note)).toBe(200);
  const query = `/api/marks?task=${encodeURIComponent(taskDir)}&id=d1`;
  const { reader, marks, problems } = await get(query);
  expect([reader, problems, marks]).toEqual([
    'ann',
    [],
    [expect.objectContaining({ on, kind: 'note', text: 'Look here.', reader: 'ann' })],
  ]);
  const log = await store.findDispatch({
    taskDir: '_hansard/notes/lab',
    dispatchId: (await store.listDispatches({ internal: true })).dispatches[0]?.dispatchId ?? '',
  });
  const [stored] = (await log?.last(1))?.events ?? [];
  expect(stored?.data.on).toEqual({ taskDir, dispatchId: 'd1', event: { id: event.id, position: 0 } });
  expect(await post('/api/marks/remove', { on, mark: marks[0].id })).toBe(200);
  expect(await post('/api/marks/remove', { on, mark: marks[0].id })).toBe(400);
  expect((await get(query)).marks).toEqual([]);
});

it('takes marks of its own page only, on what there is', async () => {
  const { own, post, get } = await viewerOf('ann');
  for (const path of ['/api/marks/add', '/api/marks/remove']) {
    const { 'x-hansard': _, ...withoutHeader } = own;
    const refused: readonly (readonly [code: number, headers: Record<string, string>])[] = [
      [401, { ...own, cookie: '' }],
      [403, { ...own, origin: 'http://evil.example' }],
      [403, { ...own, 'sec-fetch-site': 'cross-site' }],
      [403, withoutHeader],
      [415, { ...own, 'content-type': 'text/plain' }],
    ];
    for (const [code, headers] of refused) expect(await post(path, note, headers)).toBe(code);
  }
  for (const wrong of [
    null,
    {},
    { ...note, on: { task: taskDir, id: 'd2' } },
    { ...note, on: { ...on, position: 7 } },
    { ...note, on: { ...on, position: 'x' } },
    { ...note, text: 1 },
    { ...note, kind: 'verdict' },
    { ...note, on: null },
    { on, kind: 'rating', rating: 9 },
  ])
    expect([wrong, await post('/api/marks/add', wrong)]).toEqual([wrong, 400]);
  expect(await post('/api/marks/add', { ...note, text: 'x'.repeat(70_000) })).toBe(413);
  expect((await get('/api/marks')).marks).toEqual([]);
});

it('a viewer without a reader shows marks, and takes none', async () => {
  const { store, post, get } = await viewerOf(null);
  await new NoteWriter(store, 'ben').add({ on: { taskDir, dispatchId: 'd1' }, kind: 'tag', text: 'maps' });
  expect(await post('/api/marks/add', note)).toBe(405);
  const { reader, marks } = await get('/api/marks');
  expect([reader, marks.map(({ text }: { text: string }) => text)]).toEqual([null, ['maps']]);
});
