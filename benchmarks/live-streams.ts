/**
 * Measures a turn of a session, from a message to the answer after a tool call, on the JSON-file store: alone, and with the plugin that writes
 * live streams. The rounds alternate. The model answers after five milliseconds, sooner than any real one: the lines are written meanwhile.
 */
import { mkdirSync, rmSync, statSync } from 'node:fs';
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
/** Milliseconds. */
const latency = 5;
const taskDir = 'benchmarks/tasks/live-streams';
const mapping = {
  turn: { events: ['game:day'] },
  gameEvents: { events: ['game:*'] },
  chat: { utterances: true },
  actions: { vote: { type: 'VOTE' } },
};
const usage = { inputTokens: 1_200, outputTokens: 80 };
let calls = 0;

/** Votes, and then says so. */
const model: LanguageModelProvider = {
  contract: 1,
  async generate({ messages }) {
    await setTimeout(latency);
    if (messages.at(-1)?.role === 'tool') return { text, toolCalls: [], usage, model: 'model-a' };
    calls += 1;
    return {
      text,
      toolCalls: [{ toolCallId: `call_${calls}`, tool: 'vote', input: { target: 'Bo' } }],
      usage,
      model: 'model-a',
    };
  },
};
const tools: ToolProvider = {
  contract: 1,
  listTools: () => [{ name: 'vote', description: 'Votes.', inputSchema: { type: 'object' } }],
  callTool: async () => ({ status: 'completed', text }),
};

const folder = temporaryFolder('bench-live-streams');
mkdirSync(folder, { recursive: true });
const store = openDispatchStore(await openStore('store-jsonfile', folder));
const live = createStreamsWriter({ folder: join(folder, 'live'), mapping, isExtended: false });
const hubs = {
  alone: createCommunicationHub([], { store }),
  live: createCommunicationHub([live], { store }),
};
const works: Record<string, Session> = {};
for (const [name, communication] of Object.entries(hubs)) {
  await communication.start();
  works[name] = await openSession({
    store,
    taskDir,
    model,
    tools: [tools],
    communication,
    context: { name: 'lastMessages', count: 4 },
  });
}
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
const cost = (name: string) => median((samples.get(name) ?? []).slice(rounds / 3));
for (const session of Object.values(works)) await session.close();
for (const hub of Object.values(hubs)) await hub.close();
const bytes = statSync(
  join(folder, 'live', taskDir, works.live?.dispatchId ?? '', 'inference_trace.jsonl'),
).size;
report({ benchmark: 'live-streams', work: 'alone', microseconds: rounded(cost('alone')) });
report(
  {
    benchmark: 'live-streams',
    work: 'live',
    microseconds: rounded(cost('live')),
    traceMegabytes: rounded(bytes / 1e6),
    ofAlone: rounded(cost('live') / cost('alone')),
  },
  [{ key: 'ofAlone', atMost: 1.1 }],
);
await store.close();
rmSync(folder, { recursive: true });
