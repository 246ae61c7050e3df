import { globSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { expect, it, onTestFinished } from 'vitest';
import type { EventDetail, ReaderRow } from '../src/answers.ts';
import { makeRoot, openStore, startedViewer, taskDir } from './viewed.ts';

const place = (dispatchId: string) => `/api/d/${encodeURIComponent(taskDir)}/${dispatchId}`;
const text = (value: string, more: Partial<NewEvent> = {}): NewEvent =>
  ({ type: 'agent:text', data: { text: value }, ...more }) as NewEvent;

interface Rows {
  readonly rows: readonly ReaderRow[];
}

/** Two ended dispatches, d1 and d2, of 300 events each, below a folder, without an open store. */
async function recorded(root: string): Promise<void> {
  const store = openDispatchStore(openJsonFileStore({ root }));
  for (const dispatchId of ['d1', 'd2']) {
    const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId });
    await dispatch.append(Array.from({ length: 300 }, (_, at) => text(`text ${at} of ${dispatchId}`)));
    await dispatch.end({ status: 'completed' });
  }
  await store.close();
}

function fileOf(root: string, dispatchId: string): string {
  const [file = ''] = globSync(`**/${dispatchId}.json`, { cwd: root });
  return join(root, file);
}

it('says which file is damaged, at which byte, and shows everything else', async () => {
  const root = makeRoot();
  await recorded(root);
  const file = fileOf(root, 'd1');
  const bytes = readFileSync(file);
  const at = bytes.indexOf('text 20 of d1');
  bytes.write('TEXT', at);
  writeFileSync(file, bytes);
  const { get, json } = await startedViewer(await openStore(root));
  const answer = await get(`${place('d1')}/rows?from=0&n=100`);
  const { code, message } = (await answer.json()) as { code: string; message: string };
  expect([answer.status, code]).toEqual([503, 'STORE_CORRUPT']);
  expect(message).toContain(file);
  const [, byte] = /byte (\d+)/.exec(message) ?? [];
  expect(Math.abs(Number(byte) - at)).toBeLessThan(200);
  expect(((await json(`${place('d2')}/rows?from=0&n=100`)) as Rows).rows.length).toBe(100);
  expect(await json('/api/dispatches')).toMatchObject({
    dispatches: [{ dispatchId: 'd2' }, { dispatchId: 'd1' }],
  });
  // No answer has a stack trace.
  expect(message).not.toMatch(/\n\s+at /);
});

it('shows the whole events before a torn last line, and then what a writer adds', async () => {
  const root = makeRoot();
  const store = openDispatchStore(openJsonFileStore({ root }));
  const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'd1' });
  await dispatch.append(Array.from({ length: 20 }, (_, at) => text(`text ${at}`)));
  const file = fileOf(root, 'd1');
  const whole = readFileSync(file);
  await dispatch.append(text('torn'));
  const torn = readFileSync(file);
  await store.close();
  // As a kill in the middle of the write leaves it.
  writeFileSync(file, torn);
  truncateSync(file, whole.length + Math.floor((torn.length - whole.length) / 2));
  const again = await openStore(root);
  const { json } = await startedViewer(again);
  const texts = async () => ((await json(`${place('d1')}/rows?last=5`)) as Rows).rows.map((row) => row.text);
  expect((await texts()).at(-1)).toBe('text 19');
  const writing = await again.openDispatch({ taskDir, dispatchId: 'd1' }, { write: true });
  await writing.append(text('after the repair'));
  expect((await texts()).slice(-2)).toEqual(['text 19', 'after the repair']);
});

it('keeps answering when its store is deleted', async () => {
  const root = makeRoot();
  await recorded(root);
  const { get } = await startedViewer(await openStore(root));
  expect((await get(`${place('d1')}/rows?last=5`)).status).toBe(200);
  rmSync(root, { recursive: true });
  const answers = await Promise.all(
    ['/api/tasks', '/api/dispatches', `${place('d1')}/rows?last=5`, `${place('d2')}/rows?last=5`].map(
      async (path) => {
        const answer = await get(path);
        return [answer.status, /\n\s+at /.test(await answer.text())];
      },
    ),
  );
  for (const [status, hasStack] of answers) {
    expect([200, 404, 503]).toContain(status);
    expect(hasStack).toBe(false);
  }
  expect(answers[3]?.[0]).toBe(404);
});

it('says why a store that is away does not answer, and answers when it is back', async () => {
  const store = await openStore();
  await (await store.beginDispatch(taskDir, { role: 'w', dispatchId: 'd1' })).append(text('one'));
  let isAway = false;
  const away = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (isAway && name !== 'close')
          throw storeErrors.error('STORE_UNAVAILABLE', 'db.example.com:5432 does not answer.', {
            isTransient: true,
          });
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  }) as DispatchStore;
  const { get, json } = await startedViewer(away);
  isAway = true;
  for (const path of ['/api/dispatches', place('d1')]) {
    const answer = await get(path);
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { code: 'STORE_UNAVAILABLE', message: 'db.example.com:5432 does not answer.' },
    ]);
  }
  isAway = false;
  expect(((await json(`${place('d1')}/rows?last=5`)) as Rows).rows.map((row) => row.text)).toEqual(['one']);
});

it('sends little of a line of 10 MB, and all of it when asked', async () => {
  const store = await openStore();
  const dispatch = await store.beginDispatch(taskDir, { role: 'w', dispatchId: 'd1', fidelity: 'full' });
  const output = `😀${'x'.repeat(10_000_000)}`;
  const call = { tool: 'Bash', toolCallId: 'c1', metadata: {} };
  const huge: NewEvent = { type: 'agent:tool_result', data: { ...call, status: 'completed', output } };
  await dispatch.append([text('before'), huge, text('after')]);
  const { get, json } = await startedViewer(store);
  const rows = await (await get(`${place('d1')}/rows?last=3`)).text();
  expect(rows.length).toBeLessThan(5_000);
  const answer = await (await get(`${place('d1')}/event/1`)).text();
  expect(answer.length).toBeLessThan(1_500_000);
  const { isCut, characters, event } = JSON.parse(answer) as EventDetail;
  expect([isCut, characters > 10_000_000]).toEqual([true, true]);
  expect(String(event.data.output)).toMatch(/^😀x+…$/);
  const line = await (await get(`${place('d1')}/event/1/line`)).text();
  expect((JSON.parse(line) as NewEvent).data).toEqual(huge.data);
  expect(await json(`${place('d1')}/event/0`)).toMatchObject({
    isCut: false,
    event: { data: { text: 'before' } },
  });
  expect((await get(`${place('d1')}/event/3/line`)).status).toBe(404);
});

it('keeps the order of the log when the clock goes back', async () => {
  const store = await openStore();
  const dispatch = await store.beginDispatch(taskDir, { role: 'w', dispatchId: 'd1' });
  const times = ['2026-03-01T10:00:00.000Z', '2026-03-01T09:00:00.000Z', '2026-03-01T09:30:00.000Z'];
  await dispatch.append(times.map((timestamp, at) => text(`text ${at}`, { timestamp })));
  const { json } = await startedViewer(store);
  const { rows } = (await json(`${place('d1')}/rows?last=5`)) as Rows;
  expect(rows.map(({ position, time }) => [position, time])).toEqual(
    times.map((time, at) => [at, Date.parse(time)]),
  );
});

it('lists 2,000 dispatches of a task page by page, each once, and none of an empty store', async () => {
  const empty = await startedViewer(await openStore());
  expect(await empty.json('/api/dispatches')).toEqual({ dispatches: [], next: null });
  const root = makeRoot();
  const provider = openJsonFileStore({ root, durability: 'process' });
  const store = openDispatchStore(provider);
  onTestFinished(() => store.close());
  const first = await store.beginDispatch(taskDir, { role: 'w', dispatchId: 'd0000' });
  await first.end({ status: 'completed' });
  for (let at = 1; at < 2_000; at += 1)
    provider.createDispatch(taskDir, { ...first.envelope, dispatchId: `d${String(at).padStart(4, '0')}` });
  const { json } = await startedViewer(store);
  const found: string[] = [];
  let after: string | null = null;
  do {
    const query = new URLSearchParams({ task: taskDir, ...(after === null ? {} : { after }) });
    const page = (await json(`/api/dispatches?${query}`)) as {
      dispatches: { dispatchId: string }[];
      next: string | null;
    };
    expect(page.dispatches.length).toBeLessThanOrEqual(500);
    found.push(...page.dispatches.map(({ dispatchId }) => dispatchId));
    after = page.next;
  } while (after !== null);
  expect([found.length, new Set(found).size]).toEqual([2_000, 2_000]);
});
