import type { ToolProvider } from '@hansard/provider';
import { abortDispatchTool } from './abort-dispatch-tool.ts';
import { awaitDispatchTool } from './await-dispatch-tool.ts';
import { checkDispatchTool } from './check-dispatch-tool.ts';
import { dispatchAgentTool } from './dispatch-agent-tool.ts';
import type { DispatchTool } from './dispatch-tool.ts';
import { Refusal } from './refusal.ts';

const tools: readonly DispatchTool[] = [
  dispatchAgentTool,
  checkDispatchTool,
  awaitDispatchTool,
  abortDispatchTool,
];

/**
 * The tools with which an agent runs workers: `dispatch_agent`, `check_dispatch`, `await_dispatch` and `abort_dispatch`.
 * A call that can't be carried out as it was made gets a result with `status: 'error'` that says what to change; what
 * the host throws is thrown on.
 */
export function createDispatchTools(): ToolProvider {
  return {
    contract: 1,
    listTools: () => tools.map(({ definition }) => definition),
    async callTool(call) {
      const tool = tools.find(({ definition }) => definition.name === call.tool);
      if (tool === undefined) throw new TypeError(`tools-dispatch has no tool ${call.tool}.`);
      try {
        if (call.dispatches === undefined)
          throw new Refusal(
            `${call.tool} works with workers, and this agent can have none: do the work yourself.`,
          );
        return await tool.call(call, call.dispatches);
      } catch (error) {
        if (error instanceof Refusal) return { status: 'error', text: error.message };
        throw error;
      }
    },
  };
}
