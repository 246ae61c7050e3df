import { openDispatchStore, type RunDispatchOptions, startDispatch } from '@hansard/dispatch';
import type {
  AgentActivity,
  AgentRunRequest,
  DispatchStoreProvider,
  HookProvider,
  ToolCall,
  ToolOutcome,
} from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { ManualClock } from '@hansard/testing';
import { agent, event } from '../support/scripted-agent.ts';
import { done, tools, use } from './scripted-tools.ts';

export const taskDir = 'lab/tasks/route-models';

export function prepare(provider: DispatchStoreProvider = createMemoryStore()) {
  const clock = new ManualClock();
  const store = openDispatchStore(provider, { clock });
  const start = (
    script: (request: AgentRunRequest) => AsyncIterable<AgentActivity>,
    more: Partial<RunDispatchOptions> = {},
  ) =>
    startDispatch({ store, taskDir, clock, role: 'lead', dispatchId: 'D1', agent: agent(script), ...more });
  const log = () => store.getDispatchEvents(taskDir, 'D1');
  return { clock, store, start, log };
}

export function hook(
  name: string,
  decide: NonNullable<HookProvider['decide']>,
  more: Partial<HookProvider> = {},
): HookProvider {
  return { contract: 1, name, decide, ...more };
}

export const never = () => new Promise<never>(() => {});

/** Lets an agent call `write` once, with hooks in between; how it came out. */
export async function callUnder(hooks: readonly HookProvider[], more: Partial<RunDispatchOptions> = {}) {
  const { start, log } = prepare();
  const calls: ToolCall[] = [];
  const outcomes: ToolOutcome[] = [];
  const write = (call: ToolCall) => {
    calls.push(call);
    return done('Written.');
  };
  const run = await start(
    async function* (request) {
      yield event('agent:tool_call', { toolCallId: 'c1', tool: 'write', metadata: {} });
      outcomes.push(await use(request, 'write', { path: 'a.txt' }));
    },
    { hooks, tools: [tools({ write })], ...more },
  );
  const envelope = await run.ended;
  return { log: await log(), calls, outcome: outcomes[0], envelope };
}
