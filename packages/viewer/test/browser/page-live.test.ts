import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { followRows } from '../../src/page/live.ts';

type Heard = (event: { readonly data: string }) => void;

/** The connections of a page, each driven by the test. */
class FakeSource {
  static opened: FakeSource[] = [];
  readonly url: string;
  isClosed = false;
  onerror: (() => void) | null = null;
  onopen: (() => void) | null = null;
  onmessage: Heard | null = null;
  readonly #heard = new Map<string, Heard>();

  constructor(url: string) {
    this.url = url;
    FakeSource.opened.push(this);
  }

  addEventListener(event: string, heard: Heard): void {
    this.#heard.set(event, heard);
  }

  send(event: string, value: unknown): void {
    const message = { data: JSON.stringify(value) };
    if (event === 'message') this.onmessage?.(message);
    else this.#heard.get(event)?.(message);
  }

  close(): void {
    this.isClosed = true;
  }

  static get last(): FakeSource {
    const last = FakeSource.opened.at(-1);
    if (last === undefined) throw new Error('There is no connection.');
    return last;
  }

  static cursors(): (string | null)[] {
    return FakeSource.opened.map(({ url }) => new URL(url, 'http://localhost').searchParams.get('after'));
  }
}

let page: EventTarget & { visibilityState: string };
let answer: () => Response;

beforeEach(() => {
  FakeSource.opened = [];
  page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  answer = () => Response.json({});
  vi.useFakeTimers();
  vi.stubGlobal('EventSource', FakeSource);
  vi.stubGlobal('document', page);
  vi.stubGlobal('fetch', async () => answer());
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
});

function following(after: number) {
  const problems: (string | null)[] = [];
  const rows: (readonly [first: number, end: number])[] = [];
  const ends: string[] = [];
  const stop = followRows({ task: 't', id: 'd' }, after, {
    onRows: ({ end }, first) => void rows.push([first, end]),
    onEnvelope: () => undefined,
    onWriting: () => undefined,
    onTree: () => undefined,
    onFolds: () => undefined,
    onConnection: (problem) => void problems.push(problem),
    onEnd: (message) => void ends.push(message),
  });
  onTestFinished(stop);
  return { problems, rows, ends, stop };
}

it('says why a store cannot be read, tries again from the last row, and takes it back when nothing is missing', async () => {
  const { problems, rows, ends } = following(9);
  FakeSource.last.send('message', { rows: [], end: 14 });
  for (let turn = 0; turn < 2; turn += 1) {
    FakeSource.last.send('failed', { message: 'The database is locked.' });
    expect(FakeSource.last.isClosed).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    FakeSource.last.onopen?.();
  }
  expect(problems).toEqual(Array(2).fill('The database is locked. Trying again.'));
  FakeSource.last.send('message', { rows: [], end: 17 });
  FakeSource.last.send('caught_up', 17);
  expect(problems.at(-1)).toBeNull();
  expect(FakeSource.cursors()).toEqual(['9', '14', '14']);
  expect(rows).toEqual([
    [10, 14],
    [15, 17],
  ]);
  expect(ends).toEqual([]);
});

it('shows what the viewer answers while the store is away', async () => {
  const { problems, ends } = following(0);
  answer = () => Response.json({ code: 'STORE_UNAVAILABLE', message: 'No server.' }, { status: 503 });
  FakeSource.last.onerror?.();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(problems).toEqual(['No server. Trying again.']);
  expect(FakeSource.opened).toHaveLength(2);
  expect(ends).toEqual([]);
});

it('ends when the dispatch was deleted', async () => {
  const { ends } = following(0);
  answer = () => Response.json({ message: 'none' }, { status: 404 });
  FakeSource.last.onerror?.();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ends).toEqual(['This dispatch was deleted.']);
  expect(FakeSource.opened).toHaveLength(1);
});

it('takes no row twice', () => {
  const { rows } = following(4);
  for (const end of [6, 6, 5, 7]) FakeSource.last.send('message', { rows: [], end });
  expect(rows).toEqual([
    [5, 6],
    [7, 7],
  ]);
});

it('gives its connection back after 30 s in a hidden tab, and continues with its cursor when it is seen', async () => {
  const { rows, problems } = following(0);
  FakeSource.last.send('message', { rows: [], end: 3 });
  const show = (state: string) => {
    page.visibilityState = state;
    page.dispatchEvent(new Event('visibilitychange'));
  };
  show('hidden');
  await vi.advanceTimersByTimeAsync(29_000);
  show('visible');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(FakeSource.last.isClosed).toBe(false);
  show('hidden');
  await vi.advanceTimersByTimeAsync(30_000);
  expect(FakeSource.last.isClosed).toBe(true);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(FakeSource.opened).toHaveLength(1);
  show('visible');
  FakeSource.last.send('message', { rows: [], end: 8 });
  expect(FakeSource.cursors()).toEqual(['0', '3']);
  expect(rows).toEqual([
    [1, 3],
    [4, 8],
  ]);
  expect(problems).toEqual([]);
});
