import type { SSEStreamingApi } from 'hono/streaming';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { TreeEntry } from '../src/answers.ts';
import { LogRows } from '../src/server/log-rows.ts';
import { sendLiveRows } from '../src/server/sent-rows.ts';
import { openStore, taskDir } from './viewed.ts';

it('a page never gets an older tree after a newer one, however slow the first reading is', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const store = await openStore();
  const log = await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'd1' });
  const sent: string[] = [];
  const writeSSE = async ({ event = 'message', data = '' }) => void (event === 'tree' && sent.push(data));
  const stream = { writeSSE, write: async () => undefined } as unknown as SSEStreamingApi;
  const trees: PromiseWithResolvers<readonly TreeEntry[]>[] = [];
  const ending = new AbortController();
  let change = () => {};
  const over = sendLiveRows(
    stream,
    { log, rows: new LogRows(log) },
    {
      after: -1,
      signal: ending.signal,
      watch: async (onChange) => {
        change = onChange;
        return () => undefined;
      },
      tree: () => {
        const tree = Promise.withResolvers<readonly TreeEntry[]>();
        trees.push(tree);
        return tree.promise;
      },
    },
  );
  await vi.waitFor(() => expect(trees).toHaveLength(1));
  change();
  await vi.advanceTimersByTimeAsync(1_000);
  const [first, second] = trees;
  second?.resolve([{ name: 'new' }] as unknown as TreeEntry[]);
  await vi.advanceTimersByTimeAsync(0);
  first?.resolve([]);
  await vi.waitFor(() => expect(trees).toHaveLength(2));
  trees[1]?.resolve([{ name: 'new' }] as unknown as TreeEntry[]);
  await vi.waitFor(() => expect(sent.at(-1)).toContain('new'));
  ending.abort();
  await over;
});
