/**
 * Measures a turn of a session, from a message to the answer after a tool call, on the JSON-file store: alone, with the plugin that writes
 * live streams, and with the same plugin that writes a session log. The rounds alternate. The model answers after five milliseconds, sooner than
 * any real one, so that lines are written meanwhile; and at once.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createStreamsWriter } from '@hansard/comm-streams';
import { createCommunicationHub, openDispatchStore } from '@hansard/dispatch';
import type { LanguageModelProvider, ToolProvider } from '@hansard/provider';
import { openSession, type Session } from '@hansard/session';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded } from './report.ts';
import { text } from './sample-events.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

const rounds = 30;
const perRound = 10;
const taskDir = 'benchmarks/tasks/live-streams';
const mapping = {
  turn: { events: ['game:day'] },
  gameEvents: { events: ['game:*'] },
  chat: { utterances: true },
  actions: { vote: { type: 'VOTE' } },
};
const usage = { inputTokens: 1_200, outputTokens: 80 };
let calls = 0;

/** Votes, and then says so. `latency`: in milliseconds. */
const modelOf = (latency: number): LanguageModelProvider => ({
  contract: 1,
  async generate({ messages }) {
    if (latency > 0) await setTimeout(latency);
    if (messages.at(-1)?.role === 'tool') return { text, toolCalls: [], usage, model: 'model-a' };
    calls += 1;
    return {
      text,
      toolCalls: [{ toolCallId: `call_${calls}`, tool: 'vote', input: { target: 'Bo' } }],
      usage,
      model: 'model-a',
    };
  },
});
const tools: ToolProvider = {
  contract: 1,
  listTools: () => [{ name: 'vote', description: 'Votes.', inputSchema: { type: 'object' } }],
  callTool: async () => ({ status: 'completed', text }),
};

const folder = temporaryFolder('bench-live-streams');
mkdirSync(folder, { recursive: true });
const store = openDispatchStore(await openStore('store-jsonfile', folder));
const hubs = {
  alone: createCommunicationHub([], { store }),
  streams: createCommunicationHub(
    [createStreamsWriter({ folder: join(folder, 'live'), mapping, isExtended: false })],
    { store },
  ),
  'session log': createCommunicationHub(
    [createStreamsWriter({ folder: join(folder, 'live'), sessionLogs: ['session-v2'], isExtended: false })],
    { store },
  ),
};
for (const communication of Object.values(hubs)) await communication.start();

for (const [pace, latency] of [
  ['after 5 ms', 5],
  ['at once', 0],
] as const) {
  const costs = await costsOf(latency);
  for (const [work, cost] of costs) {
    const ofAlone = cost / (costs.get('alone') ?? Number.NaN);
    report(
      {
        benchmark: 'live-streams',
        model: pace,
        work,
        microseconds: rounded(cost),
        ofAlone: Number(ofAlone.toFixed(3)),
      },
      latency === 0 ? [] : [{ key: 'ofAlone', atMost: 1.1 }],
    );
  }
}
for (const hub of Object.values(hubs)) await hub.close();
await store.close();
rmSync(folder, { recursive: true });

/** The median of a turn with each hub, in microseconds. */
async function costsOf(latency: number): Promise<Map<string, number>> {
  const works: Record<string, Session> = {};
  for (const [name, communication] of Object.entries(hubs))
    works[name] = await openSession({
      store,
      taskDir,
      model: modelOf(latency),
      tools: [tools],
      communication,
      context: { name: 'lastMessages', count: 4 },
    });
  const samples = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, { root }] of Object.entries(works)) {
      const start = process.hrtime.bigint();
      for (let turn = 0; turn < perRound; turn += 1) {
        await root.harken(`${text} ${round} ${turn}`);
        await root.response();
      }
      samples.set(name, [...(samples.get(name) ?? []), microsecondsSince(start) / perRound]);
    }
  }
  for (const session of Object.values(works)) await session.close();
  return new Map(
    Object.keys(works).map((name) => [name, median((samples.get(name) ?? []).slice(rounds / 3))]),
  );
}
