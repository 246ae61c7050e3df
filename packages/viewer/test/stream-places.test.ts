import { expect, it } from 'vitest';
import { StreamPlaces } from '../src/server/routes.ts';
import { openStore, startedViewer, taskDir } from './viewed.ts';

/** A stream that lasts until it is ended. */
function lasting(places: StreamPlaces) {
  const ending = new AbortController();
  const done = places.hold(
    ending,
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  );
  return { ending, done };
}

it('ends the oldest stream when there are too many, and no other', async () => {
  const places = new StreamPlaces(2);
  const [first, second] = [lasting(places), lasting(places)];
  expect(first.ending.signal.aborted).toBe(false);
  const third = lasting(places);
  expect([first, second, third].map(({ ending }) => ending.signal.aborted)).toEqual([true, false, false]);
  await first.done;
  second.ending.abort();
  await second.done;
  const fourth = lasting(places);
  expect([third, fourth].map(({ ending }) => ending.signal.aborted)).toEqual([false, false]);
});

it('gives its place back when a stream fails', async () => {
  const places = new StreamPlaces(1);
  const failing = places.hold(new AbortController(), () => Promise.reject(new Error('away')));
  await expect(failing).rejects.toThrow('away');
  const next = lasting(places);
  expect(next.ending.signal.aborted).toBe(false);
});

it('keeps four streams open, so that a browser has connections for other requests', async () => {
  const store = await openStore();
  await using dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'd1' });
  await dispatch.append({ type: 'agent:text', data: { text: 'one' } });
  const { get } = await startedViewer(store);
  const live = `/api/d/${encodeURIComponent(taskDir)}/d1/live?after=-1`;
  const ended: number[] = [];
  for (const [at, path] of [live, '/api/changes', live, live, live, '/api/changes'].entries()) {
    const answer = await get(path);
    const read = async () => {
      for await (const _ of answer.body ?? []);
      ended.push(at);
    };
    // Those that are left are cut when the viewer closes.
    read().catch(() => undefined);
  }
  await expect.poll(() => ended, { timeout: 5_000 }).toEqual([0, 1]);
  expect((await get('/api/tasks')).status).toBe(200);
  expect(ended).toEqual([0, 1]);
});
