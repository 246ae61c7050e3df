import { posix } from 'node:path';
import type { DispatchEnvelope, FileSink, TaskSource } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { writeTaskPages } from '../src/index.ts';
import { PageNames } from '../src/task-pages.ts';
import { envelope, events, hostileTexts, sourceOf } from './hostile-task.ts';

/** Files in memory. */
class Files {
  readonly whole = new Map<string, string>();
  readonly #open = new Map<string, string>();
  mostOpen = 0;

  readonly open = (name: string): FileSink => {
    expect(this.whole.has(name) || this.#open.has(name)).toBe(false);
    this.#open.set(name, '');
    this.mostOpen = Math.max(this.mostOpen, this.#open.size);
    return {
      write: async (text) => void this.#open.set(name, `${this.#open.get(name) ?? ''}${text}`),
      end: async () => {
        this.whole.set(name, this.#open.get(name) ?? '');
        this.#open.delete(name);
      },
    };
  };

  get isAllEnded(): boolean {
    return this.#open.size === 0;
  }
}

function dispatchOf(dispatchId: string, change: Partial<DispatchEnvelope> = {}): DispatchEnvelope {
  return { ...envelope, dispatchId, ...change };
}

/** Dispatches with the numbers of their events. The third one is a worker of the first one. */
const lengths = { long: 23, LONG: 7, worker: 0, '../up': 3 };
const ids = Object.keys(lengths) as (keyof typeof lengths)[];
const dispatches = ids.map((id, at) =>
  dispatchOf(id, {
    title: hostileTexts[at] ?? null,
    parentDispatchId: id === 'worker' ? 'long' : null,
  }),
);
const said = events.filter(({ type }) => type === 'agent:thinking');

function taskOf(taskDir: string): TaskSource {
  return {
    ...sourceOf(dispatches, []),
    taskDir,
    task: null,
    async *readEvents(dispatchId) {
      for (let at = 0; at < lengths[dispatchId as keyof typeof lengths]; at += 1)
        yield { ...(said[at % said.length] as (typeof said)[0]), id: `${dispatchId}-${at}` };
    },
  };
}

async function* tasks(): AsyncGenerator<TaskSource> {
  for (const taskDir of ['lab/tasks/one', 'lab/tasks/ONE', 'lab/tasks/<b>/x']) yield taskOf(taskDir);
}

async function written(options = {}): Promise<Files> {
  const files = new Files();
  const summary = await writeTaskPages(tasks(), files.open, options);
  expect(files.isAllEnded).toBe(true);
  expect(summary).toEqual({ tasks: 3, dispatches: 12, files: files.whole.size });
  return files;
}

/** The files that a page links to, by the texts of the links. */
function linksOf(files: Files, name: string): string[] {
  const html = (files.whole.get(name) ?? '').replaceAll(/<style>[\s\S]*?<\/style>/g, '');
  return [...html.matchAll(/<a [^>]*href="([^"#][^"]*)"/g)]
    .map(([, href = '']) => href)
    .filter((href) => !/^(?:https?:|mailto:)/.test(href))
    .map((href) => posix.join(posix.dirname(name), href));
}

/** The id of the dispatch of a file. */
const idOf = (files: Files, name: string) =>
  /<dt>session<\/dt><dd>([^<]*)</.exec(files.whole.get(name) ?? '')?.[1] ?? '';

const positionsOf = (html = '') =>
  [...html.matchAll(/<li class="row [^>]* id="d1-(\d+)"/g)].map(([, at]) => Number(at));

describe.each([
  ['whole', { wholeUpTo: 1_000 }],
  ['long', { wholeUpTo: 2 }],
])('pages of tasks whose dispatches are %s', (_, { wholeUpTo }) => {
  it('have a file for each dispatch, and further ones after a number of events, which lead to each other', async () => {
    const files = await written({ wholeUpTo, eventsPerFile: 5 });
    const index = linksOf(files, 'index.html');
    // 23, 7, 0 and 3 events in files of 5.
    const parts = [5, 2, 1, 1];
    expect(index).toHaveLength(3 * (5 + 2 + 1 + 1));
    expect(new Set(index.map((name) => name.toLowerCase())).size).toBe(index.length);
    expect([...files.whole.keys()].sort()).toEqual(['index.html', ...index].sort());
    const ofDispatch = Map.groupBy(index, (name) => `${posix.dirname(name)} ${idOf(files, name)}`);
    expect(ofDispatch.size).toBe(12);
    for (const [key, own] of ofDispatch) {
      const id = key.slice(key.indexOf(' ') + 1) as (typeof ids)[number];
      expect(own).toHaveLength(parts[ids.indexOf(id)] ?? 0);
      expect(own.flatMap((name) => positionsOf(files.whole.get(name)))).toEqual(
        Array.from({ length: lengths[id] }, (_, position) => position),
      );
      for (const [place, name] of own.entries()) {
        const links = linksOf(files, name);
        expect(links).toContain('index.html');
        expect(links.includes(own[place + 1] ?? 'none')).toBe(place + 1 < own.length);
        expect(links.includes(own[place - 1] ?? 'none')).toBe(place > 0);
      }
    }
  });

  it('lead from a dispatch to its workers and back, and only to files that exist', async () => {
    const files = await written({ wholeUpTo });
    const index = linksOf(files, 'index.html');
    const named = (id: string) => index.find((name) => idOf(files, name) === id) ?? '';
    const [parent, worker] = [named('long'), named('worker')];
    expect(linksOf(files, parent)).toContain(worker);
    expect(linksOf(files, worker)).toContain(parent);
    for (const name of files.whole.keys())
      for (const target of linksOf(files, name)) expect([...files.whole.keys()]).toContain(target);
  });

  it('have two files open at most', async () => {
    expect((await written({ wholeUpTo, eventsPerFile: 5 })).mostOpen).toBe(2);
  });

  it('have no element that an agent wrote, in the index either', async () => {
    const files = await written({ wholeUpTo });
    const html = files.whole.get('index.html') ?? '';
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).toContain('&lt;script&gt;globalThis.taken = true&lt;/script&gt;');
    expect(html).not.toMatch(/<img|<svg|onerror="|<b>/);
    for (const page of files.whole.values()) expect(page.match(/<script>/g)).toHaveLength(1);
  });
});

describe('names of pages', () => {
  it('are different without regard to case, and names on every file system', () => {
    const names = new PageNames();
    const wanted = [
      'a/b',
      'A/B',
      'a-b',
      'index',
      'CON',
      '',
      '..',
      '.',
      '💥',
      '-',
      'x'.repeat(500),
      'x'.repeat(501),
    ];
    const made = wanted.map((text) => names.nameFor(text));
    expect(new Set(made.map((name) => name.toLowerCase())).size).toBe(wanted.length);
    for (const name of made) expect(name).toMatch(/^[A-Za-z0-9_-]{1,80}(?:\.\d+)?$/);
    expect(made.slice(0, 5)).toEqual(['a-b', 'A-B.2', 'a-b.3', 'index.2', 'CON.2']);
  });
});
