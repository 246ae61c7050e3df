import type { ToolProvider } from '@hansard/provider';
import { combineTools } from '@hansard/provider/tools';
import { discussTool } from './discuss-tool.ts';
import { taskTool } from './task-tool.ts';
import { tellTool } from './tell-tool.ts';

/**
 * The tools with which agents of a session work together: `task`, `discuss` and `tell`. A call that can't be carried
 * out as it was made gets a result with `status: 'error'` that says what to change; what the host throws is thrown on.
 */
export function createSessionTools(): ToolProvider {
  return combineTools([taskTool, discussTool, tellTool]);
}
