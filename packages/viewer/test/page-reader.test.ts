import { expect, it, onTestFinished, vi } from 'vitest';
import { PageReader } from '../src/page/api.ts';

interface Asked {
  readonly from: number;
  readonly count: number;
  readonly signal: AbortSignal;
  answer(): void;
}

/** A reader of pages, and its requests, each answered by the test. */
function reading() {
  const asked: Asked[] = [];
  vi.stubGlobal('fetch', (path: string, { signal }: { signal: AbortSignal }) => {
    const query = new URL(path, 'http://localhost').searchParams;
    return new Promise<Response>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      const [from, count] = [Number(query.get('from')), Number(query.get('n'))];
      const answer = () => resolve(Response.json({ first: from, size: count, rows: [] }));
      asked.push({ from, count, signal, answer });
    });
  });
  onTestFinished(() => {
    vi.unstubAllGlobals();
  });
  const came: number[] = [];
  const failed: unknown[] = [];
  const listener = {
    open: () => '',
    onRows: ({ first }: { readonly first: number }) => void came.push(first),
    onError: (error: unknown) => void failed.push(error),
  };
  const ranges = () => asked.map(({ from, count }) => [from, count]);
  return { reader: new PageReader({ task: 't', id: 'd' }, listener), asked, ranges, came, failed };
}

it('asks for pages that follow each other together, and for each page once', async () => {
  const { reader, asked, ranges, came, failed } = reading();
  reader.read([8, 7, 12], [7, 8]);
  expect(ranges()).toEqual([
    [700, 200],
    [1_200, 100],
  ]);
  reader.read([6, 7, 8], [7, 8]);
  expect(ranges().slice(2)).toEqual([[600, 100]]);
  asked[0]?.answer();
  await expect.poll(() => came).toEqual([700]);
  reader.read([6, 7, 8], [7, 8]);
  expect(ranges().slice(3)).toEqual([[700, 200]]);
  expect(failed).toEqual([]);
});

it('asks for as many pages as the server answers', () => {
  const { reader, ranges } = reading();
  reader.read([1, 2, 3, 4, 5], [3]);
  expect(ranges()).toEqual([
    [100, 300],
    [400, 200],
  ]);
});

it('gives up a request when all of its pages are far from the window, and reads them again later', async () => {
  const { reader, asked, ranges, failed } = reading();
  reader.read([7, 8], [7, 8]);
  reader.read([], [10]);
  expect(asked[0]?.signal.aborted).toBe(false);
  reader.read([50], [50]);
  expect(asked[0]?.signal.aborted).toBe(true);
  await expect
    .poll(() => {
      reader.read([8], [8]);
      return ranges();
    })
    .toContainEqual([800, 100]);
  expect(failed).toEqual([]);
});
