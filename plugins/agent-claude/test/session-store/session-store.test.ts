import { foldSessionSummary, type SessionKey } from '@anthropic-ai/claude-agent-sdk';
import { openDispatchStore } from '@hansard/dispatch';
import { createRedactor } from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import { appendEvent, countEvents, createDispatch, secretCanaries } from '@hansard/testing';
import { describe, expect, it, vi } from 'vitest';
import { createSessionStore } from '../../src/session-store.ts';
import { closedAtEnd, newFolder, openFolder, providers } from './open-stores.ts';
import { entry } from './session-store-contract.ts';

const main: SessionKey = { projectKey: 'project', sessionId: 'session' };
const task = 'app/tasks/one';

function inMemory() {
  const store = closedAtEnd(openDispatchStore(createMemoryStore()));
  return { store, sessions: createSessionStore({ store, taskDir: task }) };
}

describe('any key has a place of its own', () => {
  const names = [
    '../../etc/passwd',
    '..',
    '.',
    '/',
    'a/b',
    'a\\b',
    'A',
    'a',
    'CON',
    'nul.txt',
    ' ',
    'a ',
    'a.',
    'a:b',
    'with\nline\u0000NUL',
    'half \ud800 pair',
    'ünïcode 🧪',
    '-'.repeat(300),
    'x'.repeat(5_000),
    `${'x'.repeat(5_000)}y`,
  ];
  for (const [name, open] of Object.entries(providers)) {
    it(`on ${name}`, async () => {
      const sessions = createSessionStore({ store: closedAtEnd(openDispatchStore(open())) });
      const keys = names.flatMap((odd) => [
        { projectKey: odd, sessionId: 's' },
        { projectKey: 'p', sessionId: odd },
        { projectKey: 'p', sessionId: 's', subpath: odd },
      ]);
      await Promise.all(keys.map((key) => sessions.append(key, [entry({ uuid: 'same', key })])));
      for (const key of keys) expect(await sessions.load(key)).toEqual([entry({ uuid: 'same', key })]);
      for (const odd of names)
        expect((await sessions.listSessions(odd)).map(({ sessionId }) => sessionId)).toEqual(['s']);
      const listed = await sessions.listSessions('p');
      expect(listed.map(({ sessionId }) => sessionId).sort()).toEqual([...names].sort());
      expect((await sessions.listSubkeys({ projectKey: 'p', sessionId: 's' })).sort()).toEqual(
        [...names].sort(),
      );
    });
  }

  it('but an empty subpath, which is a mistake of the caller', async () => {
    const { sessions } = inMemory();
    await expect(sessions.load({ ...main, subpath: '' })).rejects.toThrow(TypeError);
    await expect(sessions.append({ ...main, subpath: '' }, [entry({})])).rejects.toThrow('leave it out');
  });
});

it('finds its way when a session was deleted and written anew at the very same time', async () => {
  const root = newFolder();
  const clock = { now: () => Date.UTC(2026, 0) };
  const here = createSessionStore({ store: openFolder(root), ...clock });
  const there = createSessionStore({ store: openFolder(root), ...clock });
  await here.append(main, [entry({ uuid: 'a' }), entry({ uuid: 'b' }), entry({ uuid: 'c' })]);
  await there.delete(main);
  await there.append(main, [entry({ uuid: 'd' })]);
  await expect(here.append(main, [entry({ uuid: 'a' })])).rejects.toMatchObject({
    code: 'STORE_INVALID_CURSOR',
  });
  await here.append(main, [entry({ uuid: 'a' })]);
  expect(await here.load(main)).toEqual([entry({ uuid: 'd' }), entry({ uuid: 'a' })]);
});

it('writes nothing where there is nothing new', async () => {
  const { store, sessions } = inMemory();
  await sessions.append(main, []);
  expect(await store.getDispatchEnvelopes(task)).toEqual([]);
  await sessions.append(main, [entry({ uuid: 'a' })]);
  const listed = await sessions.listSessions('project');
  await sessions.append(main, [entry({ uuid: 'a' })]);
  const [{ dispatchId = '' } = {}] = await store.getDispatchEnvelopes(task);
  expect(await countEvents(store, task, dispatchId)).toBe(2);
  expect(await sessions.listSessions('project')).toEqual(listed);
});

it('loads a session of many pages whole, and knows all of it', async () => {
  const provider = createMemoryStore();
  const store = closedAtEnd(openDispatchStore(provider));
  const sessions = createSessionStore({ store, taskDir: task });
  const entries = Array.from({ length: 2_500 }, (_, n) => entry({ uuid: `uuid-${n}`, n }));
  await sessions.append(main, entries);
  expect(await sessions.load(main)).toEqual(entries);
  const [{ dispatchId = '' } = {}] = await store.getDispatchEnvelopes(task);
  const again = createSessionStore({ store: openDispatchStore(provider), taskDir: task });
  await again.append(main, entries);
  expect(await countEvents(store, task, dispatchId)).toBe(2_501);
});

it('keeps the summary of what load gives, also for a replay of older entries', async () => {
  const { sessions } = inMemory();
  const old = [entry({ uuid: 'a', customTitle: 'old', gitBranch: 'main' })];
  await sessions.append(main, old);
  await sessions.append(main, [entry({ uuid: 'b', customTitle: 'new' })]);
  await sessions.append(main, old);
  const [summary] = await sessions.listSessionSummaries('project');
  const stored = (await sessions.load(main)) ?? [];
  expect(summary?.data).toEqual(foldSessionSummary(undefined, main, stored).data);
  expect(summary?.data).toMatchObject({ customTitle: 'new' });
});

it('gives no earlier mtime when the clock goes back', async () => {
  const { store } = inMemory();
  let now = Date.UTC(2026, 1);
  const sessions = createSessionStore({ store, taskDir: task, now: () => now });
  await sessions.append(main, [entry({ uuid: 'a' })]);
  now = Date.UTC(2026, 0);
  await sessions.append(main, [entry({ uuid: 'b' })]);
  expect(await sessions.listSessions('project')).toEqual([
    { sessionId: 'session', mtime: Date.UTC(2026, 1) },
  ]);
});

it('gives mtime in whole milliseconds', async () => {
  const { store } = inMemory();
  const sessions = createSessionStore({ store, taskDir: task, now: () => Date.UTC(2026, 0) + 0.75 });
  await sessions.append(main, [entry({})]);
  expect(await sessions.listSessions('project')).toEqual([
    { sessionId: 'session', mtime: Date.UTC(2026, 0) },
  ]);
});

it('finds its notes even if another program wrote to the dispatch', async () => {
  const { store, sessions } = inMemory();
  await sessions.append(main, [entry({ uuid: 'a', customTitle: 'kept' })]);
  const [{ dispatchId = '' } = {}] = await store.getDispatchEnvelopes(task);
  for (let n = 0; n < 5; n += 1)
    await appendEvent(store, task, dispatchId, { type: 'harness:error', data: { message: 'by somebody' } });
  expect(await sessions.listSessionSummaries('project')).toMatchObject([{ data: { customTitle: 'kept' } }]);
  await sessions.append(main, [entry({ uuid: 'a' }), entry({ uuid: 'b' })]);
  expect((await sessions.load(main))?.map(({ uuid }) => uuid)).toEqual(['a', 'b']);
});

it('takes a session that was begun and never written for none', async () => {
  const { store, sessions } = inMemory();
  await sessions.append(main, [entry({ uuid: 'a' })]);
  const [envelope] = await store.getDispatchEnvelopes(task);
  await sessions.delete(main);
  if (envelope !== undefined) await createDispatch(store, task, envelope);
  expect(await sessions.load(main)).toBeNull();
  expect(await sessions.listSessions('project')).toEqual([]);
  await sessions.append(main, [entry({ uuid: 'a' })]);
  expect(await sessions.load(main)).toEqual([entry({ uuid: 'a' })]);
});

it('shows each entry under its own type and time, and what belongs together', async () => {
  const { store, sessions } = inMemory();
  const said = { type: 'user', uuid: 'a', timestamp: '2026-02-03T04:05:06.789Z', cwd: '/srv/app' };
  await sessions.append(main, [said, { type: 'file-history-snapshot' }, { type: '9 lives' }, { type: '…' }]);
  await sessions.append({ ...main, subpath: 'subagents/agent-7' }, [entry({})]);
  const envelopes = await store.getDispatchEnvelopes(task);
  const session = envelopes.find(({ role }) => role === 'claude-session');
  const part = envelopes.find(({ role }) => role === 'claude-session-part');
  expect(session).toMatchObject({ cwd: '/srv/app', parentDispatchId: null, status: 'completed' });
  expect(part?.parentDispatchId).toBe(session?.dispatchId);
  const events = await store.getDispatchEvents(task, session?.dispatchId ?? '');
  expect(events.map(({ type }) => type)).toEqual([
    'claude:user',
    'claude:file_history_snapshot',
    'claude:lives',
    'claude:entry',
    'claude_session:batch',
  ]);
  expect(events[0]).toMatchObject({ timestamp: said.timestamp, data: said });
  expect(events.at(-1)?.data).toMatchObject({ projectKey: 'project', sessionId: 'session' });
});

it('stores nothing of a batch that JSON cannot represent, and accepts the next one', async () => {
  const { store, sessions } = inMemory();
  const bad = [entry({ uuid: 'a' }), entry({ uuid: 'b', n: Number.NaN })];
  await expect(sessions.append(main, bad)).rejects.toMatchObject({ code: 'EVENT_NOT_JSON' });
  await expect(sessions.append(main, ['text'] as never)).rejects.toThrow(TypeError);
  expect(await store.getDispatchEnvelopes(task)).toEqual([]);
  await sessions.append(main, [entry({ uuid: 'a' })]);
  expect(await sessions.load(main)).toEqual([entry({ uuid: 'a' })]);
});

it('gives the session back after an append that failed, and stores the batch when it comes again', async () => {
  const provider = createMemoryStore();
  const store = closedAtEnd(openDispatchStore(provider));
  const sessions = createSessionStore({ store, taskDir: task });
  await sessions.append(main, [entry({ uuid: 'a' })]);
  const append = provider.appendEvents;
  provider.appendEvents = () => {
    throw new Error('no space left');
  };
  await expect(sessions.append(main, [entry({ uuid: 'b' })])).rejects.toThrow('no space left');
  expect(await store.getDispatchEnvelopes(task)).toMatchObject([{ status: 'completed' }]);
  provider.appendEvents = append;
  await sessions.append(main, [entry({ uuid: 'b' })]);
  expect((await sessions.load(main))?.map(({ uuid }) => uuid)).toEqual(['a', 'b']);
});

it('says that it cannot delete on a store that cannot', async () => {
  const memory = createMemoryStore();
  const provider = new Proxy(memory, {
    get(target, key) {
      if (key === 'capabilities') return { ...target.capabilities, deleteDispatch: false };
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const sessions = createSessionStore({ store: closedAtEnd(openDispatchStore(provider)) });
  await sessions.append(main, [entry({ uuid: 'a' })]);
  await expect(sessions.delete(main)).rejects.toMatchObject({ code: 'STORE_UNSUPPORTED' });
  expect(await sessions.load(main)).toHaveLength(1);
});

it('reads only the last event again of a session that it has read or written, which its figures continue from', async () => {
  const memory = closedAtEnd(createMemoryStore());
  let read = 0;
  const readEvents = memory.readEvents.bind(memory);
  memory.readEvents = (...asked) => {
    const page = readEvents(...asked);
    read += page.events.length;
    return page;
  };
  const first = createSessionStore({ store: openDispatchStore(memory) });
  const another = openDispatchStore(memory);
  for (let n = 0; n < 100; n += 1) await first.append(main, [entry({ uuid: `a-${n}` })]);
  expect(read).toBeLessThan(100);
  read = 0;
  const second = createSessionStore({ store: another });
  await second.append(main, [entry({ uuid: 'a-0' })]);
  expect(read).toBeLessThanOrEqual(201);
  read = 0;
  for (let n = 0; n < 100; n += 1) await second.append(main, [entry({ uuid: `b-${n}` })]);
  expect(read).toBeLessThanOrEqual(100);
});

describe('a session store on a store that redacts', () => {
  const [canary] = secretCanaries(8).all();
  const secret = [entry({ uuid: 'u1', message: { role: 'user', content: canary?.text } })];

  it('keeps its entries as they are', async () => {
    const store = closedAtEnd(openDispatchStore(createMemoryStore(), { redact: createRedactor() }));
    const sessions = createSessionStore({ store, taskDir: task });
    await sessions.append(main, secret);
    expect(await sessions.load(main)).toEqual(secret);
    // Other records of the same store are redacted.
    const { dispatchId } = await createDispatch(store, task, { role: 'worker' });
    const said = { type: 'agent:text', data: { text: canary?.text ?? '' } } as const;
    await appendEvent(store, task, dispatchId, said);
    expect(JSON.stringify(await store.getDispatchEvents(task, dispatchId))).not.toContain(canary?.needle);
  });

  it('redacts them on request, with a warning that a resumed session may differ', async () => {
    const store = closedAtEnd(openDispatchStore(createMemoryStore(), { redact: createRedactor() }));
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const sessions = createSessionStore({ store, taskDir: task, redact: true });
    await sessions.append(main, secret);
    const loaded = JSON.stringify(await sessions.load(main));
    expect(loaded).not.toContain(canary?.needle);
    expect(loaded).toContain(`[REDACTED:${canary?.kind}]`);
    const about = expect.stringContaining('a resumed session');
    expect(warn.mock.calls).toEqual([[about, { code: 'HANSARD_REDACTED_SESSIONS' }]]);
    warn.mockRestore();
  });
});
