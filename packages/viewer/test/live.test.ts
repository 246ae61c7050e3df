import type { DispatchLog, DispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { expect, it } from 'vitest';
import type { LiveRows } from '../src/answers.ts';
import { openStore, startedViewer, taskDir } from './viewed.ts';

const place = `/api/d/${encodeURIComponent(taskDir)}/d1`;

interface Message {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** The messages of a stream of server-sent events, parsed by the rules of its specification. */
async function* messages(answer: Response): AsyncGenerator<Message, undefined> {
  let rest = '';
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map<string, string>();
      for (const line of block.split('\n')) {
        const at = line.indexOf(':');
        if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).trimStart());
      }
      if (fields.has('data'))
        yield {
          event: fields.get('event') ?? 'message',
          id: fields.get('id'),
          data: fields.get('data') ?? '',
        };
    }
  }
}

async function started() {
  const store = await openStore();
  const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'd1' });
  const append = (count: number) =>
    dispatch.append(
      Array.from({ length: count }, (): NewEvent => ({ type: 'agent:text', data: { text: 'one' } })),
    );
  return { store, dispatch, append, ...(await startedViewer(store)) };
}

/** The positions of rows up to `last`, in the order in which they come. */
async function positionsTo(stream: AsyncGenerator<Message>, last: number): Promise<number[]> {
  const seen: number[] = [];
  for (;;) {
    const { value } = await stream.next();
    if (value === undefined) return seen;
    if (value.event !== 'message') continue;
    const { rows, end } = JSON.parse(value.data) as LiveRows;
    seen.push(...rows.map(({ position }) => position));
    expect([value.id, seen.at(-1)]).toEqual([String(end), end]);
    if ((seen.at(-1) ?? -1) >= last) return seen;
  }
}

type Ask = (after: number, again: number | null) => readonly [after: number, again: number | null];

/** The positions that a page has after a cut in the middle. `ask`: what the page asks for, where the test wants something else. */
async function positionsOfPage(ask: Ask = (...asked) => asked): Promise<number[]> {
  const { append, get } = await started();
  const open = async (...asked: Parameters<Ask>) => {
    const [after, again] = ask(...asked);
    return messages(
      await get(`${place}/live?after=${after}`, again === null ? {} : { 'last-event-id': String(again) }),
    );
  };
  await append(700);
  const stream = await open(-1, null);
  const seen = await positionsTo(stream, 699);
  await stream.return(undefined);
  const next = await open(-1, 699);
  for (let at = 0; at < 30; at += 1) await append(at % 7 === 0 ? 40 : 1);
  seen.push(...(await positionsTo(next, 700 + 5 * 40 + 25 - 1)));
  await next.return(undefined);
  return seen;
}

const everyPosition = Array.from({ length: 925 }, (_, at) => at);

it('sends every row once, in order, those that are stored and those that come, over a cut', async () => {
  expect(await positionsOfPage()).toEqual(everyPosition);
});

it.each<[string, Ask]>([
  ['begins one event late', (after, again) => [after + 1, again]],
  ['continues one event late', (after, again) => [after, again === null ? null : again + 1]],
  ['continues one event early', (after, again) => [after, again === null ? null : again - 1]],
])('would be found wrong if the page %s', async (_, ask) => {
  expect(await positionsOfPage(ask)).not.toEqual(everyPosition);
});

it('sends rows that were stored together in one message', async () => {
  const { append, get } = await started();
  await append(1);
  const stream = messages(await get(`${place}/live?after=0`));
  for await (const { event } of { [Symbol.asyncIterator]: () => ({ next: () => stream.next() }) })
    if (event === 'caught_up') break;
  await append(200);
  const ends: number[] = [];
  for await (const { event, data } of stream) {
    if (event !== 'message') continue;
    ends.push((JSON.parse(data) as LiveRows).end);
    if (ends.at(-1) === 200) break;
  }
  expect(ends).toEqual([200]);
});

it('continues after the last row that the page had, whatever its address says', async () => {
  const { append, get } = await started();
  await append(50);
  const stream = messages(await get(`${place}/live?after=3`, { 'last-event-id': '40' }));
  expect(await positionsTo(stream, 49)).toEqual([41, 42, 43, 44, 45, 46, 47, 48, 49]);
  await stream.return(undefined);
});

it('sends a call again when its result comes, to a page that has the call', async () => {
  const { dispatch, append, get } = await started();
  await append(20);
  const call = { tool: 'Bash', toolCallId: 'c1', metadata: {} };
  await dispatch.append({ type: 'agent:tool_call', data: { ...call, input: { command: 'npm test' } } });
  const stream = messages(await get(`${place}/live?after=20`));
  await dispatch.append({
    type: 'agent:tool_result',
    data: { ...call, status: 'error', error: 'no' },
  });
  for await (const { event, data } of stream) {
    if (event !== 'message') continue;
    expect(JSON.parse(data)).toMatchObject({ end: 21, rows: [{ position: 20, outcome: 'no' }] });
    break;
  }
});

it('says when the envelope changes, and when the dispatch is gone', async () => {
  const { store, dispatch, append, get } = await started();
  await append(1);
  const stream = messages(await get(`${place}/live?after=-1`));
  const next = async (event: string) => {
    for await (const message of { [Symbol.asyncIterator]: () => ({ next: () => stream.next() }) })
      if (message.event === event) return JSON.parse(message.data);
  };
  expect(await next('envelope')).toMatchObject({ status: 'running' });
  await dispatch.end({ status: 'completed' });
  expect(await next('envelope')).toMatchObject({ status: 'completed' });
  await store.deleteDispatch({ taskDir, dispatchId: 'd1' });
  expect(await next('gone')).toMatchObject({ message: expect.stringContaining('d1') });
});

it('says that a position does not exist', async () => {
  const { append, get } = await started();
  await append(2);
  const stream = messages(await get(`${place}/live?after=99`));
  for await (const { event } of stream) if (event === 'reset') return;
  expect.unreachable('the stream ended without a reset');
});

it('announces a new dispatch to the library', async () => {
  const { store, get } = await started();
  const stream = messages(await get('/api/changes'));
  expect((await stream.next()).value).toMatchObject({ event: 'hello' });
  await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'd2' });
  expect((await stream.next()).value).toMatchObject({ event: 'message' });
  await stream.return(undefined);
});

it('stops reading when the page closes the connection', async () => {
  const { store, append } = await started();
  await append(3);
  const followed = new Set<AbortSignal>();
  const seen: DispatchStore = {
    ...store,
    capabilities: store.capabilities,
    listTasks: () => store.listTasks(),
    listDispatches: (options) => store.listDispatches(options),
    watch: (scope, onChange) => store.watch(scope, onChange),
    findDispatch: async (dispatch) => {
      const log = await store.findDispatch(dispatch);
      if (log === null) return null;
      const follow: DispatchLog['follow'] = (options) => {
        if (options?.signal !== undefined) followed.add(options.signal);
        return log.follow(options);
      };
      return new Proxy(log, {
        get: (target, name) => {
          const value = name === 'follow' ? follow : Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
  const { get } = await startedViewer(seen);
  const stream = messages(await get(`${place}/live?after=-1`));
  await positionsTo(stream, 2);
  const [signal] = followed;
  expect(signal?.aborted).toBe(false);
  await stream.return(undefined);
  await expect.poll(() => signal?.aborted, { timeout: 5_000 }).toBe(true);
});
