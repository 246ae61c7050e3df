import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createSessionStore } from '@hansard/agent-claude/session-store';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, newEvent } from '@hansard/events';
import {
  importLogs,
  importSessions,
  type ReadableSessionKey,
  type ReadableSessionStore,
} from '@hansard/import';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import { commandLine } from './command-line.ts';

type Entry = { type: string; uuid?: string; timestamp?: string; [key: string]: unknown };
type Mirror = ReadableSessionStore & { append(key: ReadableSessionKey, entries: Entry[]): Promise<void> };
type ImportSessions = typeof importSessions;

const sessionId = '5e551011-1111-4111-8111-111111111111';
const start = Date.parse('2026-03-01T09:30:00.000Z');
const now = () => Date.parse('2026-05-01T00:00:00.000Z');

/** A line of a transcript: of the session, or of a sub-agent by its subpath. */
interface Line {
  readonly subpath: string | undefined;
  readonly entry: Entry;
}

/** A random session with records without ids, sub-agents, some below another folder, and metadata that changes. */
function randomLines(seed: number): Line[] {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const written: Line[] = [];
  const agents: { id: string; subpath: string }[] = [];
  let number = 0;
  let parent: string | null = null;
  const record = (subpath: string | undefined, fields: Entry, agentId?: string) => {
    number += 1;
    const uuid = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
    const timestamp = new Date(start + 1_000 * number).toISOString();
    const place = { cwd: '/srv/shop', sessionId, version: '2.1.200', userType: 'external' };
    const agent =
      agentId === undefined
        ? { isSidechain: false, parentUuid: parent }
        : { isSidechain: true, parentUuid: null, agentId };
    if (agentId === undefined) parent = uuid;
    written.push({ subpath, entry: { ...agent, ...place, ...fields, uuid, timestamp } });
  };
  const say = (subpath?: string, id?: string) =>
    record(subpath, { type: 'user', message: { role: 'user', content: `Prompt ${number}` } }, id);
  const answer = (content: object, subpath?: string, id?: string) => {
    const usage = { input_tokens: 10, output_tokens: 1 + below(9) };
    const message = {
      id: `msg_${number}`,
      role: 'assistant',
      model: 'claude-opus-4-6',
      content: [content],
      usage,
    };
    record(subpath, { type: 'assistant', requestId: `req_${number}`, message }, id);
  };
  say();
  for (let step = 0; step < 14; step += 1) {
    const kind = below(7);
    const agent = agents[below(agents.length)];
    if (kind === 0) say();
    else if (kind === 1) answer({ type: 'text', text: `Answer ${number}` });
    else if (kind === 2)
      written.push({ subpath: agent?.subpath, entry: { type: 'mode', mode: 'normal', sessionId } });
    else if (kind === 3 && agents.length < 3) {
      const id = `a${seed}x${agents.length}`;
      const subpath = `subagents/${below(2) === 0 ? '' : 'workflows/w1/'}agent-${id}`;
      answer({ type: 'tool_use', id: `toolu_${id}`, name: 'Agent', input: { prompt: 'Look' } });
      agents.push({ id, subpath });
      // The SDK mirrors the metadata file as an entry.
      const metadata = { agentType: 'Explore', toolUseId: `toolu_${id}`, spawnDepth: 1 };
      written.push({ subpath, entry: { type: 'agent_metadata', ...metadata } });
      say(subpath, id);
    } else if (agent !== undefined && kind < 6)
      answer({ type: 'text', text: `Report ${number}` }, agent.subpath, agent.id);
    else if (agent !== undefined) {
      const metadata = {
        agentType: 'Explore',
        toolUseId: `toolu_${agent.id}`,
        spawnDepth: 1,
        finished: number,
      };
      written.push({ subpath: agent.subpath, entry: { type: 'agent_metadata', ...metadata } });
    }
  }
  return written;
}

/** What Claude Code writes to its folder for these lines. */
function writeFiles(project: string, lines: readonly Line[]): void {
  for (const { subpath, entry } of lines) {
    const path = join(project, subpath === undefined ? sessionId : `${sessionId}/${subpath}`);
    mkdirSync(dirname(path), { recursive: true });
    const { type, ...metadata } = entry;
    if (type === 'agent_metadata') writeFileSync(`${path}.meta.json`, JSON.stringify(metadata));
    else appendFileSync(`${path}.jsonl`, `${JSON.stringify(entry)}\n`);
  }
}

/** A mirror of somebody else, whose database returns keys in another order. */
function otherMirror(): Mirror {
  const kept = new Map<string, Entry[]>();
  const nameOf = ({ projectKey, sessionId: id, subpath = '' }: ReadableSessionKey) =>
    [projectKey, id, subpath].join('\n');
  const reordered = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reordered);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, field]) => [key, reordered(field)]),
    );
  };
  return {
    append: async (key, entries) =>
      void kept.set(nameOf(key), [...(kept.get(nameOf(key)) ?? []), ...entries]),
    load: async (key) => reordered(kept.get(nameOf(key)) ?? null) as Entry[] | null,
    listSessions: async () => [{ sessionId, mtime: start }],
    listSubkeys: async () => [...kept.keys()].flatMap((name) => name.split('\n')[2] || []),
  };
}

const imported = 'claude-transcript';

async function storedIn(store: DispatchStore): Promise<{ dispatches: string[]; events: CapturedEvent[] }> {
  const dispatches: string[] = [];
  const events: CapturedEvent[] = [];
  for await (const entry of store.dispatches()) {
    if ('error' in entry || entry.envelope.source?.format !== imported) continue;
    dispatches.push(entry.dispatchId);
    events.push(...(await store.getDispatchEvents(entry.taskDir, entry.dispatchId)));
  }
  return { dispatches, events };
}

const sorted = (events: readonly CapturedEvent[]) =>
  events.toSorted((one, other) => (one.id < other.id ? -1 : 1));

async function drain(items: AsyncIterable<{ kind: string }>): Promise<void> {
  for await (const item of items) if (item.kind === 'failed') throw new Error(JSON.stringify(item));
}

/** A session that grows and is imported from its files and from a mirror in random order. Null: as the files at once. */
async function differenceOf(seed: number, by: ImportSessions): Promise<string | null> {
  const random = randomFrom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'hansard-both-ways-'));
  await using store = openDispatchStore(createMemoryStore());
  await using reference = openDispatchStore(createMemoryStore());
  const mirror = random() < 0.5 ? createSessionStore({ store, now }) : otherMirror();
  const projectKey = random() < 0.5 ? 'tenant-7' : '-srv-shop';
  const project = join(folder, 'projects/-srv-shop');
  const path = join(project, `${sessionId}.jsonl`);
  const fromFiles = (into: DispatchStore) => drain(importLogs(into, [path], { now }));
  const fromMirror = () => drain(by(store, mirror, { projectKey, now }));
  try {
    const lines = randomLines(seed);
    const ends = [...[1, 2].map(() => 1 + Math.floor(random() * lines.length)), lines.length].sort(
      (a, b) => a - b,
    );
    let at = 0;
    for (const end of ends) {
      writeFiles(project, lines.slice(at, end));
      for (const { subpath, entry } of lines.slice(at, end))
        await mirror.append({ projectKey, sessionId, ...(subpath === undefined ? {} : { subpath }) }, [
          entry,
        ]);
      at = end;
      const ways =
        random() < 0.5 ? [() => fromFiles(store), fromMirror] : [fromMirror, () => fromFiles(store)];
      const isEnd = end === lines.length;
      // Half of the sessions end with the mirror alone, which then has to give everything.
      for (const way of isEnd && seed % 2 === 0 ? [fromMirror] : ways)
        if (isEnd || random() < 0.6) await way();
    }
    await fromFiles(reference);
    const [found, right] = [await storedIn(store), await storedIn(reference)];
    if (found.dispatches.join() !== right.dispatches.join())
      return `seed ${seed}: the dispatches are ${found.dispatches}, not ${right.dispatches}`;
    // Metadata that has changed since stays in the log.
    const isOld = ({ id, type }: CapturedEvent) =>
      type === 'system:agent_metadata' && !right.events.some((event) => event.id === id);
    const kept = sorted(found.events.filter((event) => !isOld(event)));
    expect(kept).toEqual(sorted(right.events));
    return null;
  } catch (error) {
    return `seed ${seed}: ${error}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function wrongSeed(by: ImportSessions, seeds: number): Promise<string | null> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const wrong = await differenceOf(seed, by);
    if (wrong !== null) return wrong;
  }
  return null;
}

describe('a session that comes from its files and from a session store of the SDK', () => {
  const seeds = 12;
  const home = join(import.meta.dirname, '../../../packages/import');
  const file = 'import-sessions.ts';

  it(`is one dispatch with the events of its files, in any order, in ${seeds} random sessions`, async () => {
    expect(await wrongSeed(importSessions, seeds)).toBeNull();
  });

  it.each([
    [
      'names sessions by the project key',
      'const name = subpath === undefined ? sessionId :',
      'const name = subpath === undefined ? key.projectKey :',
    ],
    ['reads no sub-agents', '(await source.listSubkeys?.(key)) ?? []', '[]'],
    ['takes the first metadata', 'entries.findLast(isMetadata)', 'entries.find(isMetadata)'],
    ['takes metadata for records', 'entries.filter((entry) => !isMetadata(entry))', 'entries'],
    ['leaves out records without an id', '(entry) => !isMetadata(entry))', "(entry) => 'uuid' in entry)"],
    ['flattens the folders of sub-agents', 'subpath}`', "subpath.replaceAll('/', '_')}`"],
  ])('would differ if an import %s', async (_, piece, instead) => {
    const made = await importMutated(home, [file, piece, instead], 'index.ts');
    expect(
      await wrongSeed((made as { importSessions: ImportSessions }).importSessions, seeds),
    ).not.toBeNull();
  });

  it('writes nothing outside of its folder, and names what it left out', async () => {
    await using store = openDispatchStore(createMemoryStore());
    const [first] = randomLines(1);
    const source: ReadableSessionStore = {
      load: async () => [first?.entry ?? {}],
      listSessions: async () =>
        [sessionId, '../up', '/root', ''].map((id) => ({ sessionId: id, mtime: start })),
      listSubkeys: async () => ['../../../up', 'subagents/../../x', 'C:\\x', ''],
    };
    const items: object[] = [];
    for await (const item of importSessions(store, source, { projectKey: '../..', now })) items.push(item);
    expect(items).toMatchObject([
      { kind: 'imported', files: [`${sessionId}.jsonl`], taskDir: `srv-shop/tasks/${sessionId}` },
      {
        kind: 'left-out',
        reason: 'unsafe-name',
        paths: ['../../../up', 'subagents/../../x', 'C:\\x', '']
          .map((name) => `${sessionId}/${name}`)
          .concat('../up', '/root', ''),
      },
    ]);
    await expect(drain(importSessions(store, { load: source.load }, { projectKey: 'p' }))).rejects.toThrow(
      /sessionIds/,
    );
  });
});

describe('hansard import --mirrored', () => {
  it('imports what the SDK has mirrored into the store of the project, except what a run has recorded', async () => {
    using cli = commandLine();
    const none = await cli.hansard('import', '--mirrored');
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('No session of the Agent SDK')]);
    const store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
    const other = '5e551011-2222-4222-8222-222222222222';
    for (const [id, taskDir] of [
      [sessionId, undefined],
      [other, 'lab/tasks/run'],
    ] as const) {
      const mirror = createSessionStore({ store, ...(taskDir === undefined ? {} : { taskDir }) });
      for (const { subpath, entry } of randomLines(3)) {
        const key = { projectKey: '-srv-shop', sessionId: id };
        await mirror.append(subpath === undefined ? key : { ...key, subpath }, [{ ...entry, sessionId: id }]);
      }
    }
    const run = await store.beginDispatch('lab/tasks/run', { role: 'dev', dispatchId: 'run' });
    await run.append([newEvent('session:init', { model: 'm', sessionId: other })]);
    await run.end({ status: 'completed' });
    await store.close();
    const { code, out, err } = await cli.hansard('import', '--mirrored');
    expect([code, err]).toEqual([0, 'hansard: 1 session left out: runs of this store have recorded them.\n']);
    expect(out).toMatch(new RegExp(`^srv-shop/${sessionId} \\w+: claude-transcript, .* new\n$`));
    expect((await cli.hansard('show', `srv-shop/${sessionId}`)).out).toContain(
      'message  from user  Prompt 1',
    );
    const again = await cli.hansard('import', '--mirrored', '--json');
    expect(again.json()).toMatchObject([
      { leftOut: 'captured', files: [other] },
      { added: 0, unchanged: true },
    ]);
    expect((await cli.hansard('import', '--mirrored', '.')).code).toBe(2);
  });
});
