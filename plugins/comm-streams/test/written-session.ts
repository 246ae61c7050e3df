import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { createCommunicationHub, openDispatchStore } from '@hansard/dispatch';
import type { LanguageModelProvider, ToolProvider } from '@hansard/provider';
import { openSession } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { randomFrom } from '@hansard/testing';
import { createStreamsWriter } from '../src/index.ts';

/**
 * A process that holds a session of three agents, with its session logs. For each line of its input all agents speak at once, call tools and
 * inform each other; then it answers with the number of such rounds. It continues a session that another process began, and ends it when its
 * input ends.
 */
const [root = '', folder = '', seed = ''] = process.argv.slice(2);
const random = randomFrom(Number(seed) + process.pid);
const usage = { inputTokens: 10, outputTokens: 6 };
let calls = 0;
const model: LanguageModelProvider = {
  contract: 1,
  async generate({ messages }) {
    for (let turns = Math.floor(random() * 4); turns > 0; turns -= 1) await setImmediate();
    const thinking = random() < 0.3 ? { thinking: { text: 'Hm.' } } : {};
    if (messages.at(-1)?.role === 'tool' || random() < 0.4)
      return { text: `I have ${messages.length} messages.`, toolCalls: [], model: 'm', usage, ...thinking };
    const toolCalls = Array.from({ length: 1 + Math.floor(random() * 2) }, () => {
      calls += 1;
      return { toolCallId: `call_${process.pid}_${calls}`, tool: 'look', input: { at: calls } };
    });
    return { text: random() < 0.5 ? 'I look.' : '', toolCalls, model: 'm', usage, ...thinking };
  },
};
const tools: ToolProvider = {
  contract: 1,
  listTools: () => [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
  async callTool() {
    await setImmediate();
    return { status: 'completed', text: 'Nothing. \u{1f642}' };
  },
};
const store = openDispatchStore(openJsonFileStore({ root }));
const hub = createCommunicationHub(
  [
    createStreamsWriter({
      folder,
      sessionLogs: ['session-v1', 'session-v2', 'smallchat'],
      isExtended: false,
    }),
  ],
  { store },
);
await hub.start();
const peers = ['Jack', 'Jill', 'Mona'].map((name) => ({ name, systemPrompt: `You are ${name}.` }));
const session = await openSession({
  store,
  taskDir: 'village/tasks/game',
  dispatchId: '01J0000000000000000000000A',
  model,
  tools: [tools],
  peers,
  communication: hub,
});
let rounds = 0;
process.stdout.write(`${rounds}\n`);
for await (const _ of createInterface({ input: process.stdin })) {
  const agents = session.peers;
  await Promise.all(
    agents.map(async (agent, at) => {
      await agent.harken(`Round ${rounds}.`);
      const said = await agent.response();
      const other = agents[(at + 1) % agents.length];
      if (other !== undefined) await agent.inform(other, said);
    }),
  );
  rounds += 1;
  process.stdout.write(`${rounds}\n`);
}
await session.close();
await hub.close();
await store.close();
process.exit();
