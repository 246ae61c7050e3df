import type { NewEvent } from '@hansard/events';
import { expect, it } from 'vitest';
import { openStore, startedViewer, taskDir } from './viewed.ts';

const place = `/api/d/${encodeURIComponent(taskDir)}/d1`;

async function viewed(events: number) {
  const store = await openStore();
  const dispatch = await store.beginDispatch(taskDir, {
    role: 'worker',
    dispatchId: 'd1',
    title: 'Draw the map',
  });
  await dispatch.append({ type: 'agent:created', agentId: 'a1', data: { name: 'Ada', languageModel: 'm' } });
  const texts = Array.from({ length: events - 1 }, (_, at): NewEvent => {
    return { type: 'agent:text', agentId: 'a1', data: { text: `text ${at + 1}` } };
  });
  if (texts.length > 0) await dispatch.append(texts);
  return { store, dispatch, ...(await startedViewer(store)) };
}

it('lists tasks and dispatches, with those that cannot be read', async () => {
  const { json } = await viewed(1);
  expect(await json('/api/tasks')).toEqual([{ taskDir, task: null }]);
  const { dispatches, next } = (await json('/api/dispatches')) as { dispatches: object[]; next: unknown };
  expect(dispatches).toMatchObject([{ taskDir, dispatchId: 'd1', envelope: { title: 'Draw the map' } }]);
  expect(next).toBeNull();
  expect(await json(`/api/dispatches?task=other`)).toMatchObject({ dispatches: [] });
});

it('answers rows by their positions', async () => {
  const { json } = await viewed(250);
  expect(await json(`${place}/count`)).toEqual({ count: 250 });
  const last = (await json(`${place}/rows?last=3`)) as { first: number; rows: unknown[][] };
  expect([last.first, last.rows.map(([position]) => position)]).toEqual([247, [247, 248, 249]]);
  const middle = (await json(`${place}/rows?from=100&n=100`)) as { first: number; rows: unknown[][] };
  expect(middle.rows.map(([position]) => position)).toEqual(Array.from({ length: 100 }, (_, at) => at + 100));
  expect(middle.rows[0]).toEqual([
    100,
    'text',
    expect.any(Number),
    'a1',
    'text 100',
    'plain',
    expect.any(Number),
    null,
  ]);
  expect(await json(`${place}/rows?from=250&n=5`)).toEqual({ first: 250, rows: [] });
  expect(await json(`${place}/rows?from=9999&n=5`)).toEqual({ first: 9999, rows: [] });
  expect(await json(`${place}/agents`)).toEqual({ names: { a1: 'Ada' } });
  expect(await json(`${place}/event/7`)).toMatchObject({ position: 7, event: { data: { text: 'text 7' } } });
});

it('refuses what it does not have, in words', async () => {
  const { get } = await viewed(3);
  const answers = await Promise.all(
    [
      `${place}/rows?from=-1`,
      `${place}/rows?from=1e3`,
      `${place}/rows?last=501`,
      `${place}/event/x`,
      `${place}/event/3`,
      `/api/d/${encodeURIComponent(taskDir)}/none/rows`,
      `/api/d/${encodeURIComponent('../x')}/d1`,
      '/api/none',
    ].map(async (path) => (await get(path)).status),
  );
  expect(answers).toEqual([400, 400, 400, 400, 404, 404, 503, 404]);
});

it('cuts long texts, between characters', async () => {
  const { dispatch, json } = await viewed(1);
  await dispatch.append({ type: 'agent:text', data: { text: '😀'.repeat(5_000) } });
  const { rows } = (await json(`${place}/rows?last=1`)) as { rows: unknown[][] };
  const text = String(rows[0]?.[4]);
  expect([text.length <= 320, text.isWellFormed(), text.endsWith('…')]).toEqual([true, true, true]);
});
