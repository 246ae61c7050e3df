import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SessionsFound } from '@hansard/compose/reading';
import { type DispatchStore, type ListedDispatch, openDispatchStore, usageOf } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { CopyFinder, openCallEvents, sessionToCompare } from '@hansard/facts';
import { importLogs } from '@hansard/import';
import { renderCalls } from '@hansard/prompt';
import { createMemoryStore } from '@hansard/store-memory';
import { corpus } from '@hansard/testing';
import { describe, expect, it } from 'vitest';

interface Right {
  readonly name: string;
  readonly tokens: Readonly<Record<'input' | 'output' | 'cacheRead' | 'cacheWrite', number>>;
  readonly speakers: Readonly<Record<string, string | readonly string[]>>;
  readonly sessions: Readonly<
    Record<string, { copied: { from?: string; uuids?: Readonly<Record<string, string>> } }>
  >;
}

const folder = join(corpus, 'claude-tree');
const isThere = existsSync(folder);
const skipped = isThere ? '' : ' (skipped: no corpus; HANSARD_CORPUS names its folder)';
const right: Readonly<Record<string, Right>> = isThere
  ? JSON.parse(readFileSync(join(folder, 'right.json'), 'utf8'))
  : {};
const inputs = Object.keys(right).filter((input) => existsSync(join(folder, input, 'p')));

interface Read {
  readonly store: DispatchStore;
  readonly sessions: readonly { readonly listed: ListedDispatch; readonly events: CapturedEvent[] }[];
}

/** What a folder of the corpus has, read, until the caller closes the store. */
async function read(path: string): Promise<Read> {
  const store = openDispatchStore(createMemoryStore());
  for await (const item of importLogs(store, [join(corpus, path)]))
    if (item.kind === 'failed') throw item.error;
  const sessions = [];
  for await (const listed of store.dispatches())
    if (!('error' in listed))
      sessions.push({ listed, events: await store.getDispatchEvents(listed.taskDir, listed.dispatchId) });
  return { store, sessions };
}

const nameOf = ({ envelope }: ListedDispatch) => envelope.source?.files[0]?.name.replace('.jsonl', '') ?? '';
const rowOf = (id: string) => id.replace(/\.\d+$/, '');
const isRow = ({ type }: CapturedEvent) =>
  /^(user:message|agent:(text|thinking|tool_call|tool_result)|session:compaction)$/.test(type);

/** By session: the rows that it repeats, each with the row that it is a copy of and the session of that one. */
function copiesOf({ sessions }: Read): Map<string, Map<string, readonly [session: string, row: string]>> {
  const finder = new CopyFinder();
  for (const { listed, events } of sessions) {
    finder.begin(sessionToCompare(listed.envelope));
    for (const event of [...events, ...openCallEvents(listed.envelope, () => false)]) finder.add(event);
  }
  const found = finder.find();
  const names = new Map(sessions.map(({ listed }) => [listed.dispatchId, nameOf(listed)]));
  return new Map(
    sessions.map(({ listed, events }) => {
      const { copied, originals } = found.get(listed.dispatchId) ?? {};
      const rows = events.flatMap((event): [string, readonly [string, string]][] => {
        const of = copied?.get(event.id);
        const row = rowOf(originals?.get(event.id) ?? '');
        return of === undefined || !isRow(event) ? [] : [[rowOf(event.id), [names.get(of) ?? '', row]]];
      });
      return [nameOf(listed), new Map(rows)];
    }),
  );
}

/** The speaker of an event, in the words of `right.json`. */
function speakerOf({ type, agentId, data }: CapturedEvent): string {
  if (type === 'agent:tool_result') return 'tool';
  if (type === 'session:compaction') return 'engine';
  if (type !== 'user:message') return agentId === undefined ? 'model' : `agent:${agentId}`;
  const { kind, agentId: agent, hook } = data.source as Readonly<Record<string, string>>;
  if (kind === 'system') return hook === undefined ? 'engine' : 'hook';
  return kind === 'agent' ? `agent:${agent ?? 'main'}` : (kind ?? '');
}

describe.skipIf(!isThere)(`each input of claude-tree${skipped}`, () => {
  it.each(inputs)('%s has its tokens, and its copies', async (input) => {
    const truth = right[input] as Right;
    const found = await read(`claude-tree/${input}/p`);
    await using store = found.store;
    const { total } = await usageOf(store);
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = total;
    const cache = { cacheRead: cacheReadTokens ?? 0, cacheWrite: cacheWriteTokens ?? 0 };
    expect({ input: inputTokens, output: outputTokens, ...cache }).toEqual(truth.tokens);
    const copies = copiesOf(found);
    for (const [session, { copied }] of Object.entries(truth.sessions)) {
      const { from = '', uuids = {} } = copied;
      const rows = Object.entries(uuids).map(([row, original]) => [row, [from, original]]);
      expect([...(copies.get(session) ?? [])].sort(), session).toEqual(rows.sort());
    }
  });

  // The speakers of k17 to k24 are compared where they are read.
  it.each(inputs.filter((input) => !/^k(1[7-9]|2[0-4])$/.test(input)))(
    '%s has its speakers',
    async (input) => {
      const found = await read(`claude-tree/${input}/p`);
      await using _ = found.store;
      const spoken = new Map<string, string>();
      for (const { events } of found.sessions)
        for (const event of events) if (isRow(event)) spoken.set(rowOf(event.id), speakerOf(event));
      const expected = Object.entries(right[input]?.speakers ?? {});
      expect(expected.map(([row]) => [row, spoken.get(row)])).toEqual(expected);
    },
  );
});

describe.skipIf(!isThere)(`each input of field-reports${skipped}`, () => {
  const usedIn = async (input: string, by: 'day' | 'model') => {
    const { store } = await read(`field-reports/${input}/p`);
    await using _ = store;
    const { rows, total } = await usageOf(store, { by: [by], zone: 'utc' });
    const keys = rows.map(({ values: [key = ''], inputTokens }) => [key, inputTokens]);
    return { total, rows: Object.fromEntries(keys) };
  };

  it('c03b costs what its parts cost', async () => {
    expect((await usedIn('c03b', 'model')).total.estimatedUsd).toBeCloseTo(0.6, 6);
  });

  it('c04 has each call on its own day', async () => {
    const { rows } = await usedIn('c04', 'day');
    expect(rows).toEqual({ '2026-11-20': 100, '2026-11-21': 1_000, '2026-11-23': 10_000 });
  });

  it.each([
    ['c05', 600, 180],
    ['c06b', 600, 180],
    ['c11', 4_600, 65],
    ['c49', 100_010, 801],
  ])('%s counts each call once', async (input, inputTokens, outputTokens) => {
    expect((await usedIn(input, 'model')).total).toMatchObject({ inputTokens, outputTokens });
  });

  it('c06b: the branch names its origin', async () => {
    const { store, sessions } = await read('field-reports/c06b/p');
    await using _ = store;
    const forks = sessions.filter(({ listed: { envelope } }) => envelope.forkedFrom !== undefined);
    expect(forks.map(({ listed: { envelope } }) => envelope.forkedFrom?.from.sessionId)).toEqual(
      sessions.filter((one) => !forks.includes(one)).map(({ listed }) => nameOf(listed)),
    );
  });

  it('c11: the forked agent was given the transcript of its caller', async () => {
    const { store, sessions } = await read('field-reports/c11/p');
    await using _ = store;
    const calls = sessions.flatMap(({ events }) => [...renderCalls(events)]);
    const last = calls.findLast(({ agentId }) => agentId !== '');
    const texts = last?.messages.map((message) => ('text' in message ? message.text : ''));
    expect(texts?.slice(0, 2)).toEqual(['Plan it.', 'Planned.']);
    expect(texts?.at(-1)).toContain('Do step 1');
  });

  it.each(['项目', '接続エラー'])('c40: %s is found once', async (text) => {
    const { store } = await read('field-reports/c40/p');
    await using _ = store;
    const search = new SessionsFound(store, {
      ...{ text, scope: null, limit: 20, withRecords: false, signal: new AbortController().signal },
      request: { isOpen: true } as never,
      onSession: async () => {},
      onIndexed: () => {},
    });
    let hits = 0;
    for await (const one of search.hits()) hits += one.hits.length;
    expect(hits).toBe(1);
  });
});

/**
 * A second counter: how many messages of these files another of them has, too. A copy has the uuid of the other message or names it; an answer has the
 * message id and the content; a prompt of 1.x stands before the same answer.
 */
function repeatedMessages(files: readonly string[]): number {
  type Line = {
    type: string;
    uuid?: string;
    forkedFrom?: { messageUuid: string };
    version?: string;
    timestamp?: string;
  };
  type Message = { id?: string; content?: unknown };
  const seen = new Set<string>();
  let count = 0;
  for (const file of files.toSorted()) {
    const own = new Set<string>();
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((text) => {
        try {
          const line = JSON.parse(text) as Line & { message?: Message; isSidechain?: boolean };
          return (line.type === 'user' || line.type === 'assistant') && line.isSidechain === false
            ? [line]
            : [];
        } catch {
          return [];
        }
      });
    for (const [at, { type, uuid, forkedFrom, version = '', timestamp, message }] of lines.entries()) {
      const isOld = version.startsWith('1.');
      const next = lines.slice(at).find((line) => line.type === 'assistant')?.message?.id;
      const content = JSON.stringify(message?.content).replace(
        /^\[\{"type":"text","text":("[^"]*")\}\]$/,
        '$1',
      );
      const names = [
        ...(uuid === undefined ? [] : [`${uuid} ${message?.id} ${content}`]),
        ...(forkedFrom === undefined ? [] : [`${forkedFrom.messageUuid} ${message?.id} ${content}`]),
        ...(type === 'assistant' ? [`${message?.id} ${content} ${isOld ? '' : timestamp}`] : []),
        ...(type === 'user' && isOld ? [`${content} before ${next}`] : []),
      ];
      if (names.some((name) => seen.has(name) && !own.has(name))) count += 1;
      for (const name of names) own.add(name);
    }
    for (const name of own) seen.add(name);
  }
  return count;
}

describe.skipIf(!isThere)(`the corpus${skipped}`, () => {
  const folders = [
    'claude-transcripts/continued',
    ...globSync('{claude-tree,field-reports}/*/p', { cwd: corpus }),
  ];

  it('has the copied messages of a second counter', async () => {
    const counted: Record<string, number> = {};
    for (const path of folders.sort()) {
      const files = globSync(join(corpus, path, '**/*.jsonl')).filter((file) => !file.includes('subagents'));
      if (files.length < 2) continue;
      const found = await read(path);
      await using _ = found.store;
      const copied = [...copiesOf(found).values()].reduce((sum, rows) => sum + rows.size, 0);
      expect(copied, path).toBe(repeatedMessages(files));
      if (copied > 0) counted[path] = copied;
    }
    expect(counted).toMatchInlineSnapshot(`
      {
        "claude-transcripts/continued": 2,
        "claude-tree/k11/p": 4,
        "claude-tree/k12/p": 4,
        "claude-tree/k13/p": 2,
        "claude-tree/k14/p": 4,
        "claude-tree/k15/p": 4,
        "claude-tree/k25/p": 2,
        "field-reports/c05/p": 4,
        "field-reports/c06b/p": 4,
      }
    `);
  });
});
