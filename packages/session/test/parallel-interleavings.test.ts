import { type CapturedEvent, isEventOf } from '@hansard/events';
import type { TranscriptMessage } from '@hansard/prompt';
import type { HookProvider } from '@hansard/provider';
import type { Session } from '@hansard/session';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { prepare } from './prepare.ts';
import { done, hostOf, model, type Reply, says, tools } from './scripted.ts';

const names = ['Ann', 'Ben', 'Cem', 'Dora', 'Eve'];

/** Everything that waits, until the test lets one thing after the other continue. */
class Gates {
  readonly #waiting = new Map<string, () => void>();
  /** How many calls of the root's tools run now, and the most that ever did. */
  running = 0;
  most = 0;
  /** The order in which things continued. */
  readonly order: string[] = [];

  wait(label: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(label, resolve);
    return promise;
  }

  /** Lets one thing at a time continue, chosen by a number from 0 to below 1, until nothing waits. */
  async release(random: () => number): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const labels = [...this.#waiting.keys()];
      const label = labels[Math.floor(random() * labels.length)];
      if (label === undefined) return;
      this.order.push(label);
      this.#waiting.get(label)?.();
      this.#waiting.delete(label);
    }
  }
}

/** What the root does: it creates the agents, lets each do something, twice, and says so. */
const script: readonly Reply[] = [
  {
    text: '',
    toolCalls: names.map((name) => ({ toolCallId: `create-${name}`, tool: 'create', input: name })),
  },
  ...[1, 2].map((round) => ({
    text: `Round ${round}.`,
    toolCalls: [...names, 'Nobody'].map((name) => ({
      toolCallId: `${name}-${round}`,
      tool: 'ask',
      input: name,
    })),
  })),
  says('All have spoken.'),
];

/** Ann and Ben speak, Cem calls tools of his own, Dora has no model, and a hook hides what Eve hears. */
function replyOf(name: string, turn: number): Reply {
  if (name === 'Dora') throw new Error('Dora is overloaded');
  if (name !== 'Cem' || turn % 2 === 1) return says(`${name} ${turn}`);
  const toolCalls = [1, 2, 3].map((number) => ({
    toolCallId: `${turn}-${number}`,
    tool: 'look',
    input: number,
  }));
  return { text: 'Let me look.', toolCalls };
}

async function play(parallelToolCalls: number, random: () => number) {
  const gates = new Gates();
  const { create, load, events } = prepare();
  const editor: HookProvider = {
    contract: 1,
    name: 'editor',
    async decide(question) {
      if (question.on === 'delivery') await gates.wait(`editor on ${question.to}`);
      if (question.on === 'delivery' && question.text.includes('Eve'))
        return { decision: 'alter', text: 'hidden' };
      if (question.on === 'tool_call' && question.input === 2) return { decision: 'alter', input: 'two' };
      return question.on === 'tool_result' && question.text.includes('3')
        ? { decision: 'deny', reason: 'no threes' }
        : { decision: 'allow' };
    },
  };
  const created = new Map<string, string>();
  const { root, session } = await create({
    parallelToolCalls,
    hooks: [editor],
    tools: [
      tools({
        // One agent after the other, so that each has the same id in every run.
        create: async (call) => {
          const { agentId } = await hostOf(call).createAgent({ name: String(call.input) });
          created.set(String(call.input), agentId);
          return done('created');
        },
        ask: async (call) => {
          gates.running += 1;
          gates.most = Math.max(gates.most, gates.running);
          try {
            const host = hostOf(call);
            const agentId = created.get(String(call.input));
            if (agentId === undefined) throw new Error(`there is no ${call.input}`);
            await host.deliver(agentId, { text: `Speak, ${call.input}.` });
            const { text, messageId } = await host.respond(agentId);
            return done(text, { madeFrom: [messageId] });
          } finally {
            gates.running -= 1;
          }
        },
        look: async (call) => {
          await gates.wait(`look ${call.toolCallId}`);
          return done(`saw ${call.input}`);
        },
      }),
    ],
    model: model(async ({ agentName, turn }) => {
      if (agentName === null) return script[turn] ?? says('?');
      await gates.wait(`${agentName} ${turn}`);
      return replyOf(agentName, turn);
    }),
  });
  await root.harken('Begin.');
  const answered = root.response();
  await gates.release(random);
  expect(String(await answered)).toBe('All have spoken.');
  const transcripts = await transcriptsOf(session);
  await session.close();
  const loaded = await load();
  const { diagnostics } = loaded.session;
  expect(await transcriptsOf(loaded.session)).toEqual(transcripts);
  await loaded.session.close();
  return { transcripts, diagnostics, log: await events(), gates };
}

async function transcriptsOf(session: Session): Promise<Record<string, readonly TranscriptMessage[]>> {
  const transcripts: Record<string, readonly TranscriptMessage[]> = {};
  for (const { agentId } of session.listAgents())
    transcripts[agentId] = await (await session.getAgent(agentId)).transcript();
  return transcripts;
}

/** For each tool call: its agent, and its result with the types of what the result links to. */
function linksOf(log: readonly CapturedEvent[]) {
  const typeOf = (id: string) => {
    const event = log.find((one) => one.id === id);
    return event === undefined ? 'nothing' : `${event.type} of ${event.agentId}`;
  };
  const links = (event: CapturedEvent) => ({
    substance: event.substance === undefined ? null : typeOf(event.substance),
    cause: [event.cause ?? []].flat().map(typeOf),
    via: event.via === undefined ? null : typeOf(event.via),
  });
  return log.flatMap((call) => {
    if (!isEventOf(call, 'agent:tool_call')) return [];
    const { toolCallId } = call.data;
    const isOfCall = (event: CapturedEvent) =>
      event.agentId === call.agentId && event.data.toolCallId === toolCallId;
    const results = log.filter((event) => event.type === 'agent:tool_result' && isOfCall(event));
    const decisions = log.filter((event) => event.type === 'harness:hook_decision' && isOfCall(event));
    const caused = log.filter((event) => [event.cause ?? []].flat().includes(call.id));
    return {
      call: `${toolCallId} of ${call.agentId}`,
      results: results.map(links),
      decisions: decisions.map((event) => [event.data.on, event.data.previous === undefined, links(event)]),
      caused: caused.map(({ type, agentId }) => `${type} of ${agentId}`),
    };
  });
}

const byCall = (one: { readonly call: string }, other: { readonly call: string }) =>
  one.call < other.call ? -1 : 1;

describe('parallel tool calls under random interleavings', () => {
  const seeds = Array.from({ length: 60 }, (_, index) => index + 1);

  it('leave the transcript of each agent, and every link, as calls one after the other do', async () => {
    const expected = await play(1, () => 0);
    expect(Object.keys(expected.transcripts)).toHaveLength(names.length + 1);
    expect(JSON.stringify(expected.transcripts)).toContain('Dora is overloaded');
    expect(JSON.stringify(expected.transcripts)).toContain("withheld by hook 'editor'");
    expect(expected.gates.most).toBe(1);
    const expectedLinks = linksOf(expected.log).toSorted(byCall);
    const orders = new Set<string>();
    for (const seed of seeds) {
      const limit = 2 + (seed % 5);
      const { transcripts, diagnostics, log, gates } = await play(limit, randomFrom(seed));
      const where = `seed ${seed}, up to ${limit} at the same time`;
      expect(transcripts, where).toEqual(expected.transcripts);
      expect(diagnostics, where).toEqual([]);
      expect(linksOf(log).toSorted(byCall), where).toEqual(expectedLinks);
      expect(gates.most, where).toBe(limit);
      orders.add(gates.order.join());
    }
    expect(orders.size).toBeGreaterThan(50);
  });
});
