import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  forkSession,
  getSessionMessages,
  InMemorySessionStore,
  importSessionToStore,
  listSessions,
  listSubagents,
  query,
  type SDKMessage,
  type SessionStore,
  type SessionStoreEntry,
} from '@anthropic-ai/claude-agent-sdk';
import { createClaudeMapping } from '@hansard/claude';
import type { DispatchStore } from '@hansard/dispatch';
import { type ImportItem, importSessions } from '@hansard/import';
import { appendEvent, createDispatch } from '@hansard/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  cleanClaudeEnvironment,
  enginePatienceMs,
  requireClaudeEngine,
} from '../../../../scripts/engines/claude-engine.ts';
import {
  latestTextIn,
  type MessagesRequest,
  type ScriptedMessagesApi,
  startMessagesApi,
} from '../../../../scripts/engines/scripted-messages-api.ts';
import { createSessionStore, mirroredSessions } from '../../src/session-store.ts';
import { newFolder, openFolder } from './open-stores.ts';

const task = 'tea-shop/tasks/stock-taking';
vi.setConfig({ testTimeout: enginePatienceMs });
let api: ScriptedMessagesApi;

beforeAll(async () => {
  api = await startMessagesApi();
});
afterAll(() => api.close());

it('resumes a session from the log alone, when everything that the engine kept is gone', async () => {
  const machine = newMachine();
  const endpoint = api.serve((request) => [
    {
      type: 'text',
      text: askedIn(request).includes('How many') ? 'There are 41 tins.' : 'They are green.',
    },
  ]);

  const first = openFolder(machine.log);
  const sessionStore = createSessionStore({ store: first, taskDir: task });
  const messages = await runEngine(machine, endpoint.url, 'How many tins are there?', { sessionStore });
  const { session_id: sessionId } = resultOf(messages);
  await capture(first, messages);
  await expectImportToAddNothing(machine, sessionId, sessionStore);
  await first.close();
  machine.lose();

  const second = openFolder(machine.log);
  const reopened = createSessionStore({ store: second, taskDir: task });
  const before = endpoint.requests.length;
  const resumed = await runEngine(machine, endpoint.url, 'What colour are they?', {
    sessionStore: reopened,
    resume: sessionId,
  });

  expect(resultOf(resumed)).toMatchObject({ session_id: sessionId, result: 'They are green.' });
  const asked = endpoint.requests.slice(before).find((request) => sees(request, 'What colour are they?'));
  expect(rolesIn(asked)).toEqual(['user', 'assistant', 'user']);
  expect(sees(asked, 'How many tins are there?')).toBe(true);
  expect(sees(asked, 'There are 41 tins.')).toBe(true);
  expect(problemsIn([...messages, ...resumed])).toEqual([]);

  const options = { dir: machine.work, sessionStore: reopened };
  expect(await listSessions(options)).toMatchObject([{ sessionId, firstPrompt: 'How many tins are there?' }]);
  const said = await getSessionMessages(sessionId, options);
  expect(said.map(({ type }) => type)).toEqual(['user', 'assistant', 'user', 'assistant']);

  const fork = await forkSession(sessionId, options);
  const forked = await getSessionMessages(fork.sessionId, options);
  expect(forked.map(({ message }) => message)).toEqual(said.map(({ message }) => message));

  await expectOneLog(second, sessionId);
  const [mirrored] = await mirroredSessions(second);
  expect(mirrored?.sessionIds.toSorted()).toEqual([sessionId, fork.sessionId].sort());
  expect(mirrored?.captured).toEqual([sessionId]);
});

it('resumes the sub-agents of a session too, each with its own transcript', async () => {
  const machine = newMachine();
  let helper = '';
  const endpoint = api.serve((request) => {
    const said = askedIn(request);
    if (said.includes('Ask the helper'))
      return [
        call('Agent', { description: 'count', prompt: 'Count the cups', subagent_type: 'general-purpose' }),
      ];
    if (said.includes('Wake the helper'))
      return [call('SendMessage', { to: helper, summary: 'the saucers', message: 'Count the saucers' })];
    if (said.includes('Count the saucers')) return [{ type: 'text', text: 'Nine saucers.' }];
    if (said.includes('Count the cups')) return [{ type: 'text', text: 'Seven cups.' }];
    return [{ type: 'text', text: said === '' ? 'I asked.' : 'Good.' }];
  });

  const first = openFolder(machine.log);
  const sessionStore = createSessionStore({ store: first });
  const messages = await runEngine(machine, endpoint.url, 'Ask the helper', { sessionStore });
  const { session_id: sessionId } = resultOf(messages);
  await first.close();
  machine.lose();

  const second = openFolder(machine.log);
  const reopened = createSessionStore({ store: second });
  const [agentId = '', ...more] = await listSubagents(sessionId, {
    dir: machine.work,
    sessionStore: reopened,
  });
  expect(more).toEqual([]);
  helper = agentId;
  const resumed = await runEngine(machine, endpoint.url, 'Wake the helper', {
    sessionStore: reopened,
    resume: sessionId,
  });

  const woken = endpoint.requests.find((request) => askedIn(request).includes('Count the saucers'));
  expect(rolesIn(woken)).toEqual(['user', 'assistant', 'user']);
  expect(sees(woken, 'Count the cups')).toBe(true);
  expect(sees(woken, 'Seven cups.')).toBe(true);
  expect(sees(woken, 'Wake the helper')).toBe(false);
  expect(problemsIn([...messages, ...resumed])).toEqual([]);
  await expectMappedEvents(second, sessionId, helper);
});

/** What was mirrored becomes a session whose messages views show, with those of its sub-agent. */
async function expectMappedEvents(store: DispatchStore, sessionId: string, helper: string): Promise<void> {
  const [mirrored, ...others] = await mirroredSessions(store);
  if (mirrored === undefined) throw new Error('Nothing is mirrored.');
  expect([mirrored.sessionIds, mirrored.captured, others]).toEqual([[sessionId], [], []]);
  const imported: ImportItem[] = [];
  for await (const item of importSessions(store, mirrored.source, mirrored)) imported.push(item);
  const [item] = imported;
  if (item?.kind !== 'imported' || imported.length > 1) throw new Error(JSON.stringify(imported));
  const events = await store.getDispatchEvents(item.taskDir, item.dispatchId);
  const said = events.flatMap(({ type, agentId, data }) =>
    type === 'agent:text' || type === 'user:message' ? [`${agentId ?? 'session'}: ${data.text}`] : [],
  );
  expect(said).toEqual(
    expect.arrayContaining([
      'session: Ask the helper',
      `${helper}: Count the cups`,
      `${helper}: Seven cups.`,
      'session: Wake the helper',
      `${helper}: Nine saucers.`,
    ]),
  );
}

interface Machine {
  readonly work: string;
  readonly log: string;
  /** The home of the engine, a new one after `lose`. */
  home(): string;
  /** Takes away all that the engine wrote. */
  lose(): void;
}

function newMachine(): Machine {
  const folder = newFolder();
  const work = join(folder, 'work');
  mkdirSync(work);
  let lost = 0;
  const home = () => join(folder, `machine-${lost}`);
  return {
    work,
    log: join(folder, 'log'),
    home,
    lose() {
      expect(existsSync(join(home(), 'home/.claude/projects'))).toBe(true);
      rmSync(home(), { recursive: true });
      lost += 1;
    },
  };
}

async function runEngine(
  machine: Machine,
  url: string,
  prompt: string,
  options: { readonly sessionStore: SessionStore; readonly resume?: string },
): Promise<SDKMessage[]> {
  mkdirSync(machine.home(), { recursive: true });
  const messages: SDKMessage[] = [];
  const abortController = new AbortController();
  const limit = setTimeout(() => abortController.abort(), enginePatienceMs / 3);
  const run = query({
    prompt,
    options: {
      ...options,
      abortController,
      cwd: machine.work,
      env: cleanClaudeEnvironment(machine.home(), url, { ENABLE_TOOL_SEARCH: 'false' }),
      pathToClaudeCodeExecutable: requireClaudeEngine(),
      settingSources: [],
      permissionMode: 'bypassPermissions',
      allowDangerouslySkipPermissions: true,
    },
  });
  try {
    for await (const message of run) messages.push(message);
  } finally {
    clearTimeout(limit);
  }
  return messages;
}

/** The SDK's own import of the session that lies on the machine: what has a uuid is in the store already. */
async function expectImportToAddNothing(
  machine: Machine,
  sessionId: string,
  sessionStore: Required<SessionStore>,
): Promise<void> {
  const imported = new InMemorySessionStore();
  const configured = process.env.CLAUDE_CONFIG_DIR;
  process.env.CLAUDE_CONFIG_DIR = join(machine.home(), 'home/.claude');
  try {
    await importSessionToStore(sessionId, imported, { dir: machine.work });
    const projectKey = realpathSync(machine.work).replace(/[^A-Za-z0-9]/g, '-');
    const before = withUuid(await sessionStore.load({ projectKey, sessionId }));
    expect(before).toEqual(withUuid(await imported.load({ projectKey, sessionId })));
    await importSessionToStore(sessionId, sessionStore, { dir: machine.work });
    expect(withUuid(await sessionStore.load({ projectKey, sessionId }))).toEqual(before);
  } finally {
    process.env.CLAUDE_CONFIG_DIR = configured;
  }
}

/** What a harness does with the stream: the messages as the events of a dispatch in the same task. */
async function capture(store: DispatchStore, messages: readonly SDKMessage[]): Promise<void> {
  const { dispatchId } = await createDispatch(store, task, { role: 'assistant', dispatchId: 'captured' });
  const mapping = createClaudeMapping({ fidelity: 'narrative' });
  const activities = [...messages.flatMap((message) => mapping.map(message)), ...mapping.finish()];
  for (const activity of activities)
    if (activity.kind === 'event') await appendEvent(store, task, dispatchId, activity.event);
}

/** The captured dispatch and the session lie in one task, and the id of the session leads from one to the other. */
async function expectOneLog(store: DispatchStore, sessionId: string): Promise<void> {
  const captured = await store.getDispatchEvents(task, 'captured');
  const init = captured.find(({ type }) => type === 'session:init');
  expect(init?.data.sessionId).toBe(sessionId);
  expect(captured.some(({ type, data }) => type === 'agent:text' && data.text === 'There are 41 tins.')).toBe(
    true,
  );
  const session = (await store.getDispatchEnvelopes(task)).find(({ role }) => role === 'claude-session');
  expect(session).toMatchObject({ status: 'completed', fidelity: 'full' });
  const [last] = await store.getRecentEvents(task, session?.dispatchId ?? '', 1);
  expect(last?.data.sessionId).toBe(sessionId);
}

function withUuid(entries: SessionStoreEntry[] | null): SessionStoreEntry[] {
  const found = entries?.filter(({ uuid }) => uuid !== undefined) ?? [];
  expect(found.length).toBeGreaterThan(1);
  return found;
}

function call(name: string, input: object) {
  return { type: 'tool_use', id: `toolu_${name}`, name, input } as const;
}

function resultOf(messages: readonly SDKMessage[]) {
  const result = messages.findLast((message) => message.type === 'result');
  if (result === undefined) throw new Error('The engine gave no result.');
  return result;
}

/** What the user, or who acts as one, said last; the engine adds messages of role `system` of its own. */
function askedIn(request: MessagesRequest): string {
  return latestTextIn({ ...request, messages: request.messages.filter(({ role }) => role === 'user') });
}

function rolesIn(request: MessagesRequest | undefined): string[] | undefined {
  return request?.messages.map(({ role }) => role).filter((role) => role !== 'system');
}

function sees(request: MessagesRequest | undefined, text: string): boolean {
  return JSON.stringify(request?.messages ?? '').includes(text);
}

/** What the SDK says where the store failed it. */
function problemsIn(messages: readonly SDKMessage[]): SDKMessage[] {
  return messages.filter((message) => message.type === 'system' && message.subtype === 'mirror_error');
}
