import { openDispatchStore, type RunDispatchOptions, runDispatch } from '@hansard/dispatch';
import { type DispatchEnvelope, type JsonValue, newEvent } from '@hansard/events';
import type { AgentActivity, AgentProvider, AgentRunRequest, ToolOutcome } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { createDispatchTools } from '../src/index.ts';

export const taskDir = 'lab/tasks/route-models';

export type Use = (tool: string, input: JsonValue, signal?: AbortSignal) => Promise<ToolOutcome>;
export type WorkerScript = (request: AgentRunRequest) => AsyncIterable<AgentActivity>;

export function says(text: string): AgentActivity {
  return { kind: 'event', event: newEvent('agent:text', { text }) };
}

/** The id that `dispatch_agent` answered with. */
export function idOf({ metadata }: ToolOutcome): string {
  return String(metadata?.dispatchId);
}

/** Runs a lead with scripted tool calls, with workers by role, on a real dispatch. */
export async function runLead(
  lead: (use: Use, request: AgentRunRequest) => Promise<void>,
  workers: Readonly<Record<string, WorkerScript>> = {},
  more: Partial<RunDispatchOptions> = {},
): Promise<{ readonly envelopes: DispatchEnvelope[]; readonly lead: DispatchEnvelope }> {
  const store = openDispatchStore(createMemoryStore());
  const agent: AgentProvider = {
    contract: 1,
    async *run(request) {
      if (request.role !== 'lead') {
        yield* workers[request.role]?.(request) ?? [];
        return;
      }
      let calls = 0;
      const use: Use = (tool, input, signal = new AbortController().signal) => {
        const offered = request.tools.find(({ definition }) => definition.name === tool);
        if (offered === undefined) throw new Error(`there is no ${tool}`);
        return offered.call({ toolCallId: `c${++calls}`, input, signal });
      };
      await lead(use, request);
      yield says('done');
    },
  };
  const ended = await runDispatch({
    store,
    taskDir,
    agent,
    role: 'lead',
    tools: [createDispatchTools()],
    workers: {},
    ...more,
  });
  // What the lead expects throws in its run, which crashes the dispatch: the test must not miss it.
  if (ended.status === 'crashed')
    throw new Error(String((await store.getRecentEvents(taskDir, ended.dispatchId, 1)).at(-1)?.data.message));
  return { envelopes: await store.getDispatchEnvelopes(taskDir), lead: ended };
}
