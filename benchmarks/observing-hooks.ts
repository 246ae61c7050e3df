/**
 * Measures a turn of a session with three hooks that observe it and answer at once, beside the same turn without hooks, on the JSON-file
 * store. The turns alternate. A turn: a message, a model call, a tool call with its result, and an utterance.
 */
import { rmSync } from 'node:fs';
import { openDispatchStore } from '@hansard/dispatch';
import type { HookProvider, LanguageModelProvider, ToolProvider } from '@hansard/provider';
import { openSession } from '@hansard/session';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded } from './report.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

const rounds = 6_000;
const text = 'words '.repeat(40);
const usage = { inputTokens: 10, outputTokens: 10 };

const model: LanguageModelProvider = {
  contract: 1,
  generate: async ({ messages }) => {
    const isAsked = messages.at(-1)?.role === 'user';
    const toolCalls = isAsked
      ? [{ toolCallId: `c${messages.length}`, tool: 'look', input: { at: text } }]
      : [];
    return { text: isAsked ? '' : text, toolCalls, model: 'm', usage };
  },
};

const tools: ToolProvider = {
  contract: 1,
  listTools: () => [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
  callTool: () => ({ status: 'completed', text }),
};

let observed = 0;
const hooks = ['One', 'Two', 'Three'].map(
  (name): HookProvider => ({
    contract: 1,
    name,
    observe() {
      observed += 1;
    },
  }),
);

const folder = temporaryFolder('bench-observing-hooks');
const store = openDispatchStore(await openStore('store-jsonfile', folder));
const begin = (taskDir: string, observing: readonly HookProvider[]) =>
  openSession({
    store,
    taskDir: `benchmarks/tasks/${taskDir}`,
    model,
    tools: [tools],
    hooks: observing,
    // The input of a model call stays short, so that a turn costs the same at the end.
    context: { name: 'lastMessages', count: 4 },
  });
const sessions = {
  'no hooks': await begin('plain', []),
  'three observing hooks': await begin('hooked', hooks),
};
const samples = new Map<string, number[]>();
for (let round = 0; round < rounds; round += 1) {
  const order = Object.entries(sessions);
  for (const [name, { root }] of round % 2 === 0 ? order : order.reverse()) {
    const start = process.hrtime.bigint();
    await root.harken(text);
    await root.response();
    samples.set(name, [...(samples.get(name) ?? []), microsecondsSince(start)]);
  }
}
if (observed !== 3 * 4 * rounds) throw new Error(`The hooks observed ${observed} events.`);

const cost = (name: string) => median((samples.get(name) ?? []).slice(rounds / 3));
for (const name of Object.keys(sessions)) {
  report(
    {
      benchmark: 'observing-hooks',
      work: name,
      microseconds: rounded(cost(name)),
      ofNoHooks: rounded(cost(name) / cost('no hooks')),
    },
    name === 'no hooks' ? [] : [{ key: 'ofNoHooks', atMost: 1.05 }],
  );
}
for (const session of Object.values(sessions)) await session.close();
await store.close();
rmSync(folder, { recursive: true });
