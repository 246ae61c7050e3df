import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { isEventOf, type JsonObject, newEvent } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import { openSession } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDispatchTools } from '../src/index.ts';
import { lead, scout, taskDir } from './session-lead.ts';

function prepare(provider: DispatchStoreProvider = createMemoryStore()) {
  const store = openDispatchStore(provider);
  onTestFinished(() => store.close());
  const open = (act: () => unknown = () => {}) =>
    openSession({
      store,
      taskDir,
      dispatchId: 'LEAD',
      model: lead(),
      tools: [createDispatchTools()],
      workers: { agents: { scout: scout(act) } },
    });
  const worker = async () => (await store.getDispatchEnvelopes(taskDir)).find(({ role }) => role === 'scout');
  return { store, open, worker };
}

describe('an agent of a session', () => {
  it('starts a worker and gets its outcome', async () => {
    const { store, open, worker } = prepare();
    const session = await open();
    await session.root.harken('What is in the north?');
    expect(String(await session.root.response())).toContain('result: Found at the north: a lake');
    await session.close();
    expect(await worker()).toMatchObject({
      parentDispatchId: 'LEAD',
      status: 'completed',
      fidelity: 'full',
    });
    const [prompt] = await store.getDispatchEvents(taskDir, (await worker())?.dispatchId ?? '');
    expect(prompt?.data).toEqual({ text: 'the north', source: { kind: 'agent', dispatchId: 'LEAD' } });
  });

  it('and its worker write to each other, each message with the event of its sender as its cause', async () => {
    const store = openDispatchStore(createMemoryStore());
    onTestFinished(() => store.close());
    const use = (tool: string, input: JsonObject) => ({
      text: '',
      model: 'm',
      toolCalls: [{ toolCallId: `c-${tool}`, tool, input }],
      usage: { inputTokens: 1, outputTokens: 1 },
    });
    let id = '';
    const session = await openSession({
      store,
      taskDir,
      dispatchId: 'LEAD',
      tools: [createDispatchTools()],
      model: {
        contract: 1,
        generate: ({ messages }) => {
          const last = messages.at(-1);
          const started = /dispatchId: (\w+)/.exec(String(last?.text))?.[1];
          if (started !== undefined) {
            id = started;
            return use('message_dispatch', { to: id, text: 'Which lake?' });
          }
          if (last?.text.startsWith('Sent')) return use('await_dispatch', { dispatch_ids: id });
          if (/The go|Go/.test(String(last?.text)))
            return use('dispatch_agent', { role: 'scout', prompt: 'Look.' });
          return { ...use('', {}), toolCalls: [], text: `Last read: ${last?.text}` };
        },
      },
      workers: {
        agents: {
          scout: {
            contract: 1,
            async *run({ messages, tools }) {
              const { value } = await messages[Symbol.asyncIterator]().next();
              const post = tools.find(({ definition }) => definition.name === 'message_dispatch');
              const input = { to: 'parent', text: `About ${value?.data.text}: the deep one.` };
              const { signal } = new AbortController();
              const { text } = (await post?.call({ toolCallId: 's1', input, signal })) ?? { text: 'no tool' };
              yield { kind: 'event', event: newEvent('agent:text', { text }) };
            },
          },
        },
      },
    });
    await session.root.harken('Go.');
    // The message of the worker came while its parent waited for it.
    const said = String(await session.root.response());
    expect(said).toContain('Last read:');
    await session.close();
    const [lead, scouted] = await Promise.all(
      ['LEAD', id].map((dispatchId) => store.getDispatchEvents(taskDir, dispatchId)),
    );
    const one = (log: typeof lead, type: string) => (log ?? []).filter((event) => event.type === type).at(-1);
    expect(one(lead, 'agent:message_sent')).toMatchObject({
      data: { text: 'Which lake?', to: { dispatchId: id } },
      cause: lead?.find(({ data }) => data.toolCallId === 'c-message_dispatch')?.id,
    });
    expect(one(scouted, 'user:message')).toMatchObject({
      data: { source: { kind: 'agent', dispatchId: 'LEAD', agentId: session.root.agentId } },
      cause: one(lead, 'agent:message_sent')?.id,
    });
    expect(one(lead, 'user:message')).toMatchObject({
      agentId: session.root.agentId,
      data: { text: 'About Which lake?: the deep one.', source: { kind: 'agent', dispatchId: id } },
      cause: one(scouted, 'agent:message_sent')?.id,
    });
  });

  it('stops its workers with the session', async () => {
    const { open, worker } = prepare();
    const walking = Promise.withResolvers<void>();
    const session = await open(async () => {
      walking.resolve();
      // Nothing ends it but the abort: the run does not wait for it longer than its grace.
      await new Promise((resolve) => session.signal.addEventListener('abort', resolve));
    });
    await session.root.harken('What is in the north?');
    const answer = session.root.response().catch((error: unknown) => error);
    await walking.promise;
    session.abort('enough', 'user');
    expect(await answer).toMatchObject({ code: 'SESSION_STOPPED' });
    await session.close();
    expect(await worker()).toMatchObject({ status: 'aborted' });
  });
});

describe('an agent of a session that was killed while it waited for its worker', () => {
  it.each([
    ['working', 'crashed'],
    ['ended', 'completed'],
  ])('gets the outcome of the worker that was %s', async (moment, status) => {
    const root = mkdtempSync(join(tmpdir(), 'hansard-session-workers-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const script = join(import.meta.dirname, 'start-worker-until-killed.ts');
    const args = ['--conditions=@hansard/source', script, root, moment];
    expect(spawnSync(process.execPath, args, { encoding: 'utf8' })).toMatchObject({
      signal: 'SIGKILL',
      stderr: '',
    });

    const { store, open, worker } = prepare(openJsonFileStore({ root }));
    expect(await worker()).toMatchObject({ parentDispatchId: 'LEAD' });
    const session = await open();
    const { dispatchId = '' } = (await worker()) ?? {};
    const said = String(await session.root.response());
    expect(said).toContain(`scout ${dispatchId}: ${status}`);
    if (status === 'completed') expect(said).toContain('result: Found at the north: a lake');
    await session.close();

    const results = (await store.getDispatchEvents(taskDir, 'LEAD')).filter((event) =>
      isEventOf(event, 'agent:tool_result'),
    );
    expect(results.map(({ data }) => [data.tool, data.status])).toEqual([
      ['dispatch_agent', 'completed'],
      ['await_dispatch', 'error'],
      ['await_dispatch', 'completed'],
    ]);
    expect(results[1]?.data.error).toContain('interrupted');
    // One worker: the interrupted call is not made again.
    expect(await store.getDispatchEnvelopes(taskDir)).toHaveLength(2);
    expect(await worker()).toMatchObject({ status, parentDispatchId: 'LEAD' });
  });
});
