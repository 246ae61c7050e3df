import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TranscriptMessage } from '@hansard/prompt';
import type {
  DispatchStoreProvider,
  HookProvider,
  JsonValue,
  ModelMessage,
  ModelRequest,
} from '@hansard/provider';
import type { Agent, Session } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { afterEach, describe, expect, it } from 'vitest';
import { failingStore } from './failing-store.ts';
import { prepare } from './prepare.ts';
import { calls, done, hostOf, model, type Reply, says, tools } from './scripted.ts';

const inputs = ['Let Jack and Jill meet.', 'Now the forbidden thing.', 'Send Jack home.'];

const call = (tool: string, input: JsonValue, toolCallId: string) => ({ toolCallId, tool, input });

/** What the root does for each input, step by step. */
const rootScript: readonly (readonly Reply[])[] = [
  [
    { text: 'First the two.', toolCalls: [call('task', 'Jack', 'c1'), call('task', 'Jill', 'c2')] },
    calls('discuss', 'You meet. The door code is 1234.', 'c3'),
    says('They have met.'),
  ],
  [calls('forbidden', {}, 'c4'), says('I may not.')],
  [calls('dismiss', 'Jack', 'c5'), says('He has gone.')],
];

/** Answers by the transcript alone, so that a call that was interrupted is made again. */
function decide({ agentName, messages }: ModelRequest): Reply {
  assertNothingDangles(messages);
  const left = withoutInterrupted(messages.map((message) => ({ message, ...linkOf(message) })));
  const lastUser = left.findLastIndex(({ message }) => message.role === 'user');
  const heard = left[lastUser]?.message;
  if (heard?.role !== 'user') throw new Error('nothing was said');
  const since = left.slice(lastUser + 1).filter(({ message }) => message.role === 'assistant').length;
  if (agentName === null) {
    const reply = rootScript[inputs.indexOf(heard.text)]?.[since];
    if (reply === undefined) throw new Error(`no answer to ${heard.text}`);
    return reply;
  }
  // Jill thinks before she speaks.
  if (agentName === 'Jill' && since === 0) return calls('think', heard.text, `think-${heard.text.length}`);
  return says(`${agentName} heard "${heard.text}"`);
}

function assertNothingDangles(messages: readonly ModelMessage[]): void {
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const results = messages.slice(index + 1, index + 1 + message.toolCalls.length);
    const ids = results.map((result) => (result.role === 'tool' ? result.toolCallId : 'none'));
    expect(ids).toEqual(message.toolCalls.map(({ toolCallId }) => toolCallId));
  }
}

const sessionTools = tools({
  task: async (toolCall) => {
    const host = hostOf(toolCall);
    const name = String(toolCall.input);
    if (host.findAgent(name) === null) await host.createAgent({ name, systemPrompt: `You are ${name}.` });
    return done(`There is ${name}.`);
  },
  discuss: async (toolCall) => {
    const host = hostOf(toolCall);
    const [jack, jill] = ['Jack', 'Jill'].map((name) => host.findAgent(name)?.agentId ?? '');
    if (jack === undefined || jill === undefined) throw new Error('nobody there');
    const prompt = await host.logPieceOfText(String(toolCall.input));
    for (const id of [jack, jill]) await host.deliver(id, { text: prompt.text, substance: prompt.messageId });
    const first = await host.respond(jack);
    await host.deliver(jill, { text: `[Jack]: ${first.text}`, substance: first.messageId, from: jack });
    const second = await host.respond(jill);
    await host.deliver(jack, { text: `[Jill]: ${second.text}`, substance: second.messageId, from: jill });
    return done(`${first.text}\n${second.text}`, { madeFrom: [first.messageId, second.messageId] });
  },
  think: ({ input }) => done(`A thought on ${String(input)}`),
  forbidden: () => done('never'),
  dismiss: async (toolCall) => {
    const host = hostOf(toolCall);
    const agent = host.findAgent(String(toolCall.input));
    if (agent?.state === 'active') await host.terminateAgent(agent.agentId);
    return done('Gone.');
  },
});

const hook: HookProvider = {
  contract: 1,
  name: 'Guard',
  decide(question) {
    if (question.on === 'tool_call')
      return question.tool === 'forbidden' ? { decision: 'deny', reason: 'no' } : { decision: 'allow' };
    return question.text.includes('1234')
      ? { decision: 'alter', text: question.text.replace('1234', '…') }
      : { decision: 'allow' };
  },
};

/** The calls of one message one after the other, or together. */
const limits = [1, 3];

const optionsWith = (parallelToolCalls: number) => ({
  model: model(decide),
  tools: [sessionTools],
  hooks: [hook],
  parallelToolCalls,
});
const options = optionsWith(1);

/** Lets the root answer its open message, then sends it the messages that it has not received. */
async function goOn({ root, session }: { root: Agent; session: Session }) {
  const told = (await root.transcript()).filter(({ role }) => role === 'user').length;
  if (root.awaitsResponse) await root.response();
  for (const input of inputs.slice(told)) {
    await root.harken(input);
    await root.response();
  }
  return transcriptsOf(session);
}

type Transcripts = Readonly<Record<string, readonly TranscriptMessage[]>>;

async function transcriptsOf(session: Session): Promise<Transcripts> {
  const transcripts: Record<string, readonly TranscriptMessage[]> = {};
  for (const { agentId } of session.listAgents())
    transcripts[agentId] = await (await session.getAgent(agentId)).transcript();
  return transcripts;
}

interface Linked {
  readonly asked: readonly string[];
  readonly answered: string | null;
  readonly isInterruption: boolean;
}

function linkOf(message: ModelMessage): Linked {
  return {
    asked: message.role === 'assistant' ? message.toolCalls.map(({ toolCallId }) => toolCallId) : [],
    answered: message.role === 'tool' ? message.toolCallId : null,
    isInterruption: message.role === 'tool' && message.text.startsWith('interrupted'),
  };
}

/** Without the messages that had a call interrupted, and the results of all of their calls. */
function withoutInterrupted<T extends Linked>(items: readonly T[]): T[] {
  const groups: T[][] = [];
  const latest = new Map<string, T[]>();
  for (const item of items) {
    const group = item.answered === null ? [item] : latest.get(item.answered);
    if (group === undefined) throw new Error(`a result of no call: ${item.answered}`);
    if (item.answered === null) groups.push(group);
    else group.push(item);
    for (const id of item.asked) latest.set(id, group);
  }
  const dropped = groups.filter((group) => group.some(({ isInterruption }) => isInterruption)).flat();
  return items.filter((item) => !dropped.includes(item));
}

/** A transcript without the interrupted calls, in which a repeated answer counts once. */
function essence(transcript: readonly TranscriptMessage[]): string[] {
  const linked = transcript.map((message) => ({
    message,
    asked: message.toolCalls?.map(({ toolCallId }) => toolCallId) ?? [],
    answered: message.toolCallId ?? null,
    isInterruption: message.role === 'tool' && message.content?.startsWith('interrupted') === true,
  }));
  return [...new Set(withoutInterrupted(linked).map(({ message }) => JSON.stringify(message)))];
}

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Opens a new or an existing store, as a new process would. */
const stores: Readonly<Record<string, () => () => Promise<DispatchStoreProvider>>> = {
  'the memory store': () => {
    const store = createMemoryStore();
    return async () => store;
  },
  'the JSON-file store': () => {
    const root = mkdtempSync(join(tmpdir(), 'hansard-session-'));
    folders.push(root);
    return async () => openJsonFileStore({ root });
  },
};

describe.each(Object.entries(stores))('a session on %s that was killed', (name, newStore) => {
  it.each(limits)(
    'at any append and loaded again ends with the transcripts of one that never was, with up to %i calls at the same time',
    async (limit) => {
      const options = optionsWith(limit);
      const counting = failingStore(Number.POSITIVE_INFINITY, await newStore()());
      const expected = await goOn(await prepare(counting.provider).create(options));
      expect(Object.keys(expected)).toHaveLength(3);
      expect(JSON.stringify(expected)).not.toContain('interrupted');
      await counting.provider.close();

      let interruptedRuns = 0;
      for (let kill = 1; kill < counting.appendsMade; kill += 1) {
        const open = newStore();
        const killed = failingStore(kill, await open());
        const before = await prepare(killed.provider).create(options);
        await expect(goOn(before)).rejects.toThrow();
        killed.recover();
        if (name !== 'the memory store') await killed.provider.close();

        const provider = await open();
        // Killed once more, now and then already while it is loaded.
        const again = failingStore(kill % 4, provider);
        await prepare(again.provider)
          .load(options)
          .then(goOn)
          .catch((error) =>
            expect(error).toMatchObject({ code: expect.stringMatching(/^(STORE|SESSION)_/) }),
          );
        again.recover();
        const { load } = prepare(provider);
        const loaded = await load(options);
        expect(loaded.session.diagnostics).toEqual([]);
        const atKill = await transcriptsOf(loaded.session);
        const actual = await goOn(loaded);

        // Nothing that was recorded is lost or changed.
        for (const [agentId, transcript] of Object.entries(atKill))
          expect(actual[agentId]?.slice(0, transcript.length)).toEqual(transcript);
        if (JSON.stringify(actual).includes('interrupted')) interruptedRuns += 1;
        else expect(actual).toEqual(expected);
        expect(Object.keys(actual)).toEqual(Object.keys(expected));
        for (const [agentId, transcript] of Object.entries(expected))
          expect(essence(actual[agentId] ?? []), `killed after ${kill} appends: ${agentId}`).toEqual(
            essence(transcript),
          );
        await loaded.session.close();
        await provider.close();
      }
      expect(interruptedRuns).toBeGreaterThan(5);
    },
  );

  it('before its root was in the log has not begun, and says so', async () => {
    const open = newStore();
    const killed = failingStore(0, await open());
    await expect(prepare(killed.provider).create(options)).rejects.toBe(killed.error);
    killed.recover();
    await expect(prepare(killed.provider).load(options)).rejects.toMatchObject({
      code: 'SESSION_LOG_INVALID',
    });
    await killed.provider.close();
  });
});
