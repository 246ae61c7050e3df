import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { LatestAnswer } from '../../src/page/api.ts';
import { everything, Search } from '../../src/page/find/search.ts';
import { PageCache } from '../../src/page-cache.ts';

type Heard = (event: { readonly data: string }) => void;

/** The searches that a page asks for, each answered by the test. */
class FakeSource {
  static opened: FakeSource[] = [];
  onmessage: Heard | null = null;
  onerror: (() => void) | null = null;
  readonly url: string;
  readonly #heard = new Map<string, Heard>();

  constructor(url: string) {
    this.url = url;
    FakeSource.opened.push(this);
  }

  addEventListener(event: string, heard: Heard): void {
    this.#heard.set(event, heard);
  }

  close(): void {}

  done(positions: readonly number[], scanned: number): void {
    this.#heard.get('done')?.({ data: JSON.stringify({ positions, scanned }) });
  }
}

beforeEach(() => {
  FakeSource.opened = [];
  vi.useFakeTimers();
  vi.stubGlobal('EventSource', FakeSource);
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
});

it('a search finds events that arrive after it reached the end of the log, but before it says so', async () => {
  const search = new Search({ task: 't', id: 'd' }, { ...everything, text: 'cup' }, () => undefined);
  onTestFinished(() => search.close());
  // The rows came live; the server had read the log to its end before.
  search.continue();
  FakeSource.opened[0]?.done([3], 10);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(FakeSource.opened).toHaveLength(2);
  FakeSource.opened[1]?.done([3, 11], 12);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(search.positions).toEqual([3, 11]);
  expect(FakeSource.opened).toHaveLength(2);
});

it('rows that came live are not replaced by the answer to an earlier question', () => {
  const rows = new PageCache<{ readonly position: number; readonly text: string }>();
  rows.add({ first: 0, size: 3, end: 2, rows: [{ position: 0, text: 'a call' }] });
  // Asked for the page when the log ended at 2; meanwhile the result came, and the event after it.
  rows.add({ first: 3, size: 2, end: 4, rows: [0, 4].map((position) => ({ position, text: 'live' })) });
  rows.add({ first: 0, size: 3, end: 2, rows: [{ position: 0, text: 'a call' }] });
  expect([0, 1, 3, 4].map((position) => rows.get(position)?.text)).toEqual([
    'live',
    undefined,
    undefined,
    'live',
  ]);
  rows.add({ first: 0, size: 6, end: 5, rows: [{ position: 0, text: 'a call and its result' }] });
  expect(rows.get(0)?.text).toBe('a call and its result');
});

it('an answer to an earlier question is dropped after a later one was answered', async () => {
  const answers = new LatestAnswer<string>();
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const taken = [answers.of(first.promise), answers.of(second.promise)];
  second.resolve('second');
  await taken[1];
  first.resolve('first');
  expect(await Promise.all(taken)).toEqual([null, 'second']);
});
