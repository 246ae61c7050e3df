import type { ToolProvider } from '@hansard/provider';
import { combineTools } from '@hansard/provider/tools';
import { abortDispatchTool } from './abort-dispatch-tool.ts';
import { awaitDispatchTool } from './await-dispatch-tool.ts';
import { checkDispatchTool } from './check-dispatch-tool.ts';
import { dispatchAgentTool } from './dispatch-agent-tool.ts';

/**
 * The tools with which an agent runs workers: `dispatch_agent`, `check_dispatch`, `await_dispatch` and `abort_dispatch`.
 * A call that can't be carried out as it was made gets a result with `status: 'error'` that says what to change; what
 * the host throws is thrown on.
 */
export function createDispatchTools(): ToolProvider {
  return combineTools([dispatchAgentTool, checkDispatchTool, awaitDispatchTool, abortDispatchTool]);
}
