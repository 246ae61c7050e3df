import type { ToolProvider } from '@hansard/provider';
import { discussTool } from './discuss-tool.ts';
import { Refusal } from './refusal.ts';
import type { SessionTool } from './session-tool.ts';
import { taskTool } from './task-tool.ts';
import { tellTool } from './tell-tool.ts';

const tools: readonly SessionTool[] = [taskTool, discussTool, tellTool];

/**
 * The tools with which agents of a session work together: `task`, `discuss` and `tell`. A call that can't be carried
 * out as it was made gets a result with `status: 'error'` that says what to change; what the host throws is thrown on.
 */
export function createSessionTools(): ToolProvider {
  return {
    contract: 1,
    listTools: () => tools.map(({ definition }) => definition),
    async callTool({ tool: name, input, agents, signal }) {
      const tool = tools.find(({ definition }) => definition.name === name);
      if (tool === undefined) throw new TypeError(`tools-session has no tool ${name}.`);
      try {
        if (agents === undefined)
          throw new Refusal(
            `${name} works with the agents of a session, and this call does not come from one.`,
          );
        return await tool.call(input, agents, signal);
      } catch (error) {
        if (error instanceof Refusal) return { status: 'error', text: error.message };
        throw error;
      }
    },
  };
}
