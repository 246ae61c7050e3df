import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { openSqliteStore } from '@hansard/store-sqlite';
import { randomFrom } from '@hansard/testing';
import { expect, it, onTestFinished } from 'vitest';
import type { SearchEnd, SearchedDispatch } from '../src/answers.ts';
import { makeRoot, startedViewer } from './viewed.ts';

const words = ['ant', 'bee', 'cat', 'dog', 'elk'];

async function storeWith(kind: string, root: string): Promise<DispatchStore> {
  const provider =
    kind === 'sqlite' ? await openSqliteStore({ path: join(root, 'all.db') }) : openJsonFileStore({ root });
  const store = openDispatchStore(provider);
  onTestFinished(() => store.close());
  if (kind !== 'no search') return store;
  // A store of somebody else, which cannot search.
  const capabilities = { ...store.capabilities, search: false as const };
  return new Proxy(store, {
    get: (target, key) => {
      if (key === 'capabilities') return capabilities;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

interface Kept {
  readonly task: string;
  readonly id: string;
  readonly texts: readonly string[];
}

/** Dispatches whose events have random words. What is in them is kept by the generator. */
async function filled(store: DispatchStore, seed: number): Promise<Kept[]> {
  const random = randomFrom(seed);
  const kept: Kept[] = [];
  for (const [at, task] of ['lab/tasks/maps', 'lab/tasks/maps', 'lab/tasks/seas'].entries()) {
    const id = `d${at}`;
    const dispatch = await store.beginDispatch(task, { role: 'w', dispatchId: id, title: `Title ${at}` });
    const texts = Array.from({ length: 20 }, () => words.filter(() => random() < 0.4).join(', ') || 'fox');
    await dispatch.append({
      type: 'agent:created',
      agentId: 'a1',
      data: { name: 'Ada', languageModel: 'm' },
    });
    await dispatch.append(
      texts.map((text): NewEvent => ({ type: 'agent:text', agentId: 'a1', data: { text } })),
    );
    await dispatch.end({ status: 'completed' });
    kept.push({ task, id, texts });
  }
  return kept;
}

/** The messages of a search, by kind. */
function messagesOf(body: string) {
  const messages = body.split('\n\n').map((block) => ({
    event: /^event: (.*)$/m.exec(block)?.[1] ?? 'message',
    data: /^data: (.*)$/m.exec(block)?.[1] ?? '',
  }));
  const of = (wanted: string) => messages.filter(({ event, data }) => event === wanted && data !== '');
  return {
    found: of('message').map(({ data }) => JSON.parse(data) as SearchedDispatch),
    searched: of('searched').map(({ data }) => Number(data)),
    done: of('done').map(({ data }) => JSON.parse(data) as SearchEnd),
    failed: of('failed').map(({ data }) => (JSON.parse(data) as { message: string }).message),
  };
}

it.each(['jsonfile', 'sqlite', 'no search'])(
  'finds the events with every word in all tasks or one (store: %s)',
  async (kind) => {
    const store = await storeWith(kind, makeRoot());
    const kept = await filled(store, 11);
    const { get } = await startedViewer(store);
    for (const [text, task] of [
      ['bee', null],
      ['Dog ANT', null],
      ['cat elk', 'lab/tasks/maps'],
      ['walrus', null],
    ] as const) {
      const parameters = new URLSearchParams({ text, ...(task === null ? {} : { task }) });
      const { found, done, failed } = messagesOf(await (await get(`/api/search?${parameters}`)).text());
      const wanted = text.toLowerCase().split(' ');
      const expected = kept
        .filter((one) => task === null || one.task === task)
        .flatMap(({ task, id, texts }) =>
          texts.flatMap((one, at) =>
            wanted.every((word) => one.split(', ').includes(word)) ? [`${task} ${id} ${at + 1} ${one}`] : [],
          ),
        );
      const shown = found.flatMap(({ taskDir, dispatchId, hits }) =>
        hits.map(({ position, parts }) => {
          const line = parts.map(({ text }) => text).join('');
          expect(
            parts
              .filter(({ isWord }) => isWord)
              .map(({ text }) => text)
              .toSorted(),
          ).toEqual(wanted.toSorted());
          return `${taskDir} ${dispatchId} ${position} ${line}`;
        }),
      );
      expect([kind, text, shown.toSorted()]).toEqual([kind, text, expected.toSorted()]);
      expect(found.every(({ title, hits }) => /^Title \d$/.test(title) && hits[0]?.agent === 'Ada')).toBe(
        true,
      );
      expect([done, failed]).toEqual([[{ isCut: false, problems: [] }], []]);
    }
  },
);

it('stops at 500 events, names what cannot be read, and refuses a text without a word', async () => {
  const root = makeRoot();
  const store = await storeWith('jsonfile', root);
  const dispatch = await store.beginDispatch('lab/tasks/maps', { role: '\u202ew', dispatchId: 'd1' });
  await dispatch.append(
    Array.from(
      { length: 600 },
      (): NewEvent => ({ type: 'agent:text', data: { text: '\u001b[31mthe bee' } }),
    ),
  );
  await dispatch.end({ status: 'completed' });
  mkdirSync(join(root, 'lab/tasks/seas/dispatches'), { recursive: true });
  writeFileSync(join(root, 'lab/tasks/seas/dispatches/bad.json'), '{"no');
  const { get } = await startedViewer(store);
  const ask = async (text: string) =>
    messagesOf(await (await get(`/api/search?text=${encodeURIComponent(text)}`)).text());
  const { found, searched, done } = await ask('bee');
  expect(found.map(({ title, hits }) => [title, hits.length])).toEqual([['<U+202E>w', 500]]);
  expect(JSON.stringify(found)).not.toContain('\\u001b');
  expect(searched).toEqual([0]);
  expect(done.map(({ isCut }) => isCut)).toEqual([true]);
  const none = await ask('walrus');
  expect([none.found, none.done]).toEqual([
    [],
    [{ isCut: false, problems: [expect.stringContaining('bad')] }],
  ]);
  expect((await ask('— !')).failed).toEqual([expect.stringContaining('has no word')]);
});
